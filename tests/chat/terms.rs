//! What a request says, and what it leaves out after a refusal.

use model_server::{Received, Reply};
use serde_json::{Value, json};
use wharf::technologies::chat::{
    ChatClient, ChatMessage, ChatRequest, ChatTool, HeaderSetting, ResponseFormat, ToolCall,
    settings::SecretName,
};

use super::{KEY, ask, client, request, run, settings, start};

#[test]
fn a_body_is_exactly_this() {
    let server = start(vec![Reply::chat("a")]);
    let mut settings = settings(&server);
    settings.max_tokens = Some(500);
    settings.temperature = Some(0.0);
    settings.seed = Some(7);
    settings.options.insert("top_p".into(), json!(0.5));
    settings
        .options
        .insert("provider".into(), json!({ "order": ["a", "b"] }));
    let mut request = request();
    request.messages.push(ChatMessage::Assistant {
        text: String::new(),
        tool_calls: vec![ToolCall {
            id: "c1".into(),
            name: "look".into(),
            arguments: "{\"at\": 7}".into(),
        }],
    });
    request.messages.push(ChatMessage::Tool {
        tool_call_id: "c1".into(),
        text: "Nothing \u{1b} \"there\" ✓".into(),
    });
    request.tools.push(ChatTool {
        name: "look".into(),
        description: "Looks at a place.".into(),
        parameters: json!({ "type": "object", "properties": { "at": { "type": "integer" } } }),
        stays: true,
    });
    run(client(settings).complete(&request, &|_| ())).unwrap();
    let received = &server.received()[0];
    assert_eq!(
        (received.method.as_str(), received.target.as_str()),
        ("POST", "/v1/chat/completions")
    );
    insta::assert_snapshot!(String::from_utf8(received.body.clone()).unwrap(), @r##"{"max_tokens":500,"messages":[{"content":"Answer in JSON.","role":"system"},{"content":"What now?","role":"user"},{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"at\": 7}","name":"look"},"id":"c1","type":"function"}]},{"content":"Nothing \u001b \"there\" ✓","role":"tool","tool_call_id":"c1"}],"model":"test-model","provider":{"order":["a","b"]},"response_format":{"json_schema":{"name":"answer","schema":{"additionalProperties":false,"type":"object"},"strict":true},"type":"json_schema"},"seed":7,"stream":true,"stream_options":{"include_usage":true},"temperature":0.0,"tools":[{"function":{"description":"Looks at a place.","name":"look","parameters":{"properties":{"at":{"type":"integer"}},"type":"object"}},"type":"function"}],"top_p":0.5}"##);
}

#[test]
fn headers_are_exactly_these() {
    let server = start(vec![Reply::chat("a"), Reply::chat("a")]);
    let mut settings = settings(&server);
    let title = HeaderSetting::Literal("Wharf".into());
    settings.headers.insert("X-Title".into(), title);
    let team = SecretName { env: "TEAM".into() };
    settings
        .headers
        .insert("X-Team".into(), HeaderSetting::Secret(team));
    ask(&client(settings.clone())).answer();
    settings.api_key_header = Some("api-key".into());
    settings.stream = false;
    ask(&client(settings)).answer();
    let headers = |received: &Received| {
        let mut headers: Vec<_> = received
            .headers
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "host" | "content-length"))
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        headers.sort();
        headers
    };
    let agent = format!("user-agent: wharf/{}", env!("CARGO_PKG_VERSION"));
    let key = [
        format!("authorization: Bearer {KEY}"),
        format!("api-key: {KEY}"),
    ];
    let common = [
        "accept-encoding: identity",
        "content-type: application/json",
        &agent,
        "x-team: red-Qx81Lp-team",
        "x-title: Wharf",
    ];
    let accept = [
        "accept: text/event-stream, application/json",
        "accept: application/json",
    ];
    for ((received, accept), key) in server.received().iter().zip(accept).zip(&key) {
        let mut expected: Vec<_> = common.iter().map(|it| (*it).to_owned()).collect();
        expected.extend([accept.to_owned(), key.clone()]);
        expected.sort();
        assert_eq!(headers(received), expected);
    }
}

#[test]
fn without_a_key_none_is_sent() {
    let server = start(vec![Reply::chat("a")]);
    let mut settings = settings(&server);
    settings.api_key_env = None;
    ask(&client(settings)).answer();
    assert_eq!(server.received()[0].header("authorization"), None);
}

/// The formats that were asked for, one request after the other.
fn formats(received: &[Received]) -> Vec<String> {
    let format = |received: &Received| match &received.json()["response_format"]["type"] {
        Value::String(format) => format.clone(),
        _ => "none".to_owned(),
    };
    received.iter().map(format).collect()
}

fn refusal() -> Reply {
    Reply::error(400, "This response_format type is unavailable now")
}

#[test]
fn the_form_of_the_answer_gives_way_and_what_was_learnt_is_kept() {
    let server = start(vec![
        refusal(),
        Reply::error(422, "json_object is unknown"),
        Reply::chat("a"),
        Reply::chat("b"),
    ]);
    let client = client(settings(&server));
    assert_eq!(ask(&client).answer().text, "a");
    assert_eq!(ask(&client).answer().text, "b");
    assert_eq!(
        formats(&server.received()),
        ["json_schema", "json_object", "none", "none"]
    );
}

#[test]
fn what_was_not_taken_is_not_learnt() {
    let server = start(vec![refusal(), Reply::error(500, "no"), Reply::chat("a")]);
    let client = client(settings(&server));
    assert_eq!(ask(&client).fault().code(), "model-server-error");
    assert_eq!(ask(&client).answer().text, "a");
    assert_eq!(
        formats(&server.received()),
        ["json_schema", "json_object", "json_schema"]
    );
}

#[test]
fn a_server_that_refuses_every_form_and_none_is_a_fault() {
    let server = start(vec![refusal(); 9]);
    let fault = ask(&client(settings(&server))).fault();
    assert_eq!(fault.code(), "model-bad-request");
    assert_eq!(
        formats(&server.received()),
        ["json_schema", "json_object", "none"]
    );
}

#[test]
fn a_form_that_is_set_does_not_give_way() {
    for (setting, format) in [
        (ResponseFormat::JsonSchema, "json_schema"),
        (ResponseFormat::JsonObject, "json_object"),
        (ResponseFormat::Text, "none"),
    ] {
        let server = start(vec![refusal(), Reply::chat("never")]);
        let mut settings = settings(&server);
        settings.response_format = setting;
        assert_eq!(ask(&client(settings)).fault().code(), "model-bad-request");
        assert_eq!(formats(&server.received()), [format]);
    }
}

#[test]
fn another_refusal_is_none_of_the_form() {
    for reply in [
        Reply::error(400, "the context is too long"),
        Reply::error(404, "response_format"),
        Reply::error(500, "response_format"),
    ] {
        let server = start(vec![reply, Reply::chat("never")]);
        ask(&client(settings(&server))).fault();
        assert_eq!(server.received().len(), 1);
    }
    // Where no form was asked for, there is none to give way in.
    let server = start(vec![refusal(), Reply::chat("never")]);
    let asked: ChatClient = client(settings(&server));
    let mut plain = ChatRequest::default();
    plain.messages.push(ChatMessage::User("a".into()));
    assert_eq!(
        run(asked.complete(&plain, &|_| ())).unwrap_err().code(),
        "model-bad-request"
    );
    assert_eq!(formats(&server.received()), ["none"]);
}

#[test]
fn a_server_that_does_not_count_in_a_stream_is_not_asked_to() {
    let refusal = Reply::json(
        422,
        &json!({ "detail": [
        { "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden" },
    ] }),
    );
    let server = start(vec![
        refusal,
        Reply::chat_stream("a", 1),
        Reply::chat_stream("b", 1),
    ]);
    let client = client(settings(&server));
    assert_eq!(ask(&client).answer().text, "a");
    assert_eq!(ask(&client).answer().text, "b");
    let asked: Vec<_> = server
        .received()
        .iter()
        .map(|it| {
            (
                it.json().get("stream_options").is_some(),
                it.json()["stream"].clone(),
            )
        })
        .collect();
    assert_eq!(
        asked,
        [
            (true, json!(true)),
            (false, json!(true)),
            (false, json!(true))
        ]
    );
    assert_eq!(formats(&server.received()), ["json_schema"; 3]);
}
