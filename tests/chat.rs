//! The client of chat completions, against a real server that does everything that a server may do.

mod answers;
mod bounds;
mod connections;
mod fixtures;
mod secrets;
mod statuses;
mod terms;

use std::{future::Future, path::Path, sync::Mutex, time::Duration};

use model_server::{Reply, Server};
use serde_json::{Value, json};
use wharf::technologies::chat::{
    AnswerSchema, ChatAnswer, ChatClient, ChatFault, ChatMessage, ChatRequest, ChatSettings,
    ChatSettingsError, Surroundings,
};

/// What the environment holds in these tests.
const VARIABLES: [(&str, &str); 5] = [
    ("KEY", KEY),
    ("TEAM", "red-Qx81Lp-team"),
    ("PROXY", "Basic dXNlcjpaeTc3S3c5"),
    ("EMPTY", ""),
    ("BAD", "two\nlines"),
];

/// Of no shape that is known to be a credential's.
const KEY: &str = "Vq3/Xr8+Tz5.Wn2_Bk7-Hm4";

/// So long a test waits for what has to happen.
const PATIENCE: Duration = Duration::from_secs(30);

fn start(replies: Vec<Reply>) -> Server {
    Server::start(replies).unwrap()
}

fn settings(server: &Server) -> ChatSettings {
    let mut settings = ChatSettings::new(server.base_url(), "test-model");
    settings.api_key_env = Some("KEY".into());
    settings
}

fn held(name: &str) -> Option<String> {
    let found = VARIABLES.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| (*value).to_owned())
}

fn made(settings: ChatSettings) -> Result<ChatClient, ChatSettingsError> {
    ChatClient::new(settings, &Surroundings::new(&held, Path::new(".")))
}

fn client(settings: ChatSettings) -> ChatClient {
    made(settings).unwrap()
}

fn request() -> ChatRequest {
    ChatRequest {
        messages: vec![
            ChatMessage::System("Answer in JSON.".into()),
            ChatMessage::User("What now?".into()),
        ],
        schema: Some(AnswerSchema {
            name: "answer".into(),
            schema: json!({ "type": "object", "additionalProperties": false }),
            strict: true,
        }),
        ..ChatRequest::default()
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

/// What came of one attempt, and the text that was shown on the way.
struct Asked {
    result: Result<ChatAnswer, ChatFault>,
    shown: String,
}

impl Asked {
    #[track_caller]
    fn answer(self) -> ChatAnswer {
        match self.result {
            Ok(answer) => answer,
            Err(fault) => panic!("{}: {}", fault.code(), fault.message()),
        }
    }

    #[track_caller]
    fn fault(self) -> ChatFault {
        self.result.unwrap_err()
    }
}

fn ask(client: &ChatClient) -> Asked {
    let shown = Mutex::new(String::new());
    let deltas = |text: &str| shown.lock().unwrap().push_str(text);
    let result = run(client.complete(&request(), &deltas));
    Asked {
        result,
        shown: shown.into_inner().unwrap(),
    }
}

/// Asks a server that gives this one reply.
fn ask_for(reply: Reply) -> Asked {
    let server = start(vec![reply]);
    ask(&client(settings(&server)))
}

/// A piece of a stream with this text.
fn text(text: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] })
        .to_string()
}

/// The last piece of a stream.
fn finish(reason: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }).to_string()
}

/// A whole answer with this message.
fn whole(message: &Value, reason: &str) -> Reply {
    Reply::json(
        200,
        &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": reason }] }),
    )
}
