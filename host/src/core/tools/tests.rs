//! Every limit of a tool fires, and what is refused has no effect.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    Course, MemoryTool, Tool, ToolBody, ToolCall, ToolDescriptor, ToolEffect, ToolError, ToolFault,
    ToolPermission, Toolbox, Verdict,
    calling::{CallSite, Called},
};
use crate::core::{
    cancel::{Cancel, Cancellation, Halt},
    ports::{
        memories::{
            Hit, Memories, Memory, MemoryFields, MemoryFilter, MemoryId, MemoryPage, MemoryPatch,
            Page,
        },
        schemas::{SchemaCheck, Schemas},
    },
};
use crate::words::{error::Error, json::JsonText};

/// Knows one rule: a property `count` is a number.
struct Counts;

impl Schemas for Counts {
    fn compile(&self, _tool: &str, _schema: &JsonText) -> Result<Arc<dyn SchemaCheck>, Error> {
        Ok(Arc::new(Self))
    }
}

impl SchemaCheck for Counts {
    fn faults(&self, value: &Value) -> Vec<String> {
        match value.get("count") {
            Some(count) if !count.is_number() => vec!["arguments/count: no number".to_owned()],
            _ => Vec::new(),
        }
    }
}

/// Waits until it is told to end, and counts how often it began and ended.
#[derive(Default)]
struct Gate {
    open: Notify,
    began: AtomicUsize,
    ended: AtomicUsize,
}

impl Tool for Gate {
    fn run<'a>(&'a self, call: &'a ToolCall<'a>) -> BoxFuture<'a, Result<Value, ToolError>> {
        async move {
            self.began.fetch_add(1, Ordering::SeqCst);
            (call.progress)("waiting");
            self.open.notified().await;
            self.ended.fetch_add(1, Ordering::SeqCst);
            Ok(json!("open"))
        }
        .boxed()
    }
}

/// Answers what it was given.
struct Echo;

impl Tool for Echo {
    fn run<'a>(&'a self, call: &'a ToolCall<'a>) -> BoxFuture<'a, Result<Value, ToolError>> {
        async { Ok(call.arguments["answer"].clone()) }.boxed()
    }
}

struct Slow;

impl MemoryTool for Slow {
    fn run(&self, _call: &ToolCall<'_>, _memories: &dyn Memories) -> Result<Value, ToolFault> {
        std::thread::sleep(Duration::from_millis(5));
        Ok(json!("late"))
    }
}

/// A memory that nobody asks.
struct Untouched;

#[rustfmt::skip]
impl Memories for Untouched {
    fn add(&self, _: &MemoryFields) -> Result<Memory, Error> { unreachable!() }
    fn upsert(&self, _: &MemoryId, _: &MemoryFields, _: Option<u64>) -> Result<Memory, Error> { unreachable!() }
    fn get(&self, _: &MemoryId) -> Result<Option<Memory>, Error> { unreachable!() }
    fn update(&self, _: &MemoryId, _: &MemoryPatch, _: Option<u64>) -> Result<Memory, Error> { unreachable!() }
    fn delete(&self, _: &MemoryId, _: Option<u64>) -> Result<bool, Error> { unreachable!() }
    fn query(&self, _: &MemoryFilter, _: &Page) -> Result<MemoryPage, Error> { unreachable!() }
    fn search(&self, _: &str, _: Option<&str>, _: u32) -> Result<Vec<Hit>, Error> { unreachable!() }
    fn touch(&self, _: &[MemoryId]) -> Result<u64, Error> { unreachable!() }
}

fn descriptor(name: &str) -> ToolDescriptor {
    ToolDescriptor::new(name, "Does it.", json!({}))
}

fn toolbox(tools: Vec<(ToolDescriptor, ToolBody)>) -> Toolbox {
    let mut toolbox = Toolbox::new(Arc::new(Counts));
    for (descriptor, body) in tools {
        toolbox.register_tool(descriptor, body).unwrap();
    }
    toolbox
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// Calls a tool of a runtime with a memory, from outside of any task.
fn call(toolbox: &Toolbox, cancel: &Cancel, name: &str, arguments: &Value) -> Result<Called, Halt> {
    call_with(toolbox, cancel, name, arguments, Some(&Untouched))
}

fn call_with(
    toolbox: &Toolbox,
    cancel: &Cancel,
    name: &str,
    arguments: &Value,
    memories: Option<&dyn Memories>,
) -> Result<Called, Halt> {
    let site = CallSite {
        caller: "tester",
        at: Timestamp::UNIX_EPOCH,
        cancel,
        memories,
        intent: None,
        progress: &|_| (),
        approved: false,
    };
    toolbox.call(name, arguments, &site)
}

fn refusal(called: Result<Called, Halt>) -> ToolError {
    called.unwrap().result.unwrap_err()
}

#[test]
fn a_tool_that_takes_too_long_is_given_up() {
    let runtime = runtime();
    let cancel = Cancel::new(Cancellation::new(), runtime.handle().clone());
    let gate = Arc::new(Gate::default());
    let short = Duration::from_millis(20);
    let tools = toolbox(vec![
        (
            descriptor("gate").with_timeout(short),
            ToolBody::Native(gate.clone()),
        ),
        (
            descriptor("again").with_timeout(short).idempotent(),
            ToolBody::Native(gate.clone()),
        ),
    ]);
    let error = refusal(call(&tools, &cancel, "gate", &json!({})));
    assert_eq!(
        (error.code.as_str(), error.retryable),
        ("tool-timeout", false)
    );
    assert!(
        error.message.contains("20 ms") && error.message.contains("unknown"),
        "{error}"
    );
    assert_eq!(error.metadata["timeoutMs"], 20);
    assert!(refusal(call(&tools, &cancel, "again", &json!({}))).retryable);
    assert_eq!(gate.began.load(Ordering::SeqCst), 2);
    assert_eq!(gate.ended.load(Ordering::SeqCst), 0);
}

/// What a late tool over the memory did is taken back with the commit.
#[test]
fn a_tool_over_the_memory_that_takes_too_long_has_no_effect() {
    let runtime = runtime();
    let cancel = Cancel::new(Cancellation::new(), runtime.handle().clone());
    let slow = descriptor("slow").with_timeout(Duration::from_millis(1));
    let tools = toolbox(vec![(slow, ToolBody::Memory(Arc::new(Slow)))]);
    let called = call(&tools, &cancel, "slow", &json!({})).unwrap();
    assert!(called.undo);
    let error = called.result.unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.retryable),
        ("tool-timeout", true)
    );
    assert!(error.message.contains("no effect"), "{error}");
}

#[test]
fn no_more_calls_run_at_once_than_a_tool_allows() {
    let runtime = runtime();
    let cancel = || Cancel::new(Cancellation::new(), runtime.handle().clone());
    let gate = Arc::new(Gate::default());
    let two = NonZeroU32::new(2).unwrap();
    let tools = toolbox(vec![(
        descriptor("gate")
            .with_concurrency(two)
            .with_timeout(Duration::from_secs(60)),
        ToolBody::Native(gate.clone()),
    )]);
    // The same tool with less patience: it shares the turns.
    let mut hasty = tools.clone();
    let less = descriptor("gate")
        .with_concurrency(two)
        .with_timeout(Duration::from_millis(20));
    hasty.tools[0] = Arc::new(tools.tools[0].with(less, ToolBody::Native(gate.clone())));
    let ends = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let called = call(&tools, &cancel(), "gate", &json!({})).unwrap();
                ends.lock().unwrap().push(called.result);
            });
        }
        while gate.began.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
        let error = refusal(call(&hasty, &cancel(), "gate", &json!({})));
        assert_eq!((error.code.as_str(), error.retryable), ("tool-busy", true));
        assert_eq!(error.metadata["concurrency"], 2);
        assert_eq!(gate.began.load(Ordering::SeqCst), 2, "a third never began");
        while ends.lock().unwrap().len() < 2 {
            gate.open.notify_waiters();
            std::thread::yield_now();
        }
    });
    // Once the two have ended there is room again.
    gate.open.notify_one();
    let called = call(&tools, &cancel(), "gate", &json!({})).unwrap();
    assert_eq!(called.result, Ok(json!("open")));
}

#[test]
fn a_cancellation_ends_a_call_at_once() {
    let runtime = runtime();
    let cancellation = Cancellation::new();
    let cancel = Cancel::new(cancellation.clone(), runtime.handle().clone());
    let gate = Arc::new(Gate::default());
    let tools = toolbox(vec![(descriptor("gate"), ToolBody::Native(gate.clone()))]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while gate.began.load(Ordering::SeqCst) < 1 {
                std::thread::yield_now();
            }
            cancellation.cancel();
        });
        let called = call(&tools, &cancel, "gate", &json!({}));
        assert!(matches!(called, Err(Halt::Cancelled)));
    });
    assert_eq!(gate.ended.load(Ordering::SeqCst), 0);
}

#[test]
fn what_goes_in_and_what_comes_out_is_held_against_the_schemas() {
    let runtime = runtime();
    let cancel = Cancel::new(Cancellation::new(), runtime.handle().clone());
    let echo = descriptor("echo").with_output(json!({}));
    let tools = toolbox(vec![(echo, ToolBody::Native(Arc::new(Echo)))]);
    let error = refusal(call(&tools, &cancel, "echo", &json!({"count": "many"})));
    assert_eq!(error.code, "invalid-arguments");
    let wrong = json!({"answer": {"count": "many"}});
    let error = refusal(call(&tools, &cancel, "echo", &wrong));
    assert_eq!(error.code, "tool-output");
    assert!(error.message.contains("result/count"), "{error}");
    let long = json!({"answer": "x".repeat(600 * 1024)});
    assert_eq!(
        refusal(call(&tools, &cancel, "echo", &long)).code,
        "tool-output"
    );
    let right = call(&tools, &cancel, "echo", &json!({"answer": {"count": 2}}));
    assert_eq!(right.unwrap().result, Ok(json!({"count": 2})));
}

#[test]
fn without_a_memory_its_tools_say_so() {
    let runtime = runtime();
    let cancel = Cancel::new(Cancellation::new(), runtime.handle().clone());
    let tools = toolbox(vec![(descriptor("slow"), ToolBody::Memory(Arc::new(Slow)))]);
    let error = refusal(call_with(&tools, &cancel, "slow", &json!({}), None));
    assert_eq!(error.code, "no-memory-service");
}

#[test]
fn a_permission_decides_and_can_only_be_narrowed() {
    let runtime = runtime();
    let cancel = Cancel::new(Cancellation::new(), runtime.handle().clone());
    let echo = || ToolBody::Native(Arc::new(Echo));
    let tools = toolbox(vec![
        (descriptor("free"), echo()),
        (
            descriptor("asks").with_permission(ToolPermission::Ask),
            echo(),
        ),
        (
            descriptor("never").with_permission(ToolPermission::Deny),
            echo(),
        ),
    ]);
    let code = |tools: &Toolbox, name: &str| match call(tools, &cancel, name, &json!({})).unwrap() {
        Called {
            result: Err(error), ..
        } => error.code,
        Called { .. } => "done".to_owned(),
    };
    assert_eq!(
        ["free", "asks", "never"].map(|name| code(&tools, name)),
        ["done", "tool-denied", "tool-denied"]
    );
    assert_eq!(tools.judge("asks", "{}"), Verdict::Ask(Course::Once));
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let narrowed = tools
        .clone()
        .restricted(&names(&["never"]), &names(&["free"]))
        .unwrap();
    assert!(
        matches!(narrowed.judge("never", "{}"), Verdict::Refused(_)),
        "asking would be wider"
    );
    assert!(matches!(narrowed.judge("free", "{}"), Verdict::Refused(_)));
    assert!(tools.restricted(&names(&["gone"]), &[]).is_err());
}

/// A broken call never becomes an effect: each is refused before a body is looked at.
#[test]
fn a_call_is_judged_before_it_is_made() {
    let read = descriptor("read").with_effect(ToolEffect::Read);
    let tools = toolbox(vec![
        (descriptor("native"), ToolBody::Native(Arc::new(Echo))),
        (
            descriptor("idempotent").idempotent(),
            ToolBody::Native(Arc::new(Echo)),
        ),
        (descriptor("memory"), ToolBody::Memory(Arc::new(Slow))),
        (read, ToolBody::Memory(Arc::new(Slow))),
    ]);
    assert_eq!(tools.judge("native", " "), Verdict::Run(Course::Once));
    assert_eq!(
        tools.judge("idempotent", "{}"),
        Verdict::Run(Course::Repeatable)
    );
    assert_eq!(tools.judge("memory", "{}"), Verdict::Run(Course::Shared));
    assert_eq!(tools.judge("read", "{}"), Verdict::Run(Course::Read));
    let separate = tools.clone().over_separate_memory();
    assert_eq!(separate.judge("memory", "{}"), Verdict::Run(Course::Once));
    for (name, arguments, code) in [
        ("nobody", "{}", "unknown-tool"),
        ("native", "[]", "invalid-arguments"),
        ("native", "{", "invalid-arguments"),
        ("native", r#"{"a": 1, "a": 2}"#, "invalid-arguments"),
        ("native", r#"{"count": "x"}"#, "invalid-arguments"),
        ("native", "null", "invalid-arguments"),
    ] {
        let verdict = tools.judge(name, arguments);
        assert!(
            matches!(&verdict, Verdict::Refused(error) if error.code == code),
            "{arguments}: {verdict:?}"
        );
    }
}

#[test]
fn a_tool_is_registered_once_and_within_bounds() {
    let mut tools = toolbox(vec![(descriptor("a"), ToolBody::Native(Arc::new(Echo)))]);
    let mut refused = |descriptor| {
        let error = tools.register_tool(descriptor, ToolBody::Native(Arc::new(Echo)));
        assert_eq!(error.unwrap_err().code(), "tool-refused");
    };
    refused(descriptor("a"));
    refused(descriptor(""));
    refused(descriptor("with space"));
    refused(descriptor(&"x".repeat(65)));
    refused(ToolDescriptor::new("b", " ", json!({})));
    refused(ToolDescriptor::new("b", "x".repeat(4001), json!({})));
    refused(descriptor("b").with_timeout(Duration::ZERO));
}
