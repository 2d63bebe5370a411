//! A Redis of the test's own: a real server on a free port of loopback, in a folder of its own, which ends with the test.
//!
//! The unit tests of the host take this file as well, so it stands on nothing but the standard library and `tempfile`.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// Pauses between two looks for a server that starts: more of them than any machine needs.
const LOOKS: usize = 20_000;

/// A server that runs.
pub struct Redis {
    server: Child,
    port: u16,
    _folder: TempDir,
}

impl Redis {
    /// A server that persists nothing. None: there is no `redis-server` on this machine, and the test says that it was
    /// skipped.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// As [`Self::start`], with further options.
    #[must_use]
    pub fn start_with(options: &[&str]) -> Option<Self> {
        if Command::new("redis-server")
            .arg("--version")
            .output()
            .is_err()
        {
            // Past the runner's capture: `cargo xtask test` counts these lines.
            let line = "\nskipped: redis-server is not installed; get it with `apt-get install redis-server`\n";
            std::io::stdout().write_all(line.as_bytes()).unwrap();
            return None;
        }
        // A port that was free may be taken a moment later.
        let mut attempts = std::iter::repeat_with(|| Self::on_port(free_port(), options));
        Some(attempts.by_ref().take(5).flatten().next().unwrap())
    }

    /// The same server again, empty, after [`Self::kill`].
    pub fn start_again(&mut self) {
        *self = Self::on_port(self.port, &[]).unwrap();
    }

    fn on_port(port: u16, options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let server = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--dir"])
            .arg(folder.path())
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut redis = Self {
            server,
            port,
            _folder: folder,
        };
        for _ in 0..LOOKS {
            if redis.server.try_wait().unwrap().is_some() {
                return None;
            }
            if redis.is_up() {
                return Some(redis);
            }
            thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// That very process answers, be it with a refusal for want of a password.
    fn is_up(&self) -> bool {
        let Ok(Reply::Text(answer)) = send(self.port, &["INFO", "server"]) else {
            return false;
        };
        answer.starts_with("NOAUTH")
            || answer.contains(&format!("process_id:{}\r\n", self.server.id()))
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// For `--context`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// As `kill -9` does it.
    pub fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// It stays, takes connections, and answers nobody.
    pub fn freeze(&self) {
        self.signal("STOP");
    }

    /// It answers again.
    pub fn thaw(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let id = self.server.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Answers one command.
    #[must_use]
    pub fn command(&self, words: &[&str]) -> Reply {
        send(self.port, words).unwrap()
    }

    /// A command that does what it says.
    #[track_caller]
    pub fn does(&self, words: &[&str]) {
        assert_eq!(self.command(words), Reply::Text("OK".to_owned()));
    }

    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let Reply::List(keys) = self.command(&["KEYS", "*"]) else {
            panic!("KEYS answers with a list");
        };
        let text = |reply: &Reply| reply.text().to_owned();
        let mut keys: Vec<_> = keys.iter().map(text).collect();
        keys.sort();
        keys
    }

    /// Lets that much of every key's time to live pass.
    pub fn advance(&self, time: Duration) {
        let time = i64::try_from(time.as_millis()).unwrap();
        for key in self.keys() {
            if let Reply::Number(left @ 0..) = self.command(&["PTTL", &key]) {
                // A time that is past expires the key at once.
                let _ = self.command(&["PEXPIRE", &key, &(left - time).to_string()]);
            }
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// What a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A text, or an error.
    Text(String),
    Number(i64),
    List(Vec<Reply>),
    Nothing,
}

impl Reply {
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }
}

/// A port that nobody listens on.
#[must_use]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// One command on a connection of its own, not by the product's client.
fn send(port: u16, words: &[&str]) -> std::io::Result<Reply> {
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    let mut command = format!("*{}\r\n", words.len());
    for word in words {
        command += &format!("${}\r\n{word}\r\n", word.len());
    }
    server.write_all(command.as_bytes())?;
    read(&mut BufReader::new(server))
}

fn read(from: &mut BufReader<TcpStream>) -> std::io::Result<Reply> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let rest = line
        .get(1..)
        .unwrap_or_default()
        .trim_end_matches("\r\n")
        .to_owned();
    let number = rest.parse::<i64>();
    Ok(match (line.get(..1), number) {
        (Some("+" | "-"), _) => Reply::Text(rest),
        (Some(":"), Ok(number)) => Reply::Number(number),
        (Some("$" | "*"), Ok(-1)) => Reply::Nothing,
        (Some("$"), Ok(length)) => {
            let mut text = vec![0; usize::try_from(length).unwrap() + 2];
            from.read_exact(&mut text)?;
            text.truncate(text.len() - 2);
            Reply::Text(String::from_utf8_lossy(&text).into_owned())
        }
        (Some("*"), Ok(length)) => {
            Reply::List((0..length).map(|_| read(from)).collect::<Result<_, _>>()?)
        }
        _ => return Err(std::io::ErrorKind::InvalidData.into()),
    })
}
