//! The Workers of plan-execute: what each kind of node does in the world.

mod infer;
mod interaction;
mod memory;
mod records;

use std::sync::Arc;

pub use records::RecordError;
pub(crate) use records::Records;

use self::{infer::InferWorker, interaction::InteractionWorker, memory::MemoryWorker};
use super::state::TaskState;
use crate::core::{
    context_worker::ContextWorker,
    contract::OperationKey,
    ports::{
        archive::Archive, business::Business, context::Context, domain::Domain, model::Model,
        permission::Permission,
    },
    worker::Workers,
};

/// What the Workers of one task stand on.
#[derive(Clone)]
pub struct Ports {
    /// The plugin.
    pub domain: Arc<dyn Domain>,
    /// The business database.
    pub business: Arc<dyn Business>,
    /// The working set.
    pub context: Arc<dyn Context>,
    /// The planner.
    pub model: Arc<dyn Model>,
    /// The policy.
    pub permission: Arc<dyn Permission>,
    /// Evidence and outputs.
    pub archive: Arc<dyn Archive>,
    /// The fault injector: the response of this operation is lost once, after its commit.
    pub lose_response_of: Option<OperationKey>,
}

impl Ports {
    /// The Workers of one task.
    #[must_use]
    pub fn workers(self) -> Workers<TaskState> {
        Workers {
            memory: Box::new(MemoryWorker {
                records: Records {
                    business: Arc::clone(&self.business),
                    archive: Arc::clone(&self.archive),
                },
            }),
            context: Box::new(ContextWorker {
                context: Arc::clone(&self.context),
            }),
            infer: Box::new(InferWorker {
                model: Arc::clone(&self.model),
                domain: Arc::clone(&self.domain),
            }),
            interaction: Box::new(InteractionWorker { ports: self }),
        }
    }
}
