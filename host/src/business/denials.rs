//! Tells the operator what a plugin's SQL was refused.
//!
//! One event for each refusal, up to a number per call; then how many more there were. What the plugin wrote is cut short,
//! scrubbed and escaped: it reaches a terminal.

use crate::{
    core::ports::business::SqlFault,
    words::{
        escape,
        id::{PluginName, TaskId},
        scrub::scrubbed,
    },
};

/// Refusals of one call that are listed one by one.
const LISTED: u32 = 10;
/// Bytes of a statement, and of a reason, that are shown.
const SHOWN: usize = 200;

/// On whose behalf statements run.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) plugin: PluginName,
    /// None: a read outside any step.
    pub(super) task: Option<TaskId>,
    /// None: a read outside any step.
    pub(super) tool: Option<String>,
}

/// The refusals of one call.
pub(super) struct Denials {
    caller: Caller,
    listed: u32,
    left_out: u64,
}

impl Denials {
    pub(super) const fn of(caller: Caller) -> Self {
        Self {
            caller,
            listed: 0,
            left_out: 0,
        }
    }

    /// Of a fault that is the plugin's; one of its tables' constraints or of its syntax is no refusal.
    pub(super) fn tell(&mut self, fault: &SqlFault, statement: &str) {
        let (refused, why) = match fault {
            SqlFault::Denied(why) => ("denied", excerpt(why)),
            SqlFault::Limit(why) => ("limit", excerpt(why)),
            SqlFault::Fatal(error) => (error.code(), excerpt(&error.why())),
            SqlFault::Constraint(_) | SqlFault::Failed(_) => return,
        };
        if self.listed == LISTED {
            self.left_out += 1;
            return;
        }
        self.listed += 1;
        let Caller { plugin, task, tool } = &self.caller;
        tracing::warn!(
            plugin = plugin.as_str(),
            task = task.as_ref().map(TaskId::as_str),
            tool = tool.as_deref(),
            refused,
            why,
            statement = excerpt(statement),
            "a statement of the plugin was refused"
        );
    }

    /// Of those that were not listed, how many.
    pub(super) fn end(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            let Caller { plugin, task, tool } = &self.caller;
            tracing::warn!(
                plugin = plugin.as_str(),
                task = task.as_ref().map(TaskId::as_str),
                tool = tool.as_deref(),
                left_out,
                "more statements of the same call were refused"
            );
        }
    }
}

fn excerpt(text: &str) -> String {
    escape::excerpt(&scrubbed(text), SHOWN)
}
