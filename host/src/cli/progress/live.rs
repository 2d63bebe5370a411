//! The display on a terminal: a block of lines, redrawn with each event and while time goes by.

use std::{
    io::{IsTerminal as _, stderr},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use jiff::Timestamp;
use wharf::{Progress, ProgressBody, TaskId, words::clock::Clock};

use super::{
    super::{Session, look::Look},
    block::Block,
    frame::Frame,
    scene::Scene,
};

const REDRAW: Duration = Duration::from_millis(125);

/// A display that is redrawn until it ends.
pub(in super::super) struct Live {
    board: Mutex<Board>,
    ended: Condvar,
}

struct Board {
    block: Block,
    task: String,
    scene: Option<Scene>,
    answered: usize,
    cancelling: bool,
    ended: bool,
    begun: Timestamp,
    clock: Arc<dyn Clock>,
    look: Look,
}

impl Live {
    /// Begins, if standard error is a terminal that can be redrawn.
    pub(super) fn start(
        session: &Session,
        task: &TaskId,
        clock: Arc<dyn Clock>,
    ) -> Option<Arc<Self>> {
        if session.environment.dumb || !stderr().is_terminal() {
            return None;
        }
        let board = Board {
            block: Block::default(),
            task: task.to_string(),
            scene: None,
            answered: 0,
            cancelling: false,
            ended: false,
            begun: clock.now(),
            clock,
            look: session.stderr,
        };
        let live = Arc::new(Self {
            board: Mutex::new(board),
            ended: Condvar::new(),
        });
        let ticking = Arc::clone(&live);
        let ticker = thread::Builder::new().name("wharf-display".into());
        // Without a thread it is redrawn with each event only.
        let _ = ticker.spawn(move || ticking.tick());
        Some(live)
    }

    /// Something happened.
    pub(super) fn show(&self, progress: &Progress) {
        let mut board = self.board();
        match &progress.body {
            ProgressBody::Record { view, .. } => {
                board.scene = Some(Scene::from(&**view));
                board.answered = 0;
                board.draw();
            }
            // There may be many; the next tick shows them.
            ProgressBody::Delta { text } => board.answered += text.chars().count(),
            _ => (),
        }
    }

    /// The run was asked to stop.
    pub(super) fn cancelling(&self) {
        let mut board = self.board();
        board.cancelling = true;
        board.draw();
    }

    /// Writes lines that stay, above the block.
    pub(in super::super) fn write_above(&self, text: &str) {
        let mut board = self.board();
        board.block.replace(text);
        if !board.ended {
            board.draw();
        }
    }

    /// Draws the last frame, which stays.
    pub(super) fn finish(&self) {
        let mut board = self.end();
        board.draw();
    }

    /// Leaves nothing behind.
    pub(super) fn give_way(&self) {
        let mut board = self.end();
        board.block.replace("");
    }

    fn end(&self) -> MutexGuard<'_, Board> {
        let mut board = self.board();
        board.ended = true;
        self.ended.notify_all();
        board
    }

    fn tick(&self) {
        let mut board = self.board();
        while !board.ended {
            board.draw();
            let woken = self.ended.wait_timeout(board, REDRAW);
            board = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board {
    fn draw(&mut self) {
        let frame = Frame {
            task: &self.task,
            scene: self.scene.as_ref(),
            answered: self.answered,
            cancelling: self.cancelling,
            ended: self.ended,
            begun: self.begun,
            now: self.clock.now(),
        };
        let lines = frame.lines(self.look);
        self.block.draw(&lines);
    }
}
