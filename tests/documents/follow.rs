//! Does what a document tells its reader, block by block.
//!
//! | fence | what is done |
//! |---|---|
//! | `sh` | run in the reader's folder; it ends with 0, or with the code of `exit=CODE` |
//! | `text output` | compared with the standard output of the block before it |
//! | any with `file=PATH` | written to that file |
//! | `sql db=PATH` | run on that database, which must answer with rows |
//! | `text` | nothing: it is there to be looked at |
//! | `rust`, `toml` | nothing here: the examples' documentation tests compile them |

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};
use wharf_tests::{built, command::compile_cache, root};

use super::markdown::{self, Block};

/// Blocks that are not run here, and the file in which the same line stands.
const ELSEWHERE: [(&str, &str); 6] = [
    (
        "cargo xtask tau2 --data ../shared/data/tau2-retail --kill",
        ".ci/run",
    ),
    ("cargo xtask demo", ".ci/run"),
    ("cargo xtask demo-http", ".ci/run"),
    ("cargo xtask bench", ".ci/run"),
    ("cargo xtask test", ".ci/run"),
    (
        "rustup target add wasm32-wasip2",
        "xtask/src/prerequisites.rs",
    ),
];

/// For compiling a plugin on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Follows a document in a folder that holds the repository as `wharf`.
pub(super) fn follow(document: &str) {
    follow_with(document, &[]);
}

/// As [`follow`], in an environment that has these variables as well.
pub(super) fn follow_with(document: &str, variables: &[(String, String)]) {
    let reader = Reader::new(variables);
    let text = fs::read_to_string(root().join(document)).unwrap();
    let mut output = None;
    for block in markdown::blocks(&text) {
        let shown = format!("{document}, line {}", block.line);
        match block.language.as_str() {
            _ if block.value("file").is_some() => reader.write(&block),
            "sh" => match ELSEWHERE
                .iter()
                .find(|(line, _)| *line == block.text.trim_end())
            {
                Some((line, place)) => {
                    let place = fs::read_to_string(root().join(place)).unwrap();
                    assert!(place.contains(line), "{shown}");
                }
                None => output = Some(reader.run(&block, &shown)),
            },
            "text" if block.is("output") => {
                let output = output.as_deref().unwrap();
                assert_eq!(comparable(output), comparable(&block.text), "{shown}");
            }
            "sql" => reader.query(&block, &shown),
            "text" | "rust" | "toml" => {}
            other => panic!("{shown}: nobody tries a block of {other:?}"),
        }
    }
}

/// Somebody who tries things out, in a folder of their own.
struct Reader {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Reader {
    fn new(variables: &[(String, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        symlink(root(), folder.path().join("wharf")).unwrap();
        Self {
            folder,
            variables: variables.to_vec(),
        }
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, block: &Block) {
        let path = self.home().join(block.value("file").unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &block.text).unwrap();
        if path.ends_with("Cargo.toml") {
            // The versions that are there already: a test does not ask a registry.
            fs::copy(
                root().join("plugins/Cargo.lock"),
                path.with_extension("lock"),
            )
            .unwrap();
        }
    }

    fn run(&self, block: &Block, shown: &str) -> String {
        let programs = built::program().parent().unwrap();
        let path = format!("{}:{}", programs.display(), search_path());
        let output = assert_cmd::Command::new("sh")
            .args(["-euc", &block.text])
            .current_dir(self.home())
            .env("PATH", path)
            .env("XDG_CACHE_HOME", compile_cache().parent().unwrap())
            .env("LC_ALL", "C.UTF-8")
            .env("CARGO_NET_OFFLINE", "true")
            // What the plugins depend on is compiled already.
            .env("CARGO_BUILD_BUILD_DIR", root().join("target/guests"))
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("WHARF_LOG")
            .envs(self.variables.iter().cloned())
            .timeout(PATIENCE)
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let expected = block.value("exit").unwrap_or("0").parse().unwrap();
        assert_eq!(
            output.status.code(),
            Some(expected),
            "{shown}\n{}\n{stdout}{stderr}",
            block.text
        );
        let home = self.home().canonicalize().unwrap();
        stdout
            .replace(home.to_str().unwrap(), "/home/you")
            .replace(self.home().to_str().unwrap(), "/home/you")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "read as an outside tool reads it"
    )]
    fn query(&self, block: &Block, shown: &str) {
        let path = self.home().join(block.value("db").unwrap());
        let database =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        let mut statement = database.prepare(&block.text).unwrap();
        assert!(statement.exists([]).unwrap(), "{shown}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the commands need the programs of this machine"
)]
fn search_path() -> String {
    std::env::var("PATH").unwrap()
}

/// The text without what differs from build to build: digests, and their beginnings.
fn comparable(text: &str) -> String {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_hex) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_hex(c)).unwrap_or(from.len());
        result += before;
        result += if end >= 12 { "DIGEST" } else { &from[..end] };
        rest = &from[end..];
    }
    result + rest
}
