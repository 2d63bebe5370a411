//! A model whose answers stand in a file: for tests and replays.
//!
//! Owns the file's form: JSON Lines, each `{"text", "finishReason"}` or `{"error": {"code", "message", "retryable"}}`, no
//! other field, no duplicate key. Line n is answer n, so a blank line is refused rather than skipped; only the end of the
//! last line may be left out. Which answer is next, the journal says; nothing is remembered here.
//! Called by the core through [`Model`].

use std::path::{Path, PathBuf};

use futures::future::{BoxFuture, FutureExt as _};
use serde::Deserialize;
use serde_json::Value;

use super::{durable_file, file_error::FileError};
use crate::{
    core::ports::model::{Answer, Model, Prompt},
    words::{
        error::{Error, Facts, Fault, Kind},
        json::{self, JsonBounds},
    },
};

/// The most bytes a script may have: 16 MiB.
pub const MAX_SCRIPT_BYTES: usize = 16 * 1024 * 1024;

const LINE_BOUNDS: JsonBounds = JsonBounds {
    bytes: MAX_SCRIPT_BYTES,
    depth: 4,
};

/// Answers read from a file.
#[derive(Debug, Clone)]
pub struct ScriptPlanner {
    path: PathBuf,
    answers: Vec<Answer>,
}

impl ScriptPlanner {
    /// Reads the whole script. An empty file is a script without answers.
    ///
    /// # Errors
    /// [`ScriptError`] if the file cannot be read, or names the first line that is not of the documented form.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let unreadable = |source| ScriptError::Unreadable {
            path: path.into(),
            source,
        };
        let bytes = durable_file::read(path, MAX_SCRIPT_BYTES)
            .map_err(|error| unreadable(Some(error)))?
            .ok_or_else(|| unreadable(None))?;
        let mut lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let answers = lines.into_iter().enumerate().map(|(index, line)| {
            answer(line).map_err(|why| ScriptError::Line {
                path: path.into(),
                line: index + 1,
                why,
            })
        });
        Ok(Self {
            path: path.into(),
            answers: answers.collect::<Result<_, _>>()?,
        })
    }

    fn next(&self, prompt: &Prompt<'_>) -> Result<&Answer, ScriptError> {
        self.answers
            .get(prompt.answers)
            .ok_or_else(|| ScriptError::Exhausted {
                path: self.path.clone(),
                lines: self.answers.len(),
                asked: prompt.answers.saturating_add(1),
            })
    }
}

impl Model for ScriptPlanner {
    fn check(&self, prompt: &Prompt<'_>) -> Result<(), Error> {
        self.next(prompt)?;
        Ok(())
    }

    fn sample<'a>(
        &'a self,
        prompt: &'a Prompt<'a>,
        deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move {
            let answer = self.next(prompt)?.clone();
            if let Answer::Text { text, .. } = &answer {
                deltas(text);
            }
            Ok(answer)
        }
        .boxed()
    }
}

/// Why a script gives no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file is missing or cannot be read.
    #[error("the script {} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why; none: it does not exist.
        source: Option<FileError>,
    },
    /// A line does not have the documented form.
    #[error("line {line} of the script {} is not an answer", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// It has fewer lines than answers are needed. Asked before a call is reserved; a longer file can go on.
    #[error("the script {} has no answer number {asked}", path.display())]
    Exhausted {
        /// The file.
        path: PathBuf,
        /// How many answers it has.
        lines: usize,
        /// The number of the answer that is needed, from 1.
        asked: usize,
    },
}

impl Fault for ScriptError {
    fn facts(&self) -> Facts {
        match self {
            Self::Unreadable { .. } => Facts::new(
                "script-unreadable",
                Kind::InvalidInput,
                "check the path of the script and its permissions",
            ),
            Self::Line { .. } => Facts::new(
                "script-line",
                Kind::InvalidInput,
                "write one answer per line, as documented, without blank lines",
            ),
            Self::Exhausted { .. } => Facts::new(
                "script-exhausted",
                Kind::Limit,
                "resume with a longer script: the answers so far stay",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Unreadable { source, .. } => match source {
                None => Some("there is no such file".into()),
                Some(source) => Some(source.cause()),
            },
            Self::Line { why, .. } => Some(why.clone()),
            Self::Exhausted { lines, .. } => Some(format!("it has {lines}")),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TextLine {
    text: String,
    finish_reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorLine {
    error: ScriptedError,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedError {
    code: String,
    message: String,
    retryable: bool,
}

fn answer(line: &[u8]) -> Result<Answer, String> {
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    if text.trim().is_empty() {
        return Err("it is blank".into());
    }
    let value = json::parse_strict(text, LINE_BOUNDS).map_err(|error| error.to_string())?;
    let is_error = matches!(&value, Value::Object(map) if map.contains_key("error"));
    let read = if is_error {
        serde_json::from_value(value).map(|ErrorLine { error }| Answer::Failed {
            code: error.code,
            message: error.message,
            retryable: error.retryable,
            retry_after_millis: None,
        })
    } else {
        serde_json::from_value(value).map(|line: TextLine| Answer::Text {
            text: line.text,
            finish_reason: line.finish_reason,
            usage: None,
        })
    };
    read.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::{
        super::fixtures::{assert_error, request},
        *,
    };
    use crate::{
        core::{contract::Descriptor, request::Request},
        words::json::JsonText,
    };

    const GOOD: &str = concat!(
        r#"{"text": "{\"goal\":\"\\n\"}", "finishReason": "stop"}"#,
        "\n",
        r#"{"error": {"code": "overloaded", "message": "later", "retryable": true}}"#,
        "\r\n",
        r#"{"finishReason":"length","text":""}"#,
    );

    fn script(text: &[u8]) -> Result<ScriptPlanner, ScriptError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, text).unwrap();
        ScriptPlanner::read(&path)
    }

    fn asked(planner: &ScriptPlanner, answers: usize) -> (Result<Answer, Error>, Vec<String>) {
        let (request, descriptor) = (request("goal"), descriptor());
        let prompt = prompt(&request, &descriptor, answers);
        let heard = Mutex::new(Vec::new());
        let checked = planner.check(&prompt);
        let deltas = |delta: &str| heard.lock().unwrap().push(delta.to_owned());
        let answer = planner.sample(&prompt, &deltas).now_or_never().unwrap();
        assert_eq!(checked.is_ok(), answer.is_ok());
        (answer, heard.into_inner().unwrap())
    }

    #[test]
    fn the_journal_decides_which_line_is_next() {
        for planner in [
            script(GOOD.as_bytes()),
            script(format!("{GOOD}\n").as_bytes()),
        ] {
            let planner = planner.unwrap();
            let text = |text: &str, finish_reason: &str| Answer::Text {
                text: text.to_owned(),
                finish_reason: finish_reason.to_owned(),
                usage: None,
            };
            // Asked twice, as after a crash that lost the answer.
            for _ in 0..2 {
                let (answer, heard) = asked(&planner, 0);
                assert_eq!(answer.unwrap(), text(r#"{"goal":"\n"}"#, "stop"));
                assert_eq!(heard, [r#"{"goal":"\n"}"#]);
            }
            let (answer, heard) = asked(&planner, 1);
            assert_eq!(
                answer.unwrap(),
                Answer::Failed {
                    code: "overloaded".into(),
                    message: "later".into(),
                    retryable: true,
                    retry_after_millis: None,
                }
            );
            assert!(heard.is_empty());
            assert_eq!(asked(&planner, 2).0.unwrap(), text("", "length"));
        }
    }

    #[test]
    fn too_few_lines_are_told_before_a_call_is_made() {
        for (lines, answers) in [(GOOD, 3), (GOOD, usize::MAX), ("", 0)] {
            let planner = script(lines.as_bytes()).unwrap();
            let (request, descriptor) = (request("goal"), descriptor());
            let error = planner
                .check(&prompt(&request, &descriptor, answers))
                .unwrap_err();
            assert_error(error, "script-exhausted", Kind::Limit);
            assert!(asked(&planner, answers).0.is_err());
        }
    }

    #[test]
    fn a_bad_line_is_refused_by_its_number_before_anything_runs() {
        let good = r#"{"text":"x","finishReason":"stop"}"#;
        for bad in [
            "",
            "  ",
            "plain text",
            "[]",
            "null",
            "{}",
            r#"{"text":"x"}"#,
            r#"{"finishReason":"stop"}"#,
            r#"{"text":null,"finishReason":"stop"}"#,
            r#"{"text":{},"finishReason":"stop"}"#,
            r#"{"text":"x","finish_reason":"stop"}"#,
            r#"{"text":"x","finishReason":"stop","usage":{}}"#,
            r#"{"text":"x","text":"y","finishReason":"stop"}"#,
            r#"{"text":"x","finishReason":"stop"} {}"#,
            r#"{"error":"x"}"#,
            r#"{"error":{"code":"c","message":"m"}}"#,
            r#"{"error":{"code":"c","message":"m","retryable":"no"}}"#,
            r#"{"error":{"code":"c","message":"m","retryable":true,"more":1}}"#,
            r#"{"error":{"code":"c","message":"m","retryable":true},"text":"x"}"#,
            "\u{feff}{\"text\":\"x\",\"finishReason\":\"stop\"}",
        ] {
            let error = script(format!("{good}\n{bad}\n{good}\n").as_bytes()).unwrap_err();
            assert!(matches!(error, ScriptError::Line { line: 2, .. }), "{bad}");
            assert_error(error, "script-line", Kind::InvalidInput);
        }
        let error = script(b"\xff").unwrap_err();
        assert!(matches!(error, ScriptError::Line { line: 1, .. }));
    }

    #[test]
    fn a_script_that_cannot_be_read_is_bad_input() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, b"").unwrap();
        for path in [
            folder.path(),
            &folder.path().join("gone"),
            &file.join("below"),
        ] {
            let error = ScriptPlanner::read(path).unwrap_err();
            assert_error(error, "script-unreadable", Kind::InvalidInput);
        }
    }

    fn prompt<'a>(request: &'a Request, descriptor: &'a Descriptor, answers: usize) -> Prompt<'a> {
        Prompt {
            request,
            descriptor,
            working_set: "{}",
            answers,
            failures: 0,
        }
    }

    fn descriptor() -> Descriptor {
        Descriptor {
            name: "p".into(),
            version: "1".into(),
            instructions: String::new(),
            input_schema: JsonText::of(&serde_json::json!({})),
            tools: Vec::new(),
            migrations: Vec::new(),
            max_steps: 0,
        }
    }
}
