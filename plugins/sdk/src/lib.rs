//! What a Wharf plugin is written with.
//!
//! A plugin is a type that implements [`Plugin`], and one line that exports it. This is all of one
//! that counts to one:
//!
//! ```
//! use serde::Deserialize;
//! use wharf_plugin::{
//!     Answer, Completed, Conclusion, Descriptor, Failure, Plan, Plugin, Request, Step, Task, Tool,
//!     Tx, Violation, json, migrations, params,
//! };
//!
//! struct Counter;
//! wharf_plugin::export!(Counter);
//!
//! #[derive(Deserialize)]
//! struct Input {
//!     counter: String,
//! }
//!
//! impl Plugin for Counter {
//!     type Input = Input;
//!     type Snapshot = i64;
//!
//!     fn describe() -> Descriptor {
//!         Descriptor {
//!             name: "counter".into(),
//!             version: "0.1.0".into(),
//!             instructions: "The snapshot is the counter. Plan one `count`.".into(),
//!             input_schema: r#"{"type": "object", "required": ["counter"]}"#.into(),
//!             tools: vec![Tool::write("count", "Adds one.", "counted")],
//!             migrations: migrations(&[
//!                 "CREATE TABLE counters (name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT",
//!             ]),
//!             max_steps: 1,
//!         }
//!     }
//!
//!     fn input(task: &Task) -> Result<Input, Vec<Violation>> {
//!         serde_json::from_str(&task.input)
//!             .map_err(|error| vec![Violation::new("invalid-input", error.to_string())])
//!     }
//!
//!     fn subject(request: &Request<Input>) -> String {
//!         request.input.counter.clone()
//!     }
//!
//!     fn operation_key(_: &Task, tool: &str, _: Option<&str>) -> Option<String> {
//!         Some(tool.into())
//!     }
//!
//!     fn check_plan(_: &Request<Input>, _: &i64, plan: &Plan) -> Vec<Violation> {
//!         let mut faults = Vec::new();
//!         if plan.steps.len() != 1 {
//!             faults.push(Violation::new("not-one-step", "a plan counts once"));
//!         }
//!         faults
//!     }
//!
//!     fn conclude(
//!         _: &Request<Input>,
//!         count: &i64,
//!         _: &[Completed],
//!     ) -> Result<Conclusion, Vec<Violation>> {
//!         Ok(Conclusion {
//!             result: json(count),
//!             summary: format!("The counter stands at {count}."),
//!             artifacts: Vec::new(),
//!         })
//!     }
//!
//!     fn snapshot(request: &Request<Input>, tx: &Tx<'_>) -> Result<i64, Failure> {
//!         const SQL: &str = "SELECT count FROM counters WHERE name = ?1";
//!         Ok(tx.optional(SQL, params![&request.input.counter])?.unwrap_or(0))
//!     }
//!
//!     fn perform(request: &Request<Input>, _: &Step, tx: &Tx<'_>) -> Result<Answer, Failure> {
//!         const SQL: &str = "INSERT INTO counters VALUES (?1, 1) \
//!             ON CONFLICT (name) DO UPDATE SET count = count + 1";
//!         tx.change_one(SQL, params![&request.input.counter])?;
//!         Ok(Answer::done("counted", &Self::snapshot(request, tx)?))
//!     }
//! }
//!
//! # use wharf_plugin::testing::TestHost;
//! # let host = TestHost::<Counter>::new();
//! # let task = wharf_plugin::testing::task("t", r#"{"counter": "a"}"#);
//! # let step = wharf_plugin::testing::step("s1", "count", "counted", None);
//! # let Ok(Answer::Done(outcome)) = host.perform(&task, &step) else { panic!() };
//! # assert_eq!(outcome.data, "1");
//! ```
//!
//! # Errors
//!
//! - What is wrong with a task, a plan or a result is a list of [`Violation`]s: all of them, each once.
//! - A step that the domain refuses as a regular answer is [`Answer::declined`].
//! - A step that a new plan may help is [`Failure::EnvironmentChanged`], one that no plan can help is
//!   [`Failure::Rejected`]: the task ends as partial and says why.
//! - A [statement that fails](SqlError) and a row that does not fit its type become `Rejected` by `?`:
//!   an answer that people can read. Whoever expects one of them, a violated constraint say, matches
//!   the [`SqlError`] instead.
//! - A panic is for what cannot be. It traps: the run ends as a fault of the plugin, nothing is half
//!   done, and the task can be resumed.
//!
//! # Tests
//!
//! With the feature `testing`, for a plugin's `[dev-dependencies]`, [`testing::TestHost`] runs the
//! very same code natively: migrations, `snapshot` and `perform` over a SQLite database in memory.
//! In the component there is no trace of it.

mod contract;
mod plugin;

mod row;
mod sql;

mod fields;
mod json;
pub mod plan;

#[doc(hidden)]
pub mod adapter;
#[doc(hidden)]
#[rustfmt::skip]
#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::unwrap_used,
    reason = "generated code"
)]
pub mod bindings;

#[cfg(all(feature = "testing", not(target_family = "wasm")))]
pub mod testing;

pub use contract::{
    Answer, Artifact, Completed, Conclusion, Descriptor, Effect, Failure, Migration, Outcome, Plan,
    PlanStatus, Step, Task, Tool, Violation, log, migrations, quoted,
};
pub use fields::Fields;
pub use json::{Json, json};
pub use plugin::{Plugin, Request};
pub use sql::{RowSet, Sql, SqlError, Tx, Value};
