//! A run whose model is behind a real server, on this machine.

use model_server::{Reply, Server};
use serde_json::Value;

use super::Wharf;

/// The key that the program is given, and that nobody may see again.
pub const KEY: &str = "sk-test-8w3jf02hdkq61mzx";

/// What the server calls its model.
pub const MODEL: &str = "test-model";

impl Wharf {
    /// `--planner model`, at this server, with a key.
    #[must_use]
    pub fn model(self, server: &Server) -> Self {
        self.args(["--planner", "model"]).provider(server)
    }

    /// A provider in the environment.
    #[must_use]
    pub fn provider(self, server: &Server) -> Self {
        self.env("WHARF__PROVIDERS__TEST__BASE_URL", server.base_url())
            .env("WHARF__PROVIDERS__TEST__MODEL", MODEL)
            .env("WHARF__PROVIDERS__TEST__API_KEY_ENV", "TEST_MODEL_KEY")
            .env("TEST_MODEL_KEY", KEY)
    }
}

/// A plan, streamed in pieces of a few letters.
pub fn streamed(plan: &Value) -> Reply {
    Reply::chat_stream(plan.to_string(), 7)
}

/// The task as the model was told it, by the request of this number.
pub fn told(server: &Server, request: usize) -> Value {
    let body = server.received()[request].json();
    let question = body["messages"][1]["content"].as_str().unwrap();
    let data = question.split_once("<task>").unwrap().1;
    serde_json::from_str(data.split_once("</task>").unwrap().0).unwrap()
}
