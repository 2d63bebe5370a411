//! What a model is asked, and the body in which it is asked.
//!
//! Owns the fields of the request. What the server has refused before is left out; that is `negotiation.rs`'s to say.

use serde_json::{Map, Value, json};

use super::{
    answer::ToolCall,
    negotiation::{Format, Terms},
    settings::ChatSettings,
};

/// One question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// What the model may call.
    pub tools: Vec<ChatTool>,
    /// The form that the text of the answer has to have. It is asked for and not checked.
    pub schema: Option<AnswerSchema>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatMessage {
    /// Instructions.
    System(String),
    /// What the model is asked.
    User(String),
    /// What the model said before.
    Assistant {
        /// Its text; may be empty where it called tools.
        text: String,
        /// What it called.
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool {
        /// The call's id.
        tool_call_id: String,
        /// The answer.
        text: String,
    },
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatTool {
    /// Its name, as the provider's rules for names allow.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON Schema of its arguments.
    pub parameters: Value,
    /// The tools up to and with this one stay the same from question to question.
    pub stays: bool,
}

/// The form of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    /// A name of it: letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON Schema.
    pub schema: Value,
    /// Whether the server is to hold the model to it word by word; it then takes the simplest of schemas only.
    pub strict: bool,
}

impl ChatRequest {
    /// The body, on the terms that the server has been found to take.
    pub(super) fn body(&self, settings: &ChatSettings, terms: Terms) -> Value {
        let mut body = settings.options.clone();
        let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
        set("model", settings.model.clone().into());
        // Servers have the tools before the messages: these are kept as far as the list of tools is.
        let marked = settings.mark_prompt_cache;
        let last_that_stays = self.tools.iter().rposition(|tool| tool.stays);
        let all_stay = self.tools.last().is_none_or(|tool| tool.stays);
        let messages = self.messages.iter();
        let messages = messages.map(|it| message(it, marked && all_stay));
        set("messages", messages.collect());
        set("stream", settings.stream.into());
        if settings.stream && terms.usage_in_stream {
            set("stream_options", json!({ "include_usage": true }));
        }
        if !self.tools.is_empty() {
            let mut tools: Vec<Value> = self.tools.iter().map(tool).collect();
            if let Some(last) = last_that_stays.filter(|_| marked) {
                tools[last]["cache_control"] = cache_control();
            }
            set("tools", tools.into());
        }
        if let Some(format) = self.schema.as_ref().and_then(|it| format(it, terms.format)) {
            set("response_format", format);
        }
        for (key, limit) in [
            ("max_tokens", settings.max_tokens),
            ("max_completion_tokens", settings.max_completion_tokens),
        ] {
            if let Some(limit) = limit {
                set(key, limit.into());
            }
        }
        if let Some(temperature) = settings.temperature {
            set("temperature", temperature.into());
        }
        if let Some(seed) = settings.seed {
            set("seed", seed.into());
        }
        Value::Object(body)
    }
}

fn cache_control() -> Value {
    json!({ "type": "ephemeral" })
}

fn message(message: &ChatMessage, is_marked: bool) -> Value {
    match message {
        ChatMessage::System(text) if is_marked => json!({
            "role": "system",
            "content": [{ "type": "text", "text": text, "cache_control": cache_control() }],
        }),
        ChatMessage::System(text) => json!({ "role": "system", "content": text }),
        ChatMessage::User(text) => json!({ "role": "user", "content": text }),
        ChatMessage::Assistant { text, tool_calls } => {
            let mut message = Map::new();
            message.insert("role".into(), "assistant".into());
            // Some servers refuse an empty text beside tool calls, and others the lack of a content.
            let content = if text.is_empty() && !tool_calls.is_empty() {
                Value::Null
            } else {
                text.clone().into()
            };
            message.insert("content".into(), content);
            if !tool_calls.is_empty() {
                message.insert("tool_calls".into(), tool_calls.iter().map(call).collect());
            }
            Value::Object(message)
        }
        ChatMessage::Tool { tool_call_id, text } => {
            json!({ "role": "tool", "tool_call_id": tool_call_id, "content": text })
        }
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments },
    })
}

fn tool(tool: &ChatTool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}

fn format(schema: &AnswerSchema, format: Format) -> Option<Value> {
    match format {
        Format::JsonSchema => Some(json!({
            "type": "json_schema",
            "json_schema": {
                "name": schema.name,
                "schema": schema.schema,
                "strict": schema.strict,
            },
        })),
        Format::JsonObject => Some(json!({ "type": "json_object" })),
        Format::Text => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::technologies::chat::settings::ResponseFormat;

    fn request() -> ChatRequest {
        ChatRequest {
            messages: vec![
                ChatMessage::System("s".into()),
                ChatMessage::User("u".into()),
                ChatMessage::Assistant {
                    text: String::new(),
                    tool_calls: vec![ToolCall {
                        id: "c1".into(),
                        name: "look".into(),
                        arguments: "{\"a\":1}".into(),
                    }],
                },
                ChatMessage::Tool {
                    tool_call_id: "c1".into(),
                    text: "t".into(),
                },
            ],
            tools: vec![ChatTool {
                name: "look".into(),
                description: "Looks.".into(),
                parameters: json!({ "type": "object" }),
                stays: true,
            }],
            schema: Some(AnswerSchema {
                name: "answer".into(),
                schema: json!({ "type": "object" }),
                strict: true,
            }),
        }
    }

    #[test]
    fn a_body_has_every_field_that_was_asked_for() {
        let mut settings = ChatSettings::new("http://h", "m");
        settings.max_tokens = Some(9);
        settings.temperature = Some(0.5);
        settings.seed = Some(-1);
        settings.options.insert("top_p".into(), json!(0.1));
        let body = request().body(&settings, Terms::of(ResponseFormat::Auto));
        assert_eq!(
            body,
            json!({
                "model": "m",
                "messages": [
                    { "role": "system", "content": "s" },
                    { "role": "user", "content": "u" },
                    { "role": "assistant", "content": null, "tool_calls": [
                        { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"a\":1}" } },
                    ] },
                    { "role": "tool", "tool_call_id": "c1", "content": "t" },
                ],
                "stream": true,
                "stream_options": { "include_usage": true },
                "tools": [
                    { "type": "function", "function": { "name": "look", "description": "Looks.", "parameters": { "type": "object" } } },
                ],
                "response_format": { "type": "json_schema", "json_schema": { "name": "answer", "schema": { "type": "object" }, "strict": true } },
                "max_tokens": 9,
                "temperature": 0.5,
                "seed": -1,
                "top_p": 0.1,
            })
        );
    }

    #[test]
    fn what_stays_the_same_is_marked_where_that_is_asked_for() {
        let mut settings = ChatSettings::new("http://h", "m");
        let terms = || Terms::of(ResponseFormat::Auto);
        let mut request = request();
        let plain = request.body(&settings, terms());
        assert!(!plain.to_string().contains("cache_control"));
        settings.mark_prompt_cache = true;
        let mark = json!({ "type": "ephemeral" });
        let body = request.body(&settings, terms());
        assert_eq!(
            body["messages"][0],
            json!({ "role": "system", "content": [{ "type": "text", "text": "s", "cache_control": mark }] })
        );
        assert_eq!(body["messages"][1], plain["messages"][1]);
        assert_eq!(body["tools"][0]["cache_control"], mark);
        // Behind a tool that comes and goes nothing is kept.
        let passing = ChatTool {
            stays: false,
            ..request.tools[0].clone()
        };
        request.tools.push(passing);
        let body = request.body(&settings, terms());
        assert_eq!(body["messages"][0], plain["messages"][0]);
        assert_eq!(body["tools"][0]["cache_control"], mark);
        assert!(body["tools"][1].get("cache_control").is_none());
    }

    #[test]
    fn what_was_not_asked_for_or_was_refused_is_left_out() {
        let mut settings = ChatSettings::new("http://h", "m");
        let mut terms = Terms::of(ResponseFormat::Text);
        terms.usage_in_stream = false;
        let body = request().body(&settings, terms);
        assert!(body.get("response_format").is_none());
        assert!(body.get("stream_options").is_none());
        settings.stream = false;
        let body = ChatRequest::default().body(&settings, Terms::of(ResponseFormat::Auto));
        assert_eq!(
            body,
            json!({ "model": "m", "messages": [], "stream": false })
        );
    }
}
