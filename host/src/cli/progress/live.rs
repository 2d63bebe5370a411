//! The display on a terminal: one block of lines, redrawn in place.

use std::{
    fmt::Write,
    io::{IsTerminal as _, stderr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use jiff::Timestamp;
use wharf::{Progress, ProgressBody, TaskId, words::clock::Clock};

use super::{
    super::{Session, look::Look},
    frame::Frame,
    scene::Scene,
};

const REDRAW: Duration = Duration::from_millis(125);

/// A block of lines on a terminal. Lock order: indicatif's own, then the board's; so the bar is never called while the
/// board is held.
pub(in super::super) struct Live {
    bar: ProgressBar,
    board: Arc<Mutex<Board>>,
}

struct Board {
    task: String,
    scene: Option<Scene>,
    answered: usize,
    cancelling: bool,
    ended: bool,
    begun: Timestamp,
    clock: Arc<dyn Clock>,
}

impl Live {
    /// Begins, if standard error is a terminal that can be redrawn.
    pub(super) fn start(session: &Session, task: &TaskId, clock: Arc<dyn Clock>) -> Option<Self> {
        if session.environment.dumb || !stderr().is_terminal() {
            return None;
        }
        let board = Board {
            task: task.to_string(),
            scene: None,
            answered: 0,
            cancelling: false,
            ended: false,
            begun: clock.now(),
            clock,
        };
        let board = Arc::new(Mutex::new(board));
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(style(Arc::clone(&board), session.stderr));
        bar.enable_steady_tick(REDRAW);
        Some(Self { bar, board })
    }

    /// For writing lines above the block.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Something happened.
    pub(super) fn show(&self, progress: &Progress) {
        {
            let mut board = lock(&self.board);
            match &progress.body {
                ProgressBody::Record { view, .. } => {
                    board.scene = Some(Scene::from(&**view));
                    board.answered = 0;
                }
                ProgressBody::Delta { text } => board.answered += text.chars().count(),
                _ => return,
            }
        }
        self.bar.tick();
    }

    /// The run was asked to stop.
    pub(super) fn cancelling(&self) {
        lock(&self.board).cancelling = true;
        self.bar.tick();
    }

    /// Draws the last frame, which stays.
    pub(super) fn finish(&self) {
        lock(&self.board).ended = true;
        self.bar.finish();
    }
}

impl Board {
    fn frame(&self) -> Frame<'_> {
        Frame {
            task: &self.task,
            scene: self.scene.as_ref(),
            answered: self.answered,
            cancelling: self.cancelling,
            ended: self.ended,
            begun: self.begun,
            now: self.clock.now(),
        }
    }
}

fn style(board: Arc<Mutex<Board>>, look: Look) -> ProgressStyle {
    let frame = move |_: &ProgressState, out: &mut dyn Write| {
        // The receiver is a string.
        let _ = out.write_str(&lock(&board).frame().render(look));
    };
    ProgressStyle::with_template("{frame}")
        .expect("the template is one key")
        .with_key("frame", frame)
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
