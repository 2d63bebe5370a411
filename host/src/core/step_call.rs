//! One step of a plugin on the business database, for either pattern.
//!
//! Owns that the sandbox is ready before the database is locked, and that a step is called exactly once in its transaction.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    contract::{Effect, Failure, OperationKey, Step, StepAnswer, Subject},
    ports::{
        business::{Business, Operation, Performed, Read, ReadOutcome, Sql, SubjectConflict},
        domain::Domain,
        journal::Position,
    },
    request::Request,
};
use crate::words::{
    error::{Error, Facts, Fault, Kind},
    id::{PrincipalId, TaskId},
};

/// On what steps are performed, and for whom.
pub struct StepSite<'a> {
    /// The plugin.
    pub domain: &'a dyn Domain,
    /// The database.
    pub business: &'a dyn Business,
    /// What the plugin is told to serve.
    pub request: &'a Request,
    /// What the request is about.
    pub subject: &'a Subject,
    /// The task that the effect belongs to.
    pub task: &'a TaskId,
    /// Who asked for it.
    pub principal: &'a PrincipalId,
    /// The journal record that intends the step; durable.
    pub intent: Position,
    /// When it was intended.
    pub intended_at: Timestamp,
}

impl StepSite<'_> {
    /// Performs a keyed step, or answers from the ledger.
    ///
    /// # Errors
    /// Those of the plugin and of [`Business::perform`]; nothing was changed.
    pub fn perform(
        &self,
        step: &Step,
        key: OperationKey,
        effect: Effect,
    ) -> Result<Performed, Error> {
        let operation = Operation {
            plugin: self.request.plugin.name.clone(),
            subject: self.subject.clone(),
            key,
            task: self.task.clone(),
            principal: self.principal.clone(),
            fingerprint: self.request.fingerprint(),
            input_digest: self.request.input_digest(),
            tool: step.tool.clone(),
            arguments_digest: step.arguments_digest(),
            effect,
            position: self.intent,
            at: self.intended_at,
        };
        let mut prepared = Some(self.domain.prepare(self.request, step)?);
        self.business
            .perform(&operation, &mut |sql| match prepared.take() {
                Some(prepared) => prepared.perform(sql),
                None => Err(CalledTwice.into()),
            })
    }

    /// Performs a step without a key, which changes nothing.
    ///
    /// # Errors
    /// Those of the plugin and of [`Business::read`].
    pub fn read(
        &self,
        step: &Step,
    ) -> Result<Result<Result<StepAnswer, Failure>, SubjectConflict>, Error> {
        let read = Read {
            plugin: self.request.plugin.name.clone(),
            subject: Some((self.subject.clone(), self.request.input_digest())),
        };
        let mut prepared = Some(self.domain.prepare(self.request, step)?);
        read_once(self.business, &read, |sql| match prepared.take() {
            Some(prepared) => prepared.perform(sql),
            None => Err(CalledTwice.into()),
        })
    }
}

/// What one call read from the plugin's own tables.
///
/// # Errors
/// Those of the call and of [`Business::read`].
pub fn read_once<T>(
    business: &dyn Business,
    read: &Read,
    mut call: impl FnMut(Arc<dyn Sql>) -> Result<T, Error>,
) -> Result<Result<T, SubjectConflict>, Error> {
    let mut result = None;
    let outcome = business.read(read, &mut |sql| {
        result = Some(call(sql)?);
        Ok(())
    })?;
    match (outcome, result) {
        (ReadOutcome::SubjectConflict(conflict), _) => Ok(Err(conflict)),
        (ReadOutcome::Read, Some(result)) => Ok(Ok(result)),
        (ReadOutcome::Read, None) => Err(NotCalled.into()),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a prepared step was called twice")]
struct CalledTwice;

impl Fault for CalledTwice {
    fn facts(&self) -> Facts {
        bug("step-called-twice")
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a read did not call the plugin")]
struct NotCalled;

impl Fault for NotCalled {
    fn facts(&self) -> Facts {
        bug("read-not-called")
    }
}

fn bug(code: &'static str) -> Facts {
    Facts::new(
        code,
        Kind::Bug,
        "report this with the output of `wharf status`",
    )
}
