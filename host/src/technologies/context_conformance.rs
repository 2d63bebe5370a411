//! What every Context must do, as checks that any of them can be put through.

use std::time::Duration;

use futures::future::{BoxFuture, join_all};

use crate::{
    core::ports::context::{Context, ContextValue, Stored},
    words::digest::Digest,
};

/// Long enough that nothing expires unasked.
const LONG: Duration = Duration::from_secs(600);
/// Long beside what the checks themselves take: the clock of a server goes on meanwhile.
const SHORT: Duration = Duration::from_secs(60);

/// Puts an empty Context through all checks. `advance` lets that much of the Context's time pass.
pub(crate) async fn conforms(
    context: &dyn Context,
    advance: &(dyn Fn(Duration) -> BoxFuture<'static, ()> + Sync),
) {
    a_value_comes_back_as_it_was_stored(context).await;
    only_who_knows_the_head_replaces_it(context).await;
    scopes_are_apart(context).await;
    of_many_writers_one_wins(context).await;
    a_value_lives_as_long_as_it_was_stored_for(context, advance).await;
}

async fn a_value_comes_back_as_it_was_stored(context: &dyn Context) {
    let scope = "conformance:roundtrip";
    assert_eq!(load(context, scope).await, None);
    let mut expected = None;
    for body in [
        "",
        "{}",
        "{\"a\" : \"\\u0000 \u{1f600} \u{4e2d}\r\n\"}",
        &"x".repeat(1 << 20),
    ] {
        let value = value(&format!("head {}", body.len()), body);
        let head = value.head;
        assert_eq!(
            store(context, scope, expected, &value, LONG).await,
            Stored::Yes
        );
        assert_eq!(load(context, scope).await, Some(value));
        expected = Some(head);
    }
}

async fn only_who_knows_the_head_replaces_it(context: &dyn Context) {
    let scope = "conformance:heads";
    let (one, two, three) = (value("1", "one"), value("2", "two"), value("3", "three"));
    let some = |value: &ContextValue| Some(value.head);
    assert_eq!(
        store(context, scope, some(&one), &two, LONG).await,
        Stored::Lost
    );
    assert_eq!(load(context, scope).await, None);
    assert_eq!(store(context, scope, None, &one, LONG).await, Stored::Yes);
    assert_eq!(store(context, scope, None, &two, LONG).await, Stored::Lost);
    assert_eq!(
        store(context, scope, some(&two), &three, LONG).await,
        Stored::Lost
    );
    assert_eq!(load(context, scope).await.as_ref(), Some(&one));
    assert_eq!(
        store(context, scope, some(&one), &two, LONG).await,
        Stored::Yes
    );
    assert_eq!(
        store(context, scope, some(&one), &three, LONG).await,
        Stored::Lost
    );
    assert_eq!(load(context, scope).await.as_ref(), Some(&two));
    // The same head with another body: what was built from it may be built again.
    let again = value("2", "two again");
    assert_eq!(
        store(context, scope, some(&two), &again, LONG).await,
        Stored::Yes
    );
    assert_eq!(load(context, scope).await, Some(again));
}

async fn scopes_are_apart(context: &dyn Context) {
    let scopes = [
        "conformance:a",
        "conformance:a:",
        "conformance:A",
        "conformance:a b\n*",
    ];
    for scope in scopes {
        let value = value(scope, scope);
        assert_eq!(store(context, scope, None, &value, LONG).await, Stored::Yes);
    }
    for scope in scopes {
        assert_eq!(load(context, scope).await, Some(value(scope, scope)));
    }
    assert_eq!(load(context, "conformance:*").await, None);
}

async fn of_many_writers_one_wins(context: &dyn Context) {
    let scope = "conformance:race";
    let mut held = None;
    for round in 0..3 {
        let values: Vec<_> = (0..64)
            .map(|writer| value(&format!("{round} {writer}"), &writer.to_string()))
            .collect();
        let stored = join_all(
            values
                .iter()
                .map(|value| store(context, scope, held, value, LONG)),
        )
        .await;
        let winners: Vec<_> = values
            .iter()
            .zip(stored)
            .filter(|(_, stored)| *stored == Stored::Yes)
            .map(|(value, _)| value)
            .collect();
        assert_eq!(winners.len(), 1, "round {round}");
        assert_eq!(load(context, scope).await.as_ref(), Some(winners[0]));
        held = Some(winners[0].head);
    }
}

async fn a_value_lives_as_long_as_it_was_stored_for(
    context: &dyn Context,
    advance: &(dyn Fn(Duration) -> BoxFuture<'static, ()> + Sync),
) {
    let scope = "conformance:time";
    let (one, two) = (value("1", "one"), value("2", "two"));
    store(context, scope, None, &one, SHORT).await;
    advance(SHORT / 2).await;
    assert_eq!(load(context, scope).await.as_ref(), Some(&one));
    // A store starts its own time; a load does not.
    store(context, scope, Some(one.head), &two, SHORT).await;
    advance(SHORT * 3 / 4).await;
    assert_eq!(load(context, scope).await.as_ref(), Some(&two));
    advance(SHORT / 2).await;
    assert_eq!(load(context, scope).await, None);
    assert_eq!(
        store(context, scope, Some(two.head), &one, LONG).await,
        Stored::Lost
    );
    assert_eq!(store(context, scope, None, &one, LONG).await, Stored::Yes);
}

fn value(head: &str, body: &str) -> ContextValue {
    ContextValue {
        head: Digest::of(head),
        body: body.to_owned(),
    }
}

async fn load(context: &dyn Context, scope: &str) -> Option<ContextValue> {
    context.load(scope).await.unwrap()
}

async fn store(
    context: &dyn Context,
    scope: &str,
    expected: Option<Digest>,
    value: &ContextValue,
    ttl: Duration,
) -> Stored {
    context
        .store(scope, expected, value.clone(), ttl)
        .await
        .unwrap()
}
