//! A model whose answers stand in a file: for tests and replays.
//!
//! Owns the file's form: JSON Lines, each `{"text", "finishReason"}`, or, for agents, with `"toolCalls": [{"id", "name",
//! "arguments"}]` beside or in place of the text, or `{"error": {"code", "message", "retryable"}}`; no other field, no duplicate key. Line n is answer n, so a blank line is refused rather than skipped; only the end of the
//! last line may be left out. Which answer is next, the journal says; nothing is remembered here.
//! Called by the core through [`Model`] and [`AgentModel`].

use std::path::{Path, PathBuf};

use futures::future::{BoxFuture, FutureExt as _};
use serde::Deserialize;
use serde_json::Value;

use super::{durable_file, file_error::FileError};
use crate::{
    core::ports::{
        agent_model::{AgentModel, Conversation, ModelCall, Reply},
        model::{Answer, Model, Prompt},
    },
    words::{
        error::{Error, Facts, Fault, Kind},
        json::{self, JsonBounds},
    },
};

/// The most bytes a script may have: 16 MiB.
pub const MAX_SCRIPT_BYTES: usize = 16 * 1024 * 1024;

const LINE_BOUNDS: JsonBounds = JsonBounds {
    bytes: MAX_SCRIPT_BYTES,
    depth: 64,
};

/// Answers read from a file.
#[derive(Debug, Clone)]
pub struct ScriptPlanner {
    path: PathBuf,
    replies: Vec<Reply>,
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
        let replies = lines.into_iter().enumerate().map(|(index, line)| {
            reply(line).map_err(|why| ScriptError::Line {
                path: path.into(),
                line: index + 1,
                why,
            })
        });
        Ok(Self {
            path: path.into(),
            replies: replies.collect::<Result<_, _>>()?,
        })
    }

    fn next(&self, answers: usize) -> Result<&Reply, ScriptError> {
        self.replies
            .get(answers)
            .ok_or_else(|| ScriptError::Exhausted {
                path: self.path.clone(),
                lines: self.replies.len(),
                asked: answers.saturating_add(1),
            })
    }

    fn told(&self, answers: usize, deltas: &(dyn Fn(&str) + Sync)) -> Result<Reply, Error> {
        let reply = self.next(answers)?;
        if let Reply::Said { text, .. } = reply {
            deltas(text);
        }
        Ok(reply.clone())
    }
}

impl Model for ScriptPlanner {
    fn check(&self, prompt: &Prompt<'_>) -> Result<(), Error> {
        self.next(prompt.answers)?;
        Ok(())
    }

    fn sample<'a>(
        &'a self,
        prompt: &'a Prompt<'a>,
        deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move { self.told(prompt.answers, deltas).map(Answer::from) }.boxed()
    }
}

impl AgentModel for ScriptPlanner {
    fn check(&self, conversation: &Conversation<'_>) -> Result<(), Error> {
        self.next(conversation.answers)?;
        Ok(())
    }

    fn answer<'a>(
        &'a self,
        conversation: &'a Conversation<'a>,
        deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        async move { self.told(conversation.answers, deltas) }.boxed()
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
struct SaidLine {
    text: Option<String>,
    #[serde(default)]
    tool_calls: Vec<CallLine>,
    finish_reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    id: String,
    name: String,
    arguments: Value,
}

impl From<CallLine> for ModelCall {
    /// Arguments may stand there as the JSON that they are, or as its text, right or wrong.
    fn from(call: CallLine) -> Self {
        Self {
            id: call.id,
            name: call.name,
            arguments: match call.arguments {
                Value::String(text) => text,
                arguments => arguments.to_string(),
            },
        }
    }
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

fn reply(line: &[u8]) -> Result<Reply, String> {
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    if text.trim().is_empty() {
        return Err("it is blank".into());
    }
    let value = json::parse_strict(text, LINE_BOUNDS).map_err(|error| error.to_string())?;
    let is_error = matches!(&value, Value::Object(map) if map.contains_key("error"));
    if is_error {
        let ErrorLine { error } =
            serde_json::from_value(value).map_err(|error| error.to_string())?;
        return Ok(Reply::Failed {
            code: error.code,
            message: error.message,
            retryable: error.retryable,
            retry_after_millis: None,
        });
    }
    let line: SaidLine = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if line.text.is_none() && line.tool_calls.is_empty() {
        return Err("it has neither a `text` nor `toolCalls`".into());
    }
    Ok(Reply::Said {
        text: line.text.unwrap_or_default(),
        calls: line.tool_calls.into_iter().map(ModelCall::from).collect(),
        finish_reason: line.finish_reason,
        usage: None,
    })
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
        let checked = Model::check(planner, &prompt);
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
    fn a_line_may_call_tools() {
        let script = script(
            br#"{"toolCalls":[{"id":"a","name":"n","arguments":{"x":1}},{"id":"b","name":"n","arguments":"{broken"}],"finishReason":"tool_calls"}"#,
        )
        .unwrap();
        let conversation = Conversation {
            messages: &[],
            tools: &[],
            answers: 0,
            failures: 0,
        };
        let reply = AgentModel::answer(&script, &conversation, &|_| ())
            .now_or_never()
            .unwrap()
            .unwrap();
        let Reply::Said { text, calls, .. } = reply else {
            panic!("{reply:?}");
        };
        assert_eq!(text, "");
        assert_eq!(calls[0].arguments, r#"{"x":1}"#);
        assert_eq!(calls[1].arguments, "{broken");
        // For a planner it is no plan.
        let (answer, _) = asked(&script, 0);
        assert!(
            matches!(answer.unwrap(), Answer::Text { finish_reason, .. } if finish_reason == "tool_calls")
        );
    }

    #[test]
    fn too_few_lines_are_told_before_a_call_is_made() {
        for (lines, answers) in [(GOOD, 3), (GOOD, usize::MAX), ("", 0)] {
            let planner = script(lines.as_bytes()).unwrap();
            let (request, descriptor) = (request("goal"), descriptor());
            let error =
                Model::check(&planner, &prompt(&request, &descriptor, answers)).unwrap_err();
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
            r#"{"toolCalls":[],"finishReason":"tool_calls"}"#,
            r#"{"toolCalls":[{"id":"a","name":"n"}],"finishReason":"tool_calls"}"#,
            r#"{"toolCalls":[{"id":"a","name":"n","arguments":{},"more":1}],"finishReason":"tool_calls"}"#,
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
