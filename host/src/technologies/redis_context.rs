//! The Context in a Redis: shared by processes and machines, and still only temporary.
//!
//! Owns the connection, the form of keys and values, and the time that an answer may take. It never decides whether a value
//! is worth anything, never keeps one, and never asks a second time, save where a connection kept from earlier turns out to
//! be dead. Called by the core through [`Context`].
//!
//! A key is `wharf:` and the scope, which begins with the workspace's id. A value is a string: the journal head as 64
//! hexadecimal digits, a line's end, the body. It is read by one `GETRANGE`, so that not even a foreign value of half a
//! gigabyte is taken over the wire, and replaced by one script, which compares the head first.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _};
use redis::{
    AsyncConnectionConfig, Client, Cmd, RedisResult, Script, ScriptInvocation, Value,
    aio::MultiplexedConnection,
};
use tokio::{
    runtime::{Handle, Id},
    sync::Mutex,
    time::timeout,
};

use super::{
    embedded_context::ContextTooLarge,
    redis_address::RedisAddress,
    redis_fault::{RedisFault, ends_connection},
};
use crate::{
    core::ports::context::{Context, ContextValue, Stored},
    words::{digest::Digest, error::Error, escape::escaped},
};

#[cfg(test)]
mod tests;

/// The most time that one load or store takes, connecting included. The port promises five seconds to whoever waits.
const PATIENCE: Duration = Duration::from_secs(3);

/// Of which a connection that was kept may take so much, before a new one is tried.
const PATIENCE_WITH_KEPT: Duration = Duration::from_secs(1);

/// The most bytes of a value: 16 MiB.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Longer than anybody waits; what is beyond, Redis cannot count.
const MOST_TTL: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The digits of a head and the line's end.
const HEADER: usize = 64 + 1;

/// KEYS: the key. ARGV: the head that must be there (empty: none), the value, its milliseconds to live.
/// `pcall` hands on the server's own error codes, which older servers bury in a text otherwise.
const STORE: &str = "
local found = redis.pcall('GETRANGE', KEYS[1], 0, 63)
if type(found) == 'table' then return found end
if found ~= ARGV[1] then return 0 end
local done
if ARGV[3] == '0' then
    done = redis.pcall('DEL', KEYS[1])
else
    done = redis.pcall('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
if type(done) == 'table' and done.err then return done end
return 1
";

/// Working sets in a Redis. Connects when it is first used, and again after a connection was lost. Needs a tokio runtime
/// with timers and sockets.
pub struct RedisContext {
    address: RedisAddress,
    client: Client,
    script: Script,
    kept: Mutex<Option<Kept>>,
    connections: AtomicU64,
}

impl RedisContext {
    /// One that has not connected yet.
    #[must_use]
    pub fn new(address: RedisAddress) -> Self {
        Self {
            client: address.client(),
            script: Script::new(STORE),
            address,
            kept: Mutex::default(),
            connections: AtomicU64::new(0),
        }
    }

    /// The version that the server says of itself; none where it says nothing, or the user may not ask.
    pub(super) async fn server_version(&self) -> Option<String> {
        let mut info = redis::cmd("INFO");
        info.arg("server");
        let answer = self.ask("", &Question::Command(&info)).await.ok()?;
        let Value::BulkString(text) = answer else {
            return None;
        };
        let text = String::from_utf8(text).ok()?;
        let version = text
            .lines()
            .find_map(|line| line.strip_prefix("redis_version:"))?;
        Some(escaped(version.trim_end()))
    }

    /// It does not hold what it has just taken.
    pub(super) fn forgetful(&self) -> RedisFault {
        RedisFault::Refused {
            place: self.address.to_string(),
            words: "it did not hold what it had taken a moment before".into(),
        }
    }

    async fn load_now(&self, scope: &str) -> Result<Option<ContextValue>, RedisFault> {
        let key = key(scope);
        let mut get = redis::cmd("GETRANGE");
        get.arg(&key).arg(0).arg(MOST_BYTES);
        match self.ask(&key, &Question::Command(&get)).await? {
            Value::BulkString(bytes) if bytes.is_empty() => Ok(None),
            Value::BulkString(bytes) => self.read(&key, bytes).map(Some),
            _ => Err(self.no_such_answer()),
        }
    }

    async fn store_now(
        &self,
        scope: &str,
        expected: Option<Digest>,
        value: ContextValue,
        ttl: Duration,
    ) -> Result<Stored, Error> {
        let size = HEADER + value.body.len();
        if size > MOST_BYTES {
            return Err(ContextTooLarge {
                size,
                allowed: MOST_BYTES,
            }
            .into());
        }
        let key = key(scope);
        let expected = expected.map_or_else(String::new, |head| head.to_string());
        let mut invocation = self.script.key(&key);
        invocation
            .arg(expected)
            .arg(format!("{}\n{}", value.head, value.body))
            .arg(ttl.min(MOST_TTL).as_millis().to_string());
        match self.ask(&key, &Question::Script(&invocation)).await? {
            Value::Int(1) => Ok(Stored::Yes),
            Value::Int(0) => Ok(Stored::Lost),
            _ => Err(self.no_such_answer().into()),
        }
    }

    fn no_such_answer(&self) -> RedisFault {
        RedisFault::OtherProtocol {
            place: self.address.to_string(),
        }
    }

    fn read(&self, key: &str, bytes: Vec<u8>) -> Result<ContextValue, RedisFault> {
        let foreign = |why: &str| RedisFault::Foreign {
            place: self.address.to_string(),
            key: escaped(key),
            why: why.to_owned(),
        };
        if bytes.len() > MOST_BYTES {
            return Err(foreign("it is larger than any working set"));
        }
        let text = String::from_utf8(bytes).map_err(|_| foreign("it is not text"))?;
        let head = text.split_once('\n').and_then(|(head, body)| {
            let head = head.parse().ok()?;
            Some((head, body.to_owned()))
        });
        let (head, body) = head.ok_or_else(|| foreign("it does not begin with a journal head"))?;
        Ok(ContextValue { head, body })
    }

    /// Puts a question and waits for its answer, no longer than [`PATIENCE`].
    async fn ask(&self, key: &str, question: &Question<'_>) -> Result<Value, RedisFault> {
        match timeout(PATIENCE, self.ask_patiently(question)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(RedisFault::of(&self.address, key, &error)),
            Err(_) => {
                // Whoever comes next shall not wait behind this question. Where somebody holds the lock, there is
                // nothing to forget: they are connecting.
                if let Ok(mut kept) = self.kept.try_lock() {
                    *kept = None;
                }
                Err(RedisFault::Silent {
                    place: self.address.to_string(),
                    waited: PATIENCE,
                })
            }
        }
    }

    /// On the connection that was kept, if there is one; on a new one, if there is none or it is dead. A server, a firewall
    /// or the end of a runtime may have ended it since it was last used, which is no failure of the server.
    async fn ask_patiently(&self, question: &Question<'_>) -> RedisResult<Value> {
        let (kept, is_new) = self.connection().await?;
        if is_new {
            return self.ask_on(&kept, question).await;
        }
        match timeout(PATIENCE_WITH_KEPT, self.ask_on(&kept, question)).await {
            Ok(Err(error)) if ends_connection(&error) => (),
            Ok(answer) => return answer,
            Err(_) => self.forget(&kept).await,
        }
        // To ask twice is harmless: a store that was done after all is then refused by its own comparison, and to lose that
        // is no failure.
        let (connection, _) = self.connection().await?;
        self.ask_on(&connection, question).await
    }

    async fn ask_on(&self, kept: &Kept, question: &Question<'_>) -> RedisResult<Value> {
        let mut connection = kept.connection.clone();
        let answer = match question {
            Question::Command(command) => command.query_async(&mut connection).await,
            Question::Script(script) => script.invoke_async(&mut connection).await,
        };
        if answer.as_ref().is_err_and(ends_connection) {
            self.forget(kept).await;
        }
        answer
    }

    /// The connection that was kept, else a new one, which is then kept; and whether it is new. Of many who want one, one
    /// connects.
    async fn connection(&self) -> RedisResult<(Kept, bool)> {
        let runtime = Handle::current().id();
        let mut kept = self.kept.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.runtime == runtime) {
            return Ok((kept.clone(), false));
        }
        // Time is kept here, over everything together.
        let settings = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None);
        let connection = self
            .client
            .get_multiplexed_async_connection_with_config(&settings)
            .await?;
        let new = Kept {
            connection,
            runtime,
            number: self.connections.fetch_add(1, Ordering::Relaxed),
        };
        *kept = Some(new.clone());
        Ok((new, true))
    }

    async fn forget(&self, lost: &Kept) {
        let mut kept = self.kept.lock().await;
        if kept.as_ref().is_some_and(|kept| kept.number == lost.number) {
            *kept = None;
        }
    }
}

impl Context for RedisContext {
    fn load<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Option<ContextValue>, Error>> {
        async move { Ok(self.load_now(scope).await?) }.boxed()
    }

    fn store<'a>(
        &'a self,
        scope: &'a str,
        expected: Option<Digest>,
        value: ContextValue,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Stored, Error>> {
        self.store_now(scope, expected, value, ttl).boxed()
    }
}

impl fmt::Debug for RedisContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedisContext").field(&self.address).finish()
    }
}

enum Question<'a> {
    Command(&'a Cmd),
    Script(&'a ScriptInvocation<'a>),
}

/// A connection and the runtime that drives it: in another one it would never answer.
#[derive(Clone)]
struct Kept {
    connection: MultiplexedConnection,
    runtime: Id,
    number: u64,
}

fn key(scope: &str) -> String {
    format!("wharf:{scope}")
}
