//! A Context as one workspace uses it.
//!
//! Owns the part of a scope that tells workspaces apart, so that any number of them can share one Context. Called by the core
//! through [`Context`].

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use crate::{
    business::Workspace,
    core::ports::context::{Context, ContextValue, Stored},
    words::{digest::Digest, error::Error},
};

/// Puts the workspace's id before every scope.
pub(super) struct WorkspaceContext {
    id: String,
    context: Arc<dyn Context>,
}

impl WorkspaceContext {
    pub(super) fn new(workspace: &Workspace, context: Arc<dyn Context>) -> Self {
        Self {
            id: workspace.id.clone(),
            context,
        }
    }

    fn of_workspace(&self, scope: &str) -> String {
        format!("{}:{scope}", self.id)
    }
}

type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

impl Context for WorkspaceContext {
    fn load<'a>(&'a self, scope: &'a str) -> Answering<'a, Option<ContextValue>> {
        let scope = self.of_workspace(scope);
        Box::pin(async move { self.context.load(&scope).await })
    }

    fn store<'a>(
        &'a self,
        scope: &'a str,
        expected: Option<Digest>,
        value: ContextValue,
        ttl: Duration,
    ) -> Answering<'a, Stored> {
        let scope = self.of_workspace(scope);
        Box::pin(async move { self.context.store(&scope, expected, value, ttl).await })
    }
}
