//! Runs a plugin natively, without host and component, for its author's tests.
//!
//! The same code, the same SQL, SQLite: only the sandbox, the ledger and the host's limits on time and
//! memory are missing. What the host refuses of a plugin's SQL is refused here as well, as far as
//! authors stumble over it; the host is stricter still.

mod database;

use std::marker::PhantomData;

use crate::adapter::{self, Adapter};
use crate::bindings::exports::wharf::domain::validator::Guest;
use crate::{
    Answer, Completed, Conclusion, Effect, Failure, Plan, PlanStatus, Plugin, Step, Task, Tx,
    Violation,
};

pub use database::Database;
use database::May;

/// One plugin over a database in memory.
pub struct TestHost<P> {
    database: Database,
    plugin: PhantomData<P>,
}

impl<P: Plugin> TestHost<P> {
    /// Applies the plugin's migrations to an empty database.
    ///
    /// # Panics
    /// If one fails.
    #[expect(
        clippy::new_without_default,
        reason = "a database is not what one expects behind a default"
    )]
    pub fn new() -> Self {
        let database = Database::in_memory();
        for migration in P::describe().migrations {
            database.run(&migration.sql);
        }
        Self {
            database,
            plugin: PhantomData,
        }
    }

    /// The same plugin over a copy of everything that is in the database now.
    pub fn copy(&self) -> Self {
        Self {
            database: self.database.copy(),
            plugin: PhantomData,
        }
    }

    /// Runs trusted SQL: a seed, a trigger.
    ///
    /// # Panics
    /// If a statement fails.
    pub fn seed(&self, sql: &str) {
        self.database.run(sql);
    }

    /// The database, for a test's own statements.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// `validator.check-task`: the subject.
    pub fn check_task(&self, task: &Task) -> Result<String, Vec<Violation>> {
        Adapter::<P>::check_task(task.clone())
    }

    /// `validator.check-plan`, on the snapshot of this moment.
    ///
    /// # Panics
    /// If there is no snapshot.
    pub fn check_plan(&self, task: &Task, plan: &Plan) -> Result<(), Vec<Violation>> {
        let snapshot = self.snapshot(task).expect("a snapshot");
        Adapter::<P>::check_plan(task.clone(), snapshot, plan.clone())
    }

    /// `tools.snapshot`, in a transaction that may only read.
    pub fn snapshot(&self, task: &Task) -> Result<String, Failure> {
        self.database.transaction(May::Read, |tx| {
            (adapter::snapshot::<P>(task.clone(), tx), false)
        })
    }

    /// `tools.perform`, in a transaction of its own: committed if the step is done, else rolled back.
    /// There is no ledger: whoever performs a step twice gets two effects, if the plugin has no
    /// objection.
    ///
    /// # Panics
    /// If the plugin does not declare the tool or breaks the contract: a write without an operation
    /// key, or a state that is not the postcondition.
    pub fn perform(&self, task: &Task, step: &Step) -> Result<Answer, Failure> {
        let descriptor = P::describe();
        let tool = descriptor.tools.iter().find(|tool| tool.name == step.tool);
        let tool = tool.unwrap_or_else(|| panic!("`{}` is not declared", step.tool));
        let may = match tool.effect {
            Effect::Read => May::Read,
            Effect::Write => May::Write,
            Effect::External => panic!("`{}` has a reserved effect", step.tool),
        };
        assert!(
            may == May::Read || self.operation_key(task, step).is_some(),
            "`{}` writes without an operation key",
            step.tool
        );
        self.database.transaction(may, |tx| {
            let answer = adapter::perform::<P>(task.clone(), step, tx);
            if let Ok(Answer::Done(outcome)) = &answer {
                assert_eq!(
                    outcome.state, tool.postcondition,
                    "the state of `{}` is not its postcondition",
                    step.tool
                );
            }
            let done = matches!(answer, Ok(Answer::Done(_)));
            (answer, done)
        })
    }

    /// A whole task: checks the plan, performs its steps, concludes.
    ///
    /// # Panics
    /// If the plan is refused, or a step fails.
    pub fn run(&self, task: &Task, plan: &Plan) -> Finished {
        self.check_plan(task, plan)
            .unwrap_or_else(|faults| panic!("the plan is refused: {faults:?}"));
        let completed: Vec<_> = plan
            .steps
            .iter()
            .map(|step| self.complete(task, step))
            .collect();
        let snapshot = self.snapshot(task).expect("a snapshot");
        Finished {
            conclusion: Adapter::<P>::conclude(task.clone(), snapshot, completed.clone()),
            completed,
        }
    }

    fn complete(&self, task: &Task, step: &Step) -> Completed {
        let (declined, data) = match self.perform(task, step) {
            Ok(Answer::Done(outcome)) => (false, outcome.data),
            Ok(Answer::Declined(data)) => (true, data),
            Err(failure) => panic!("step `{}` failed: {failure:?}", step.id),
        };
        Completed {
            step: step.clone(),
            operation_key: self.operation_key(task, step),
            declined,
            data,
        }
    }

    fn operation_key(&self, task: &Task, step: &Step) -> Option<String> {
        Adapter::<P>::operation_key(task.clone(), step.tool.clone(), step.arguments.clone())
    }
}

/// A task that has been run.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its steps.
    pub completed: Vec<Completed>,
    /// What the plugin concluded.
    pub conclusion: Result<Conclusion, Vec<Violation>>,
}

/// A task of tenant `test` and principal `tester`.
pub fn task(id: &str, input: &str) -> Task {
    Task {
        id: id.to_owned(),
        tenant: "test".to_owned(),
        principal: "tester".to_owned(),
        goal: "A test.".to_owned(),
        input: input.to_owned(),
    }
}

/// A step that depends on nothing.
pub fn step(id: &str, tool: &str, expected: &str, arguments: Option<&str>) -> Step {
    Step {
        id: id.to_owned(),
        tool: tool.to_owned(),
        depends_on: Vec::new(),
        expected: expected.to_owned(),
        arguments: arguments.map(str::to_owned),
    }
}

/// A plan that is ready, each step after the one before it.
pub fn chain(steps: impl IntoIterator<Item = Step>) -> Plan {
    let mut steps: Vec<_> = steps.into_iter().collect();
    for index in 1..steps.len() {
        steps[index].depends_on = vec![steps[index - 1].id.clone()];
    }
    Plan {
        goal: "A test.".to_owned(),
        status: PlanStatus::Ready,
        reason: "A test.".to_owned(),
        steps,
    }
}
