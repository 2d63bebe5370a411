//! The program as a user calls it, but in surroundings of its own.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
    time::Duration,
};

use serde_json::Value;

use super::built;

/// Longer than anything takes on a busy machine; a command that hangs fails its test.
const PATIENCE: Duration = Duration::from_secs(180);

/// `wharf SUBCOMMAND`: none of our variables, a home of its own, nothing on standard input.
pub fn wharf(subcommand: &str) -> Wharf {
    wharf_at(built::program(), subcommand)
}

/// A command line that is still to be run.
pub struct Wharf(Command);

impl Wharf {
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.0.args(arguments);
        self
    }

    /// `--dir DIR`.
    #[must_use]
    pub fn dir(self, directory: impl AsRef<Path>) -> Self {
        self.arg("--dir").arg(directory.as_ref())
    }

    /// `--format json`.
    #[must_use]
    pub fn json(self) -> Self {
        self.args(["--format", "json"])
    }

    /// `--planner script:FILE`.
    #[must_use]
    pub fn script(self, file: impl AsRef<Path>) -> Self {
        self.arg("--planner")
            .arg(format!("script:{}", file.as_ref().display()))
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Ran {
        let shown = format!("{:?}", self.0.get_args().collect::<Vec<_>>());
        let output = assert_cmd::Command::from_std(self.0)
            .timeout(PATIENCE)
            .output()
            .unwrap();
        Ran {
            shown,
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// For whoever wants to start it and interfere.
    pub fn into_command(self) -> Command {
        self.0
    }
}

/// For a command line that was taken apart and put together again.
impl From<Command> for Wharf {
    fn from(command: Command) -> Self {
        Self(command)
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    shown: String,
    /// None: a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// It ended with this exit code.
    #[track_caller]
    #[must_use]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "wharf {}\n{}{}",
            self.shown,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output, which is exactly one JSON document and a line's end.
    #[track_caller]
    pub fn document(&self) -> Value {
        let shown = || format!("wharf {}\n{}{}", self.shown, self.stdout, self.stderr);
        let line = self.stdout.strip_suffix('\n');
        serde_json::from_str(line.unwrap_or_else(|| panic!("{}", shown())))
            .unwrap_or_else(|error| panic!("{error}: {}", shown()))
    }

    /// The command was refused: nothing on standard output, and one error of three lines with this code at the end of standard
    /// error. Returns what, why and fix.
    #[track_caller]
    pub fn refusal(&self, exit: i32, code: &str) -> [String; 3] {
        let shown = format!("wharf {}\n{}{}", self.shown, self.stdout, self.stderr);
        assert_eq!(self.code, Some(exit), "{shown}");
        assert_eq!(self.stdout, "", "{shown}");
        let lines: Vec<_> = self.stderr.lines().collect();
        let Some([what, why, fix]) = lines.last_chunk() else {
            panic!("{shown}")
        };
        let line = |line: &str, start: &str| {
            let rest = line.strip_prefix(start).filter(|rest| !rest.is_empty());
            rest.unwrap_or_else(|| panic!("{start}: {shown}"))
                .to_owned()
        };
        let errors = lines.iter().filter(|line| line.starts_with("error"));
        assert_eq!(errors.count(), 1, "{shown}");
        [
            line(what, &format!("error[{code}]: ")),
            line(why, "  why: "),
            line(fix, "  fix: "),
        ]
    }
}

/// The compile cache that the commands and the library share, so that a guest is compiled once. It is kept from run to run:
/// an entry is known by the digest of its component, and anything else is a miss.
pub fn compile_cache() -> PathBuf {
    surroundings().join("cache").join("wharf")
}

/// A home for all commands, in which the reference domain's plugin is compiled already.
fn surroundings() -> &'static Path {
    static SURROUNDINGS: LazyLock<PathBuf> = LazyLock::new(|| {
        let home = built::scratch().join("wharf-tests");
        for folder in ["cache", "tmp"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let compiled = in_surroundings(built::program(), &home)
            .args(["plugin", "inspect"])
            .arg(built::plugin("fulfillment"))
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{compiled:?}");
        home
    });
    &SURROUNDINGS
}

/// As [`wharf()`], for a program that stands elsewhere.
pub fn wharf_at(program: &Path, subcommand: &str) -> Wharf {
    let mut command = in_surroundings(program, surroundings());
    command.args(subcommand.split(' '));
    Wharf(command)
}

fn in_surroundings(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("TMPDIR", home.join("tmp"))
        .stdin(Stdio::null());
    command
}
