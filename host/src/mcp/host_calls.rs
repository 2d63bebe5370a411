//! The host's own tools: what a client is told of them, and calls of them.

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{CallToolResult, JsonObject, Tool, ToolAnnotations},
    service::RequestContext,
};
use serde_json::Value;
use wharf::{
    Cancellation, Host,
    core::tools::{ToolDescriptor, ToolEffect, ToolPermission},
    host::{ToolOptions, ToolRequest},
};

use super::{progress, result};

/// The most characters of a client's name that are kept with what it writes.
const MAX_NAME_CHARS: usize = 100;

/// Those that may be called.
pub(super) fn tools(host: &Host) -> impl Iterator<Item = Tool> {
    host.tools()
        .into_iter()
        .filter(|tool| tool.permission != ToolPermission::Deny)
        .map(tool)
}

fn tool(descriptor: ToolDescriptor) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(descriptor.effect == ToolEffect::Read)
        .destructive(descriptor.effect == ToolEffect::Destroy)
        .idempotent(descriptor.idempotent)
        .open_world(false);
    let tool = Tool::new(
        descriptor.name,
        descriptor.description,
        object(descriptor.input_schema),
    )
    .with_annotations(annotations);
    match descriptor.output_schema {
        Some(schema) => tool.with_raw_output_schema(result::schema(object(schema)).into()),
        None => tool,
    }
}

/// A schema; the host takes none that is no object.
fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Calls one. A client that no longer waits cancels it.
pub(super) async fn call(
    host: &Host,
    tool: &str,
    arguments: Value,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let (teller, listener) = progress::of_call(context);
    let cancellation = Cancellation::new();
    let request = ToolRequest {
        name: tool.to_owned(),
        arguments,
        caller: caller(context),
    };
    let mut options = ToolOptions::default();
    options.cancellation = cancellation.clone();
    options.progress = Some(Arc::new(move |text| teller.tell(text)));
    let call = async {
        let mut call = std::pin::pin!(host.call_tool(request, options));
        tokio::select! {
            answer = &mut call => answer,
            () = context.ct.cancelled() => {
                cancellation.cancel();
                call.await
            }
        }
    };
    match listener.hear(call).await {
        Ok(Ok(answer)) => CallToolResult::structured(answer),
        Ok(Err(refused)) => result::refused(&refused),
        Err(error) => result::of(Err(error)),
    }
}

/// The client as it calls itself, in plain characters.
fn caller(context: &RequestContext<RoleServer>) -> String {
    let name = context.client_info().map(|client| client.name);
    let name: String = name
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .take(MAX_NAME_CHARS)
        .collect();
    if name.trim().is_empty() {
        "mcp".to_owned()
    } else {
        format!("mcp:{}", name.trim())
    }
}
