//! Whether a Redis can hold working sets, and how fast it answers.
//!
//! Does what a run does, under a scope that no task has, and leaves nothing. Called by the doctor.

use std::time::Duration;

use super::redis_context::RedisContext;
use crate::{
    core::ports::context::{Context as _, ContextValue, Stored},
    words::{
        digest::Digest,
        error::Error,
        id::RunId,
        stopwatch::{Stopwatch, median_and_longest},
    },
};

/// How many round trips are measured.
const ROUND_TRIPS: usize = 15;

/// What was measured.
#[derive(Debug, Clone)]
pub struct RedisTimes {
    /// The server's own version, if the user may ask for it.
    pub version: Option<String>,
    /// From nothing to the first answer: name, connection, authentication, database, question.
    pub first_answer: Duration,
    /// The middle one of some questions on that connection.
    pub round_trip: Duration,
    /// One store through the script.
    pub store: Duration,
}

/// Connects, asks some times, stores a value and reads it again.
///
/// # Errors
/// As a run would meet them.
pub async fn redis_times(context: &RedisContext, run: RunId) -> Result<RedisTimes, Error> {
    let scope = format!("doctor:{run}");
    let watch = Stopwatch::start();
    context.load(&scope).await?;
    let first_answer = watch.elapsed();
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let watch = Stopwatch::start();
        context.load(&scope).await?;
        times.push(watch.elapsed());
    }
    let (round_trip, _) = median_and_longest(times).unwrap_or_default();
    let value = ContextValue {
        head: Digest::of(&scope),
        body: "{}".into(),
    };
    let head = value.head;
    let watch = Stopwatch::start();
    context
        .store(&scope, None, value.clone(), Duration::from_secs(60))
        .await?;
    let store = watch.elapsed();
    let held = context.load(&scope).await?;
    let removed = context
        .store(&scope, Some(head), value.clone(), Duration::ZERO)
        .await?;
    if held.as_ref() != Some(&value) || removed != Stored::Yes {
        return Err(context.forgetful().into());
    }
    Ok(RedisTimes {
        version: context.server_version().await,
        first_answer,
        round_trip,
        store,
    })
}
