//! The server that every client talks to, whatever carries its messages.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;
use wharf::{Host, PlanExecute};

use super::{Components, result, runs::Runs, task_calls, task_tools};

/// What a client's model is told before it calls anything.
const INSTRUCTIONS: &str = "Wharf keeps plans and memories of this workspace, durable and shared by all its clients, and runs plan-and-execute tasks. Write a plan with plan_write before acting, and update its steps as work goes on; plan_read tells where things stand, after a restart as well. A result with isError says in `hint` or `message` what to do.";

/// One server. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Edge {
    pub(super) host: Host,
    pub(super) pattern: PlanExecute,
    pub(super) components: Arc<Components>,
    pub(super) runs: Arc<Runs>,
    tools: Arc<[Tool]>,
}

impl Edge {
    /// Serves this host. Tasks are run in this pattern, with these components.
    pub(crate) fn new(host: Host, pattern: PlanExecute, components: Components) -> Self {
        Self {
            host,
            pattern,
            components: Arc::new(components),
            runs: Arc::default(),
            tools: task_tools::all().into(),
        }
    }
}

impl ServerHandler for Edge {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("wharf", env!("CARGO_PKG_VERSION")).with_title("Wharf");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let tool = &*request.name;
        match task_calls::call(self, tool, arguments, &context).await {
            Some(answer) => Ok(result::of(answer).into()),
            None => Err(ErrorData::invalid_params(
                format!("there is no tool `{tool}`"),
                None,
            )),
        }
    }
}
