//! Every limit, with a plugin that breaks only this one, and a call that works afterwards.

use super::*;
use crate::{
    core::ports::domain::Domain as _,
    plugin::{
        call,
        log::GuestLog,
        state::{CallState, Stop},
    },
};
use wasmtime::ResourceLimiter as _;

const STANDARD: PluginLimits = PluginLimits::standard();

/// The plugin goes wrong as said, and the next call works.
fn fires<T: std::fmt::Debug>(
    expected: &str,
    limits: PluginLimits,
    call: impl Fn(&Plugin) -> Result<T, Error>,
) -> Error {
    let plugin = load(limits);
    let error = call(&plugin).unwrap_err();
    assert_eq!(error.code(), expected, "{error:?}");
    assert!(error.to_string().starts_with(&format!(
        "the plugin probe ({}) failed in ",
        &PROBE.digest().to_string()[..12]
    )));
    let subject = plugin.check_task(&request("nothing")).unwrap().unwrap();
    assert_eq!(subject.as_str(), "subject");
    error
}

fn check(goal: &str) -> impl Fn(&Plugin) -> Result<(), Error> {
    move |plugin| plugin.check_task(&request(goal)).map(|_| ())
}

fn snapshot(goal: &str) -> impl Fn(&Plugin) -> Result<(), Error> {
    move |plugin| plugin.snapshot(&request(goal), Script::new()).map(|_| ())
}

fn perform(goal: &str) -> impl Fn(&Plugin) -> Result<(), Error> {
    move |plugin| {
        let prepared = plugin.prepare(&request(goal), &step("change"))?;
        prepared.perform(Script::new()).map(|_| ())
    }
}

fn conclude(goal: &str) -> impl Fn(&Plugin) -> Result<(), Error> {
    move |plugin| plugin.conclude(&request(goal), &empty(), &[]).map(|_| ())
}

macro_rules! limits {
    ($($field:ident: $value:expr),*) => {
        PluginLimits { $($field: $value.try_into().unwrap(),)* ..STANDARD }
    };
}

#[test]
fn call_millis() {
    fires(
        "plugin-deadline",
        limits!(call_millis: 100_u64),
        check("spin"),
    );
    fires(
        "plugin-deadline",
        limits!(call_millis: 100_u64),
        perform("spin"),
    );
}

#[test]
fn memory_bytes() {
    let error = fires("plugin-memory-limit", STANDARD, check("allocate:80000000"));
    assert!(
        error.to_string().contains("67108864 are allowed"),
        "{error}"
    );
    fires(
        "plugin-memory-limit",
        STANDARD,
        check("allocate-twice:40000000"),
    );
}

#[test]
fn memory_bytes_of_several_memories_together() {
    // Two memories of 5 MiB each, and 8 MiB allowed.
    let two = RUNTIME
        .component(&files::memories(2, 80), None, COMPILING)
        .unwrap();
    let limits = limits!(memory_bytes: 8_usize << 20);
    let mut store = call::store(&RUNTIME, limits, GuestLog::new("p".into(), "f", &limits));
    let instantiated = RUNTIME.linker().instantiate(&mut store, &two);
    assert!(instantiated.is_err());
    assert!(matches!(
        store.data_mut().stop.take(),
        Some(Stop::Memory { asked }) if asked == 160 * 65_536
    ));
    // Growth that the memory's own type refuses is not counted.
    let mut state = CallState::new(limits, GuestLog::new("p".into(), "f", &limits));
    assert!(!state.memory_growing(0, 2 << 20, Some(1 << 20)).unwrap());
    assert!(state.memory_growing(0, 8 << 20, None).unwrap());
}

#[test]
fn table_elements() {
    assert_eq!(
        code(try_load(limits!(table_elements: 1_usize))),
        "plugin-table-limit"
    );
    let limits = limits!(table_elements: 10_usize);
    let mut state = CallState::new(limits, GuestLog::new("p".into(), "f", &limits));
    assert!(state.table_growing(0, 6, None).unwrap());
    assert!(state.table_growing(0, 6, None).is_err());
}

#[test]
fn instances() {
    assert_eq!(
        code(try_load(limits!(instances: 1_u32))),
        "plugin-instance-limit"
    );
}

#[test]
fn component_bytes() {
    let most = 1000.try_into().unwrap();
    assert_eq!(
        code(VerifiedBytes::pin(PROBE.as_slice(), most)),
        "plugin-too-large"
    );
}

#[test]
fn guest_stack_bytes() {
    fires("plugin-stack-overflow", STANDARD, check("recurse"));
    // What the standard stack has room for, a smaller one has not: it is the plugin's own limit.
    load(STANDARD)
        .check_task(&request("recurse:1000"))
        .unwrap()
        .unwrap();
    let small = limits!(guest_stack_bytes: 16_usize << 10);
    let error = fires("plugin-stack-overflow", small, check("recurse:1000"));
    assert!(error.to_string().contains("16384"), "{error}");
    let beyond = limits!(guest_stack_bytes: 2_usize << 20);
    assert_eq!(code(try_load(beyond)), "plugin-limit-too-high");
    let reckless = EngineLimits {
        guest_stack_bytes: (2 << 20).try_into().unwrap(),
        ..EngineLimits::standard()
    };
    assert_eq!(
        code(PluginEngine::new(reckless)),
        "plugin-engine-stack-too-large"
    );
}

#[test]
fn host_calls() {
    let limits = limits!(host_calls: 100_u64);
    fires("plugin-host-call-limit", limits, snapshot("queries:100000"));
    fires("plugin-host-call-limit", limits, check("logs:900"));
    fires("plugin-host-call-limit", limits, check("print:100000"));
    load(limits)
        .snapshot(&request("queries:90"), Script::new())
        .unwrap()
        .unwrap();
}

#[test]
fn host_copy_bytes() {
    fires("plugin-host-buffer-limit", STANDARD, check("text:50000000"));
    fires(
        "plugin-host-buffer-limit",
        STANDARD,
        check("violations:1000000"),
    );
    fires(
        "plugin-host-buffer-limit",
        STANDARD,
        snapshot("parameters:1000000"),
    );
    fires(
        "plugin-host-buffer-limit",
        STANDARD,
        snapshot("blob:5000000"),
    );
    fires(
        "plugin-host-buffer-limit",
        STANDARD,
        check("log-bytes:5000000"),
    );
}

#[test]
fn handles() {
    let limits = limits!(handles: 100_usize);
    fires("plugin-handle-limit", limits, check("handles:1000"));
    fires("plugin-handle-limit", limits, check("own-handles:1000"));
    load(limits)
        .check_task(&request("handles:30"))
        .unwrap()
        .unwrap();
}

#[test]
fn log_lines() {
    fires(
        "plugin-log-limit",
        limits!(log_lines: 10_u32),
        check("logs:11"),
    );
    load(limits!(log_lines: 10_u32))
        .check_task(&request("logs:10"))
        .unwrap()
        .unwrap();
}

#[test]
fn log_bytes() {
    fires(
        "plugin-log-limit",
        limits!(log_bytes: 1000_usize),
        check("log-bytes:1001"),
    );
}

#[test]
fn json_depth() {
    let limits = limits!(json_depth: 5_usize);
    fires(
        "plugin-contract-violation",
        limits,
        snapshot("json-depth:6"),
    );
    load(limits)
        .snapshot(&request("json-depth:5"), Script::new())
        .unwrap()
        .unwrap();
    fires(
        "plugin-contract-violation",
        STANDARD,
        snapshot("json-depth:100000"),
    );
}

#[test]
fn descriptor_bytes() {
    assert_eq!(
        code(try_load(limits!(descriptor_bytes: 50_usize))),
        "plugin-output-limit"
    );
}

#[test]
fn snapshot_bytes() {
    fires(
        "plugin-output-limit",
        STANDARD,
        snapshot("json-bytes:262144"),
    );
}

#[test]
fn record_bytes() {
    fires("plugin-output-limit", STANDARD, perform("data-bytes:65536"));
}

#[test]
fn conclusion_bytes() {
    let limits = limits!(conclusion_bytes: 14_usize);
    fires("plugin-output-limit", limits, conclude("nothing"));
}

#[test]
fn artifact_bytes() {
    fires(
        "plugin-output-limit",
        STANDARD,
        conclude("artifact-bytes:1048577"),
    );
}

#[test]
fn artifacts() {
    fires("plugin-output-limit", STANDARD, conclude("artifacts:17"));
}

#[test]
fn message_bytes() {
    fires(
        "plugin-output-limit",
        STANDARD,
        snapshot("rejected-bytes:65537"),
    );
    let limits = limits!(message_bytes: 1_usize);
    fires("plugin-output-limit", limits, check("refuse:because"));
}

/// E3: told apart by its type, not by its text; a call has all of its fuel again.
#[test]
fn fuel() {
    let metered = PluginLimits {
        fuel: NonZeroU64::new(2_000_000),
        ..STANDARD
    };
    let error = fires("plugin-out-of-fuel", metered, check("spin"));
    assert!(
        error.to_string().contains("2000000 units of fuel"),
        "{error}"
    );
    fires("plugin-out-of-fuel", metered, perform("spin"));
    let plugin = load(metered);
    let burns = |goal: &str| plugin.check_task(&request(goal));
    burns("burn:100000").unwrap().unwrap();
    burns("burn:100000").unwrap().unwrap();
    assert_eq!(code(burns("burn:1000000")), "plugin-out-of-fuel");
}

#[test]
fn compile_millis() {
    let engine = PluginEngine::new(EngineLimits::small()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cache = CompileCache::open(folder.path()).unwrap();
    let hasty = limits!(compile_millis: 1_u64);
    let load = |limits| Plugin::load(&engine, &PROBE, limits, Some(&cache));
    assert_eq!(code(load(hasty)), "plugin-compile-time");
    // The compiler goes on to its end, and what it made is found by whoever is as hasty.
    while cache.content().0 == 0 {
        std::thread::yield_now();
    }
    load(hasty).unwrap();
    assert_eq!(engine.compiles(), 1);
}

#[test]
fn stack_sizes() {
    let engine = PluginEngine::new(EngineLimits::small()).unwrap();
    let of_stack = |kib: usize| {
        engine
            .runtime(&limits!(guest_stack_bytes: kib << 10))
            .map(drop)
    };
    // One runs already, for the standard stack.
    for kib in 1..=7 {
        of_stack(kib).unwrap();
    }
    assert_eq!(code(of_stack(8)), "plugin-no-runtime");
    of_stack(7).unwrap();
}

#[test]
fn concurrent_calls_and_queue_millis() {
    let limits = limits!(concurrent_calls: 1_u32, queue_millis: 1_u64);
    let plugin = load(limits);
    let other = probe();
    let taken = plugin
        .prepare(&request("nothing"), &step("change"))
        .unwrap();
    assert_eq!(
        code(plugin.check_task(&request("nothing"))),
        "plugin-too-many-calls"
    );
    // The engine has room, and another plugin gets it.
    other.check_task(&request("nothing")).unwrap().unwrap();
    drop(taken);
    plugin.check_task(&request("nothing")).unwrap().unwrap();
}

#[test]
fn queued_calls() {
    let plugin = load(limits!(concurrent_calls: 1_u32, queued_calls: 1_u32));
    let taken = plugin
        .prepare(&request("nothing"), &step("change"))
        .unwrap();
    std::thread::scope(|threads| {
        let calls: Vec<_> = (0..2)
            .map(|_| threads.spawn(|| plugin.check_task(&request("nothing")).map(|_| ())))
            .collect();
        while calls.iter().all(|call| !call.is_finished()) {
            std::thread::yield_now();
        }
        // One was refused at once; the other waits, and is served.
        drop(taken);
        let ends: Vec<_> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        let refused: Vec<_> = ends.into_iter().filter_map(Result::err).collect();
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].code(), "plugin-too-many-calls");
    });
}

#[test]
fn sandboxes() {
    let few = EngineLimits {
        sandboxes: 1.try_into().unwrap(),
        queue_millis: 1.try_into().unwrap(),
        ..EngineLimits::small()
    };
    let cache = CompileCache::open(target().join("guests/compiled")).unwrap();
    let engine = PluginEngine::new(few).unwrap();
    let plugin = Plugin::load(&engine, &PROBE, STANDARD, Some(&cache)).unwrap();
    let taken = plugin
        .prepare(&request("nothing"), &step("change"))
        .unwrap();
    assert_eq!(
        code(plugin.check_task(&request("nothing"))),
        "plugin-overloaded"
    );
    taken.perform(Script::new()).unwrap().unwrap();
    plugin.check_task(&request("nothing")).unwrap().unwrap();
}

#[test]
fn no_limit_is_zero_and_none_is_left_out() {
    // Compiles only while every field is a non-zero type and named in this list, which has a test for each.
    let PluginLimits {
        component_bytes,
        compile_millis,
        concurrent_calls,
        queued_calls,
        queue_millis,
        memory_bytes,
        table_elements,
        instances,
        call_millis,
        fuel,
        guest_stack_bytes,
        host_calls,
        host_copy_bytes,
        handles,
        log_lines,
        log_bytes,
        json_depth,
        descriptor_bytes,
        snapshot_bytes,
        record_bytes,
        conclusion_bytes,
        artifact_bytes,
        artifacts,
        message_bytes,
    } = STANDARD;
    let _: [std::num::NonZeroUsize; 15] = [
        component_bytes,
        memory_bytes,
        table_elements,
        host_copy_bytes,
        guest_stack_bytes,
        handles,
        log_bytes,
        json_depth,
        descriptor_bytes,
        snapshot_bytes,
        record_bytes,
        conclusion_bytes,
        artifact_bytes,
        artifacts,
        message_bytes,
    ];
    let _: [std::num::NonZeroU32; 4] = [instances, log_lines, concurrent_calls, queued_calls];
    let _: [NonZeroU64; 4] = [call_millis, host_calls, compile_millis, queue_millis];
    let _: Option<NonZeroU64> = fuel;
}
