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
use tokio::sync::Semaphore;
use wharf::{Host, PlanExecute, words::escape::excerpt};

use super::{
    Components,
    error::McpError,
    host_calls, result,
    runs::Runs,
    task_calls,
    task_tools::{self, TaskTool},
};

/// The most calls of tools at once, of all clients; a further one is refused.
const MAX_CALLS: usize = 128;

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
    room: Arc<Semaphore>,
}

impl Edge {
    /// Serves this host. Tasks are run in this pattern, with these components.
    pub(crate) fn new(host: Host, pattern: PlanExecute, components: Components) -> Self {
        let tools = host_calls::tools(&host).chain(task_tools::all()).collect();
        Self {
            host,
            pattern,
            components: Arc::new(components),
            runs: Arc::default(),
            tools,
            room: Arc::new(Semaphore::new(MAX_CALLS)),
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
        let tool = &*request.name;
        if self.get_tool(tool).is_none() {
            let fault = format!("there is no tool `{}`", excerpt(tool, 80));
            return Err(ErrorData::invalid_params(fault, None));
        }
        let Ok(_room) = self.room.try_acquire() else {
            let refusal = McpError::TooManyCalls { limit: MAX_CALLS };
            return Ok(result::of(Err(refusal.into())).into());
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = match TaskTool::of(tool) {
            Some(tool) => result::of(task_calls::call(self, tool, arguments, &context).await),
            None => host_calls::call(&self.host, tool, arguments, &context).await,
        };
        Ok(result.into())
    }
}
