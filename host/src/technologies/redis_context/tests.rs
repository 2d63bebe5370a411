use std::sync::Arc;

use futures::future::ready;
use tokio::runtime::Runtime;

use super::{
    super::{
        context_conformance::conforms,
        fixtures::assert_error,
        redis_server::{Redis, Reply},
    },
    *,
};
use crate::words::error::Kind;

const LONG: Duration = Duration::from_secs(600);

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn context(redis: &Redis) -> RedisContext {
    RedisContext::new(RedisAddress::parse(&redis.address()).unwrap())
}

fn value(text: &str) -> ContextValue {
    ContextValue {
        head: Digest::of(text),
        body: text.to_owned(),
    }
}

#[test]
fn it_does_what_every_context_must() {
    let Some(redis) = Redis::start() else { return };
    let (context, redis) = (context(&redis), Arc::new(redis));
    let advance = move |time| {
        redis.advance(time);
        ready(()).boxed()
    };
    runtime().block_on(conforms(&context, &advance));
}

#[test]
fn a_value_stands_under_its_scope_with_its_head_and_its_time() {
    let Some(redis) = Redis::start() else { return };
    let context = context(&redis);
    let stored = runtime().block_on(context.store("a:b", None, value("x"), LONG));
    assert_eq!(stored.unwrap(), Stored::Yes);
    assert_eq!(redis.keys(), ["wharf:a:b"]);
    let held = redis.command(&["GET", "wharf:a:b"]);
    assert_eq!(held.text(), format!("{}\nx", Digest::of("x")));
    let Reply::Number(left) = redis.command(&["PTTL", "wharf:a:b"]) else {
        panic!("PTTL answers with a number")
    };
    assert!((500_000..=600_000).contains(&left), "{left}");
}

#[test]
fn no_time_to_live_is_no_life_and_endless_time_is_no_overflow() {
    let Some(redis) = Redis::start() else { return };
    let context = context(&redis);
    runtime().block_on(async {
        let store = |expected, ttl| context.store("a", expected, value("x"), ttl);
        let head = Some(value("x").head);
        assert_eq!(store(None, Duration::ZERO).await.unwrap(), Stored::Yes);
        assert_eq!(context.load("a").await.unwrap(), None);
        assert_eq!(store(None, Duration::MAX).await.unwrap(), Stored::Yes);
        assert_eq!(context.load("a").await.unwrap(), Some(value("x")));
        assert_eq!(store(head, Duration::ZERO).await.unwrap(), Stored::Yes);
        assert_eq!(context.load("a").await.unwrap(), None);
    });
}

#[test]
fn a_script_that_the_server_forgot_is_given_to_it_again() {
    let Some(redis) = Redis::start() else { return };
    let context = context(&redis);
    runtime().block_on(async {
        for scope in ["a", "b"] {
            redis.does(&["SCRIPT", "FLUSH"]);
            let stored = context.store(scope, None, value("x"), LONG).await;
            assert_eq!(stored.unwrap(), Stored::Yes);
        }
    });
}

/// A server closes connections that are idle, and a runtime takes its connections with it.
#[test]
fn a_connection_that_died_in_between_is_replaced_without_a_word() {
    let Some(redis) = Redis::start() else { return };
    let context = context(&redis);
    let first = runtime();
    first.block_on(async {
        assert_eq!(context.load("a").await.unwrap(), None);
        let _ = redis.command(&["CLIENT", "KILL", "TYPE", "normal"]);
        assert_eq!(context.load("a").await.unwrap(), None);
    });
    assert_eq!(context.connections.load(Ordering::Relaxed), 2);
    // The first runtime is still there, but nobody drives it.
    runtime().block_on(async { assert_eq!(context.load("a").await.unwrap(), None) });
    drop(first);
    runtime().block_on(async { assert_eq!(context.load("a").await.unwrap(), None) });
}

#[test]
fn many_who_ask_share_one_connection() {
    let Some(redis) = Redis::start() else { return };
    let context = context(&redis);
    runtime().block_on(async {
        let asked = futures::future::join_all((0..64).map(|_| context.load("a"))).await;
        assert!(asked.into_iter().all(|found| found.unwrap().is_none()));
    });
    assert_eq!(context.connections.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_too_large_is_neither_sent_nor_fetched() {
    let Some(redis) = Redis::start() else { return };
    let context = context(&redis);
    let runtime = runtime();
    let large = value(&"x".repeat(MOST_BYTES));
    let error = runtime
        .block_on(context.store("a", None, large, LONG))
        .unwrap_err();
    assert!(error.to_string().contains(&MOST_BYTES.to_string()));
    assert_error(error, "context-too-large", Kind::Limit);
    assert_eq!(redis.keys(), [""; 0]);
    let _ = redis.command(&["SETRANGE", "wharf:a", &MOST_BYTES.to_string(), "xx"]);
    let error = runtime.block_on(context.load("a")).unwrap_err();
    assert!(error.why().contains("larger"), "{error:?}");
    assert_error(error, "context-foreign-value", Kind::Unavailable);
}

#[test]
fn what_somebody_else_wrote_is_not_taken_for_a_working_set() {
    let Some(redis) = Redis::start() else { return };
    let context = context(&redis);
    let runtime = runtime();
    let head = Digest::of("x").to_string();
    for foreign in [
        "x",
        "x\ny",
        &head,
        &format!("{}\n{{}}", head.to_uppercase()),
    ] {
        redis.does(&["SET", "wharf:a\n", foreign]);
        let error = runtime.block_on(context.load("a\n")).unwrap_err();
        assert!(error.to_string().contains("wharf:a\\n"), "{error:?}");
        assert_error(error, "context-foreign-value", Kind::Unavailable);
        let stored = runtime.block_on(context.store("a\n", None, value("x"), LONG));
        assert_eq!(stored.unwrap(), Stored::Lost);
    }
    let _ = redis.command(&["LPUSH", "wharf:list", "x"]);
    for error in [
        runtime.block_on(context.load("list")).unwrap_err(),
        runtime
            .block_on(context.store("list", None, value("x"), LONG))
            .unwrap_err(),
    ] {
        assert_error(error, "context-wrong-type", Kind::Unavailable);
    }
}
