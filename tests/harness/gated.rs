//! Holds a run of the real program at each of its durable boundaries, with nothing but the locks that SQLite grants to any process.
//!
//! A run appends records to the journal, then does what they intend, then appends the next ones. What it does needs the write lock
//! of the business database: for the effect itself, or, where somebody else has committed there, to make durable what it read
//! before it appends. So the write lock of the one or the other database, held by the test, stops it at a known place for as long
//! as its patience lasts (four seconds), and it never knows. Its lines on standard error say when it is about to append.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;

use super::{Wharf, Workspace, patience, patience::PATIENCE};

/// How long a run that was let go may take before it is taken for one that waits elsewhere.
const MOMENT: Duration = Duration::from_millis(700);

/// A run that waits where the test wants it.
pub struct Gated {
    child: Option<Child>,
    lines: Receiver<String>,
    journal: Connection,
    business: Connection,
    side: Side,
    ending: bool,
    said: Vec<String>,
}

/// A run that has ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    /// None: a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    /// The lines on standard error.
    pub said: Vec<String>,
}

/// On which side of an append a run waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What was intended last is done and committed, and the journal does not know it.
    BeforeAppend,
    /// The journal holds the intent; nothing of it is committed.
    AfterAppend,
}

/// Where a run waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    pub side: Side,
    /// The stage whose outcome the journal lacks; none: it lacks none.
    pub stage: Option<String>,
    /// The last record in the journal.
    pub record: u64,
}

impl Gated {
    /// Starts a run that has a task to go on with. It stops before its first append.
    pub fn start(run: Wharf, workspace: &Workspace) -> Self {
        let journal = workspace.open_for_tampering("memory.sqlite");
        let business = workspace.open_for_tampering("business.sqlite");
        for connection in [&journal, &business] {
            connection.busy_timeout(PATIENCE).unwrap();
        }
        lock(&journal);
        let mut command = run.into_command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines() {
                // The test may have stopped listening.
                let _ = sender.send(line.unwrap());
            }
        });
        let mut gated = Self {
            child: Some(child),
            lines,
            journal,
            business,
            side: Side::BeforeAppend,
            ending: false,
            said: Vec::new(),
        };
        gated.wait_for_line();
        gated
    }

    /// Where it waits.
    pub fn boundary(&self) -> Boundary {
        let (record, kind, body): (i64, String, String) = self
            .journal
            .query_row(
                "SELECT sequence, kind, body FROM journal ORDER BY sequence DESC LIMIT 1",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        Boundary {
            side: self.side,
            stage: (kind == "intended").then(|| {
                body["intended"]["graph"]["stage"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            }),
            record: record.cast_unsigned(),
        }
    }

    /// Lets it go on to the next boundary; or to its end, if there is no other.
    pub fn go_on(&mut self) -> Option<Ended> {
        match self.side {
            Side::BeforeAppend => {
                self.let_it_append();
                self.side = Side::AfterAppend;
                None
            }
            Side::AfterAppend if self.ending => {
                unlock(&self.business);
                Some(self.end())
            }
            Side::AfterAppend => {
                lock(&self.journal);
                unlock(&self.business);
                self.wait_for_line();
                self.side = Side::BeforeAppend;
                None
            }
        }
    }

    /// Kills it where it waits.
    pub fn kill(mut self) {
        self.kill_child();
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends it a signal, such as `INT`.
    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until it says something that begins so.
    pub fn hear(&mut self, beginning: &str) {
        self.listen(|line| line.starts_with(beginning));
    }

    /// Waits for its end, letting nothing go.
    pub fn wait(mut self) -> Ended {
        self.end()
    }

    /// Lets go of both databases and waits for its end.
    pub fn release(mut self) -> Ended {
        for connection in [&self.journal, &self.business] {
            unlock(connection);
        }
        self.end()
    }

    /// Nothing but the append: what it does next finds the business database locked. Between, somebody else commits there, so that
    /// it needs the lock also where it would have had nothing to write.
    fn let_it_append(&self) {
        let before = self.last_record();
        patience::until("the run appends to the journal", || {
            lock(&self.business);
            self.business
                .execute_batch("UPDATE wharf_barrier SET commits = commits + 1; COMMIT;")
                .unwrap();
            lock(&self.business);
            let version = version(&self.business);
            unlock(&self.journal);
            if patience::within(MOMENT, || self.last_record() > before) {
                return true;
            }
            // That commit came before the run had looked for such: it waits for the business database already.
            lock(&self.journal);
            if self.last_record() > before {
                unlock(&self.journal);
                return true;
            }
            unlock(&self.business);
            patience::within(MOMENT, || self::version(&self.business) != version);
            false
        });
    }

    /// The line that tells of the last record before an append.
    fn wait_for_line(&mut self) {
        let line = self.listen(|line| {
            line.ends_with(": running")
                || line.starts_with("plan: asking")
                || line.starts_with("done")
                || line == "publish"
        });
        self.ending = line.starts_with("done");
    }

    fn listen(&mut self, expected: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!(
                    "the run does not say what it should; it said {:#?}",
                    self.said
                )
            };
            self.said.push(line.clone());
            if expected(&line) {
                return line;
            }
        }
    }

    fn last_record(&self) -> i64 {
        self.journal
            .query_row("SELECT max(sequence) FROM journal", [], |row| row.get(0))
            .optional()
            .unwrap()
            .unwrap_or(0)
    }

    fn end(&mut self) -> Ended {
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        self.said.extend(self.lines.iter());
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            said: std::mem::take(&mut self.said),
        }
    }

    fn kill_child(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for Gated {
    fn drop(&mut self) {
        self.kill_child();
    }
}

fn lock(connection: &Connection) {
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
}

fn unlock(connection: &Connection) {
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").unwrap();
    }
}

/// Changes when another connection has committed.
fn version(connection: &Connection) -> i64 {
    connection
        .query_row("PRAGMA data_version", [], |row| row.get(0))
        .unwrap()
}
