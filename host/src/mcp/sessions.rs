//! The sessions of HTTP clients: the SDK's own, but not more than there may be.
//!
//! A client that vanishes leaves its session behind. So where there is no room for another one, the one that was longest without
//! a message ends; its client, if it still is there, is told that the session is gone, and begins anew.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

/// The most sessions at once.
pub(super) const MAX_SESSIONS: usize = 64;
/// How long a session stays without a message in either direction: longer than any task may run.
const IDLE: Duration = Duration::from_secs(2 * 3600);

/// At most [`MAX_SESSIONS`] sessions.
pub(super) struct BoundedSessions {
    sessions: LocalSessionManager,
    used: Mutex<Used>,
}

/// When each session was used last, counted in uses of any.
#[derive(Debug, Default)]
struct Used {
    uses: u64,
    last: HashMap<SessionId, u64>,
}

impl BoundedSessions {
    pub(super) fn new() -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE);
        Self {
            sessions,
            used: Mutex::default(),
        }
    }

    fn touch(&self, id: &SessionId) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.uses += 1;
        let uses = used.uses;
        used.last.insert(id.clone(), uses);
    }

    /// Makes room for one more.
    async fn make_room(&self) -> Result<(), LocalSessionManagerError> {
        let open: Vec<SessionId> = self
            .sessions
            .sessions
            .read()
            .await
            .keys()
            .cloned()
            .collect();
        let oldest = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.last.retain(|id, _| open.contains(id));
            let last = |id: &&SessionId| used.last.get(*id).copied();
            open.iter().min_by_key(last).cloned()
        };
        match oldest {
            Some(oldest) if open.len() >= MAX_SESSIONS => {
                tracing::warn!(
                    limit = MAX_SESSIONS,
                    "too many sessions; the one that was longest without a message ends"
                );
                self.sessions.close_session(&oldest).await
            }
            _ => Ok(()),
        }
    }
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.make_room().await?;
        let created = self.sessions.create_session().await?;
        self.touch(&created.0);
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.sessions.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let has = self.sessions.has_session(id).await?;
        if has {
            self.touch(id);
        }
        Ok(has)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.sessions.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.sessions.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.sessions.resume(id, last_event_id).await
    }
}
