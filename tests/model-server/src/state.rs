//! What the server's thread and the test share.
//!
//! Owns the replies still to be given and the record of what came; takes the next reply in the same moment in which a request is
//! recorded, so that the two orders are one.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{reply::Reply, request::Received};

#[derive(Debug)]
pub(crate) struct State {
    record: Mutex<Record>,
    changed: Condvar,
}

#[derive(Debug)]
struct Record {
    replies: VecDeque<Reply>,
    models: Option<Vec<String>>,
    received: Vec<Received>,
    closed: Vec<bool>,
}

/// A connection's place in the record. Dropped, it is closed.
#[derive(Debug)]
pub(crate) struct Seat {
    state: Arc<State>,
    connection: usize,
}

impl State {
    pub(crate) fn new(replies: Vec<Reply>) -> Self {
        Self {
            record: Mutex::new(Record {
                replies: replies.into(),
                models: None,
                received: Vec::new(),
                closed: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// A place for a new connection.
    pub(crate) fn seat(state: &Arc<Self>) -> Seat {
        let mut record = state.record();
        record.closed.push(false);
        Seat {
            state: Arc::clone(state),
            connection: record.closed.len() - 1,
        }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.record().received.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.record().closed.len()
    }

    pub(crate) fn push(&self, reply: Reply) {
        self.record().replies.push_back(reply);
    }

    pub(crate) fn set_models(&self, ids: Vec<String>) {
        self.record().models = Some(ids);
    }

    pub(crate) fn wait_for(&self, requests: usize, timeout: Duration) -> bool {
        self.wait(timeout, |record| record.received.len() >= requests)
    }

    pub(crate) fn wait_closed(&self, connection: usize, timeout: Duration) -> bool {
        self.wait(timeout, |record| {
            record.closed.get(connection) == Some(&true)
        })
    }

    fn wait(&self, timeout: Duration, reached: impl Fn(&Record) -> bool) -> bool {
        let (_record, outcome) = self
            .changed
            .wait_timeout_while(self.record(), timeout, |record| !reached(record))
            .unwrap_or_else(PoisonError::into_inner);
        !outcome.timed_out()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// The number of the connection, from 0.
    pub(crate) fn connection(&self) -> usize {
        self.connection
    }

    /// Records a request and gives the reply to it.
    pub(crate) fn reply(&self, request: &Received) -> Reply {
        let reply = {
            let mut record = self.state.record();
            record.received.push(request.clone());
            match record.models.as_deref() {
                Some(ids) if request.asks_for_models() => models(ids),
                _ => record.replies.pop_front().unwrap_or_else(no_more_replies),
            }
        };
        self.state.changed.notify_all();
        reply.resolved(request)
    }

    /// Records that the client sends no more.
    pub(crate) fn close(&self) {
        self.state.record().closed[self.connection] = true;
        self.state.changed.notify_all();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.close();
    }
}

fn models(ids: &[String]) -> Reply {
    let data: Vec<Value> = ids
        .iter()
        .map(|id| {
            json!({ "id": id, "object": "model", "created": crate::chat::CREATED, "owned_by": "model-server" })
        })
        .collect();
    Reply::json(200, &json!({ "object": "list", "data": data }))
}

fn no_more_replies() -> Reply {
    Reply::error(500, "no more replies")
}
