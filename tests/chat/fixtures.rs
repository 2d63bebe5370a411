//! Answers as providers document them: each is understood, or told to be none, for the right reason.

use std::{collections::BTreeMap, fs};

use model_server::{Piece, Reply};
use wharf_tests::root;

use super::ask_for;

const PLAN: &str = r#"{"steps":["look","leave"]}"#;

/// What a file says.
enum Says {
    /// The plan, with 31 tokens in and 11 out.
    Plan,
    /// Two calls.
    Calls,
    /// A failure of this code, which another attempt may help or not.
    Fault(&'static str, bool),
}

fn expected() -> BTreeMap<&'static str, Says> {
    BTreeMap::from([
        ("openai.json", Says::Plan),
        ("openai.sse", Says::Plan),
        ("openai-tools.sse", Says::Calls),
        ("openai-refusal.json", Says::Fault("model-refusal", false)),
        ("azure.sse", Says::Plan),
        (
            "azure-filtered.sse",
            Says::Fault("model-content-filter", false),
        ),
        ("vllm.sse", Says::Plan),
        ("llama-cpp.sse", Says::Plan),
        ("ollama.sse", Says::Plan),
        ("ollama-tools.sse", Says::Calls),
        ("openrouter.sse", Says::Plan),
        (
            "openrouter-error.sse",
            Says::Fault("model-rate-limited", true),
        ),
        ("groq.sse", Says::Plan),
        ("mistral.sse", Says::Plan),
        ("deepseek.sse", Says::Plan),
        ("gemini.sse", Says::Plan),
    ])
}

#[test]
fn what_providers_document_is_understood() {
    let folder = root().join("tests/fixtures/chat");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut expected = expected();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "README.md" {
            continue;
        }
        assert!(
            readme.contains(&format!("| `{name}` |")),
            "README.md does not say what {name} follows"
        );
        let says = expected.remove(name.as_str());
        let says = says.unwrap_or_else(|| panic!("nobody says what {name} is"));
        let bytes = fs::read(&path).unwrap();
        for size in [1, 100, bytes.len()] {
            check(&name, &bytes, size, &says);
        }
    }
    let missing: Vec<_> = expected.keys().collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn check(name: &str, bytes: &[u8], size: usize, says: &Says) {
    let kind = if name.ends_with(".sse") {
        "text/event-stream"
    } else {
        "application/json"
    };
    let reply = Reply::new(200)
        .header("content-type", kind)
        .pieces(vec![Piece::Bytes(bytes.to_vec())])
        .cut(size);
    let asked = ask_for(reply);
    match says {
        Says::Plan => {
            assert_eq!(asked.shown, PLAN, "{name}");
            let answer = asked.answer();
            assert_eq!(
                (answer.text.as_str(), answer.finish_reason.as_str()),
                (PLAN, "stop"),
                "{name}"
            );
            let usage = answer
                .usage
                .unwrap_or_else(|| panic!("{name} counts no tokens"));
            assert_eq!(
                (usage.prompt_tokens, usage.completion_tokens),
                (31, 11),
                "{name}"
            );
        }
        Says::Calls => {
            let answer = asked.answer();
            let calls = answer.tool_calls.iter();
            let calls: Vec<_> = calls
                .map(|it| (it.name.as_str(), it.arguments.as_str()))
                .collect();
            assert_eq!(calls, [("look", r#"{"at":7}"#), ("leave", "{}")], "{name}");
            assert!(
                answer
                    .tool_calls
                    .iter()
                    .all(|it| it.id.starts_with("call_")),
                "{name}"
            );
            assert_eq!(
                (answer.text.as_str(), answer.finish_reason.as_str()),
                ("", "tool_calls"),
                "{name}"
            );
        }
        Says::Fault(code, retryable) => {
            let fault = asked.fault();
            assert_eq!(
                (fault.code(), fault.retryable()),
                (*code, *retryable),
                "{name}"
            );
        }
    }
}
