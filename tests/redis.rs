//! The Context in a Redis: the report is the one that the embedded Context gives, whatever the server loses, and whatever it
//! refuses costs nothing but the run.

mod failures;
mod intruders;

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use serde_json::Value;
use wharf::{
    Digest, Error,
    core::ports::context::{Context, ContextValue, Stored},
    technologies::{redis_address::RedisAddress, redis_context::RedisContext},
};
use wharf_tests::{
    Ran, Wharf, Workspace,
    demo::{self, TASK},
    library::{self, Scripted},
    redis::{Redis, Reply},
    script, wharf,
};

/// What becomes of the price-change task without a Redis.
static EXPECTED: LazyLock<Value> = LazyLock::new(|| {
    let workspace = Workspace::new();
    let answer = demo_with(&workspace, "embedded").json().run().exits(0);
    outcome(&answer.document()["report"])
});

/// What the Context must not change.
fn outcome(report: &Value) -> Value {
    let kept = ["status", "stopReason", "plans", "changes", "result"];
    let mut outcome: Value = kept
        .iter()
        .map(|member| ((*member).to_owned(), report[*member].clone()))
        .collect();
    outcome["completed"] = report["completed"].clone();
    for step in outcome["completed"].as_array_mut().unwrap() {
        step["replayed"] = Value::Null;
    }
    outcome
}

fn demo_with(workspace: &Workspace, context: &str) -> Wharf {
    demo::demo(workspace, "price-change").args(["--context", context])
}

fn resume_with(workspace: &Workspace, context: &str) -> Wharf {
    wharf("resume")
        .dir(workspace.path())
        .args(["--context", context])
}

/// A workspace whose first plan is accepted, with its working set in a Redis.
fn planned(redis: &Redis) -> Workspace {
    let workspace = Workspace::new();
    let _ = demo_with(&workspace, &redis.address())
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    workspace
}

fn key(workspace: &Workspace) -> String {
    let id = &workspace.select("SELECT id FROM wharf_workspace")[0];
    format!("wharf:{id}:plan-execute:demo:operator:{TASK}")
}

/// Goes on to the end; nothing shows that anything was in the way, and nothing happened twice.
#[track_caller]
fn assert_completes(workspace: &Workspace, context: &str) {
    let answer = resume_with(workspace, context).json().run().exits(0);
    assert_eq!(outcome(&answer.document()["report"]), *EXPECTED);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}

/// Runs it to its end, which comes within the five seconds that are promised.
#[track_caller]
fn in_time(run: Wharf) -> Ran {
    let begun = Instant::now();
    let ran = run.run();
    let taken = begun.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?}: {ran:?}");
    ran
}

#[test]
fn a_run_with_a_redis_reports_what_one_without_reports() {
    let Some(redis) = Redis::start() else { return };
    let workspace = Workspace::new();
    let answer = demo_with(&workspace, &redis.address()).json().run();
    assert_eq!(outcome(&answer.exits(0).document()["report"]), *EXPECTED);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
    // One working set, which goes by itself.
    assert_eq!(redis.keys(), [key(&workspace)]);
    let Reply::Number(left) = redis.command(&["PTTL", &key(&workspace)]) else {
        panic!("PTTL answers with a number")
    };
    assert!((1..=2 * 3600 * 1000).contains(&left), "{left}");
    // A run remembers nothing of where its working sets were.
    for (name, bytes) in workspace.files() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("redis"), "{name}");
    }
}

#[test]
fn a_run_stays_in_the_database_that_the_address_names() {
    let Some(redis) = Redis::start() else { return };
    let workspace = Workspace::new();
    let address = format!("{}/3", redis.address());
    let _ = demo_with(&workspace, &address).run().exits(0);
    assert_eq!(redis.keys(), [""; 0]);
    let Reply::Text(keyspace) = redis.command(&["INFO", "keyspace"]) else {
        panic!("INFO answers with a text")
    };
    assert!(keyspace.contains("db3:keys=1,expires=1"), "{keyspace}");
}

/// What may befall the keys of a Redis that does as it is told.
const LOSSES: [&str; 4] = ["expiry", "eviction", "flush", "another head"];

fn lose(redis: &Redis, how: &str) {
    match how {
        "expiry" => redis.advance(Duration::from_secs(3 * 3600)),
        "flush" => redis.does(&["FLUSHALL"]),
        _ => {
            for key in redis.keys() {
                let stale = format!("{}\n{{\"goal\":\"Do something else.\"}}", Digest::of("x"));
                if how == "eviction" {
                    let _ = redis.command(&["DEL", &key]);
                } else {
                    redis.does(&["SET", &key, &stale]);
                }
            }
        }
    }
}

/// S1, Redis expiry: expired, evicted, flushed or outdated, it is built again.
#[test]
fn what_a_redis_loses_between_two_runs_is_rebuilt() {
    let Some(redis) = Redis::start() else { return };
    for how in LOSSES {
        let workspace = planned(&redis);
        for _ in 0..3 {
            lose(&redis, how);
            let run = resume_with(&workspace, &redis.address());
            let _ = run.args(["--stop-after", "step"]).run().exits(12);
        }
        lose(&redis, how);
        assert_completes(&workspace, &redis.address());
    }
}

/// A Redis that loses everything before each call.
struct Losing {
    context: RedisContext,
    redis: Redis,
    how: &'static str,
}

type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

impl Context for Losing {
    fn load<'a>(&'a self, scope: &'a str) -> Answering<'a, Option<ContextValue>> {
        lose(&self.redis, self.how);
        self.context.load(scope)
    }

    fn store<'a>(
        &'a self,
        scope: &'a str,
        expected: Option<Digest>,
        value: ContextValue,
        ttl: Duration,
    ) -> Answering<'a, Stored> {
        lose(&self.redis, self.how);
        self.context.store(scope, expected, value, ttl)
    }
}

/// What the planner is shown, and what comes of it.
fn shown(context: Arc<dyn Context>) -> (Vec<Value>, Value) {
    let model = Scripted::saying([
        script::ready(&[
            "reserve_stock",
            "pack_order",
            "ship_standard",
            "read_receipt",
        ]),
        script::ready(&["ship_economy", "read_receipt"]),
    ]);
    let workspace = Workspace::new();
    let host = library::builder(workspace.path())
        .context(context)
        .clock(library::TestClock::at("2030-01-01T00:00:00Z"))
        .build()
        .unwrap();
    let finished = library::finish(&host, model.planner(), demo::task("price-change"));
    let report = serde_json::from_str(&finished.report).unwrap();
    (model.asked(), outcome(&report))
}

#[test]
fn what_a_redis_loses_in_the_middle_of_a_run_is_rebuilt_and_the_planner_sees_no_difference() {
    let Some(redis) = Redis::start() else { return };
    let context = || RedisContext::new(RedisAddress::parse(&redis.address()).unwrap());
    let expected = shown(Arc::new(context()));
    assert_eq!(expected.0.len(), 2);
    for how in LOSSES {
        let losing = Redis::start().map(|redis| Losing {
            context: RedisContext::new(RedisAddress::parse(&redis.address()).unwrap()),
            redis,
            how,
        });
        assert_eq!(shown(Arc::new(losing.unwrap())), expected, "{how}");
    }
}

#[test]
fn workspaces_with_the_same_task_share_a_redis_without_meeting() {
    let Some(redis) = Redis::start() else { return };
    let [one, other] = [planned(&redis), planned(&redis)];
    let mut keys = [key(&one), key(&other)];
    keys.sort();
    assert_eq!(redis.keys(), keys);
    let held = redis.command(&["GET", &key(&other)]);
    assert_completes(&one, &redis.address());
    assert_eq!(redis.command(&["GET", &key(&other)]), held);
    assert_completes(&other, &redis.address());
}
