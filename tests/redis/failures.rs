//! A Redis that is gone, hangs, or refuses: a typed error in time, nothing lost, and the task goes on with another Context or
//! once the server is mended.

use super::*;
use wharf_tests::{changes, gated::Gated, redis::free_port};

const SECRET: &str = "hunter2";

/// The resume fails so and in time, and leaves everything as it is.
#[track_caller]
fn assert_refused(workspace: &Workspace, context: &str, code: &str) -> [String; 3] {
    let before = workspace.content();
    let lines = in_time(resume_with(workspace, context)).refusal(1, code);
    assert_eq!(changes(&before, &workspace.content()), [""; 0]);
    lines
}

/// A run that came as far as the first plan, and failed so, as often as it is tried; none of it costs an attempt.
#[track_caller]
fn assert_waits(workspace: &Workspace, context: &str, code: &str) -> [String; 3] {
    let _ = in_time(demo_with(workspace, context)).refusal(1, code);
    for _ in 0..4 {
        in_time(resume_with(workspace, context)).refusal(1, code);
    }
    let used = |status: Value| status["tasks"][0]["usage"]["modelCalls"].clone();
    let status = wharf("status").dir(workspace.path()).json().run().exits(0);
    assert_eq!(used(status.document()), 0);
    assert_eq!(workspace.ledger(), []);
    in_time(resume_with(workspace, context)).refusal(1, code)
}

/// S1, Redis unavailable: nothing is lost, since nothing was begun.
#[test]
fn where_there_is_no_server_a_task_does_not_begin_and_the_same_command_starts_over() {
    let workspace = Workspace::new();
    let address = format!("redis://127.0.0.1:{}/2", free_port());
    let [what, ..] = in_time(demo_with(&workspace, &address)).refusal(1, "context-unavailable");
    let place = address.strip_prefix("redis://").unwrap();
    assert!(what.contains(place), "{what}");
    assert_eq!(workspace.journal(TASK), []);
    let _ = demo_with(&workspace, "embedded").run().exits(0);
}

#[test]
fn a_server_that_dies_between_two_runs_leaves_the_task_to_be_resumed() {
    let Some(mut redis) = Redis::start() else {
        return;
    };
    let workspace = planned(&redis);
    redis.kill();
    assert_refused(&workspace, &redis.address(), "context-unavailable");
    let copy = workspace.copy();
    assert_completes(&copy, "embedded");
    redis.start_again();
    assert_completes(&workspace, &redis.address());
}

/// Begins a run and lets the server fall ill while the first step is in flight; the working set of the second plan is the
/// next thing that the run wants of it.
#[track_caller]
fn assert_halted(workspace: &Workspace, redis: &mut Redis, ill: fn(&mut Redis), code: &str) {
    let mut run = Gated::start(resume_with(workspace, &redis.address()), workspace);
    assert_eq!(run.go_on(), None);
    ill(redis);
    let begun = Instant::now();
    let ended = run.release();
    let taken = begun.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?}");
    assert_eq!((ended.code, &*ended.stdout), (Some(1), ""), "{ended:?}");
    let error = format!("error[{code}]: ");
    let said = ended.said.iter().filter(|line| line.starts_with(&error));
    assert_eq!(said.count(), 1, "{ended:?}");
    // Both steps before the change are done, and stay so.
    assert_eq!(workspace.ledger().len(), 2);
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_run_ends_it_and_what_is_done_stays_done() {
    let Some(mut redis) = Redis::start() else {
        return;
    };
    let workspace = planned(&redis);
    assert_halted(&workspace, &mut redis, Redis::kill, "context-unavailable");
    assert_completes(&workspace, "embedded");
}

/// S1: it hangs.
#[test]
fn a_server_that_freezes_in_the_middle_of_a_run_ends_it_in_time() {
    let Some(mut redis) = Redis::start() else {
        return;
    };
    let workspace = planned(&redis);
    assert_halted(
        &workspace,
        &mut redis,
        |redis| redis.freeze(),
        "context-timeout",
    );
    assert_refused(&workspace, &redis.address(), "context-timeout");
    redis.thaw();
    assert_completes(&workspace, &redis.address());
}

/// S1: it refuses writes.
#[test]
fn a_replica_is_read_and_never_written() {
    let Some(redis) = Redis::start() else { return };
    let nobody = free_port().to_string();
    redis.does(&["REPLICAOF", "127.0.0.1", &nobody]);
    let workspace = Workspace::new();
    let [_, why, _] = assert_waits(&workspace, &redis.address(), "context-read-only");
    assert!(why.starts_with("READONLY"), "{why}");
    // One that serves nothing before it has caught up.
    redis.does(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
    let [_, why, _] = assert_refused(&workspace, &redis.address(), "context-refused");
    assert!(why.starts_with("MASTERDOWN"), "{why}");
    redis.does(&["REPLICAOF", "NO", "ONE"]);
    assert_completes(&workspace, &redis.address());
}

#[test]
fn a_server_without_memory_says_so() {
    let Some(redis) = Redis::start() else { return };
    redis.does(&["CONFIG", "SET", "maxmemory", "1"]);
    let workspace = Workspace::new();
    assert_waits(&workspace, &redis.address(), "context-out-of-memory");
    assert_completes(&workspace, "embedded");
    redis.does(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    let workspace = Workspace::new();
    // It evicts what it was given at once, or takes nothing: both are told apart.
    let ran = in_time(demo_with(&workspace, &redis.address()));
    assert!(ran.code == Some(0) || ran.stderr.contains("error[context-out-of-memory]"));
}

/// S1: a wrong type, or a value that is no working set.
#[test]
fn what_somebody_else_put_under_the_key_is_left_alone_and_named() {
    let Some(redis) = Redis::start() else { return };
    let workspace = planned(&redis);
    let key = key(&workspace);
    let foreign: [(&str, &[&str]); 3] = [
        ("context-wrong-type", &["LPUSH", &key, "x"]),
        ("context-foreign-value", &["SET", &key, "x"]),
        (
            "context-foreign-value",
            &["SETRANGE", &key, "20000000", "x"],
        ),
    ];
    for (code, command) in foreign {
        let _ = redis.command(&["DEL", &key]);
        let _ = redis.command(command);
        let [what, ..] = assert_refused(&workspace, &redis.address(), code);
        assert!(what.contains(&key), "{what}");
        assert_ne!(redis.command(&["TYPE", &key]).text(), "none");
    }
    let _ = redis.command(&["DEL", &key]);
    assert_completes(&workspace, &redis.address());
}

#[test]
fn a_password_that_is_wrong_or_missing_is_refused_and_none_is_ever_shown() {
    let Some(redis) = Redis::start_with(&["--requirepass", SECRET]) else {
        return;
    };
    let place = format!("127.0.0.1:{}", redis.port());
    let with = |credentials: &str| format!("redis://{credentials}{place}");
    let workspace = Workspace::new();
    let logged = |context: &str| demo_with(&workspace, context).env("WHARF_LOG", "trace");
    for credentials in ["", ":wrong-hunter@", "somebody:wrong-hunter@"] {
        let ran = in_time(logged(&with(credentials)));
        ran.refusal(1, "context-denied");
        assert!(!ran.stderr.contains("wrong-hunter") && !ran.stderr.contains("somebody"));
    }
    let wrong = logged(&with("")).env("WHARF_REDIS_PASSWORD", "wrong-hunter");
    in_time(wrong).refusal(1, "context-denied");
    // In the address, and from the environment.
    let stopped = logged(&with(&format!(":{SECRET}@"))).args(["--stop-after", "plan"]);
    let stopped = stopped.run().exits(12);
    let resumed = resume_with(&workspace, &with("")).env("WHARF_REDIS_PASSWORD", SECRET);
    let resumed = resumed.env("WHARF_LOG", "trace").run().exits(0);
    for ran in [stopped, resumed] {
        let said = ran.stdout + &ran.stderr;
        assert!(!said.contains(SECRET), "{said}");
    }
    for (name, bytes) in workspace.files() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET) && !text.contains(&place), "{name}");
    }
}

#[test]
fn a_user_who_may_not_enough_is_told_what_is_missing() {
    let Some(redis) = Redis::start() else { return };
    let user = ["ACL", "SETUSER", "reader", "on", ">hunter2", "~wharf:*"];
    redis.does(&[&user[..], &["+getrange"]].concat());
    let address = format!("redis://reader:{SECRET}@127.0.0.1:{}", redis.port());
    let workspace = Workspace::new();
    let [_, why, fix] = assert_waits(&workspace, &address, "context-denied");
    assert!(why.contains("evalsha"), "{why}");
    assert!(!why.contains("reader"), "{why}");
    // What the error names is enough.
    let commands = ["+getrange", "+set", "+del", "+evalsha", "+script|load"];
    for command in commands {
        let named = command[1..].replace('|', " ").to_uppercase();
        assert!(fix.contains(&named), "{fix}");
    }
    redis.does(&[&user[..], &commands].concat());
    assert_completes(&workspace, &address);
}

#[test]
fn a_database_that_is_not_there_and_a_server_with_too_many_clients_are_refusals_too() {
    let Some(redis) = Redis::start() else { return };
    let workspace = planned(&redis);
    let no_such_database = format!("{}/99", redis.address());
    assert_refused(&workspace, &no_such_database, "context-refused");
    redis.does(&["CONFIG", "SET", "maxclients", "1"]);
    let _only = std::net::TcpStream::connect(("127.0.0.1", redis.port())).unwrap();
    // It hangs up on whoever comes now.
    let [_, why, _] = assert_refused(&workspace, &redis.address(), "context-unavailable");
    assert!(why.contains("too many clients"), "{why}");
}
