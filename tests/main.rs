//! The tests of the whole: the library and the command line, on real components, databases, files and processes.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test opens databases and looks at the clock as outside tools do, and may fail by panicking"
)]

mod architecture;
mod contract;
mod documents;
mod domain_words;
mod examples;
mod failure_cases;
mod fuzz;
mod fuzz_component;
mod outside;
mod tau2;

mod agent;
mod chat;
mod checkpoints;
mod config;
mod context;
mod doctor;
mod fuel;
mod gc;
mod golden;
mod ids;
mod mcp;
mod model;
mod model_config;
mod model_secrets;
mod input;
mod output;
mod payloads;
mod planner;
mod plugin_faults;
mod plans;
mod progress;
mod records;
mod replay;
mod scenarios;
mod two_tasks;
mod updates;

mod hostile_answers;
mod hostile_database;
mod hostile_descriptor;
mod hostile_memory;
mod hostile_output;
mod hostile_surroundings;
mod hostile_time;
mod hostile_traps;
mod sandboxes;

mod cancel;
mod many_at_once;
mod many_tasks;
mod clock;
mod crash;
mod crash_matrix;
mod databases;
mod exactly_once;
mod permission;
mod redis;
mod runners;
mod stores;
mod tamper;
