//! Progress notifications: what a call says while it runs, for a client that asked to be told.
//!
//! A call may say more than a client can read, so at most one notification is on its way at a time, ten a second are sent, and
//! of what was said in between the last is told.

use std::{future::Future, pin::pin, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::{
    sync::watch,
    time::{Sleep, sleep},
};
use wharf::core::view::{StepState, View};

/// The pause after each notification.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes what a call says. Clones speak for the same call.
#[derive(Debug, Clone)]
pub(super) struct Teller(watch::Sender<Said>);

/// Hears what a call says, for its client.
#[derive(Debug)]
pub(super) struct Listener {
    said: watch::Receiver<Said>,
    /// How much of it the client was told.
    told: u32,
    /// None: the client did not ask to be told.
    client: Option<(Peer<RoleServer>, ProgressToken)>,
}

#[derive(Debug, Default)]
struct Said {
    /// How often something was said; what a client is told must grow.
    times: u32,
    last: String,
}

/// Both ends, for the call of this context.
pub(super) fn of_call(context: &RequestContext<RoleServer>) -> (Teller, Listener) {
    let (teller, said) = watch::channel(Said::default());
    let token = context.meta.get_progress_token();
    let client = token.map(|token| (context.peer.clone(), token));
    let listener = Listener {
        said,
        told: 0,
        client,
    };
    (Teller(teller), listener)
}

impl Teller {
    /// Returns at once.
    pub(super) fn tell(&self, line: impl Into<String>) {
        self.0.send_modify(|said| {
            said.times += 1;
            said.last = line.into();
        });
    }
}

impl Listener {
    /// Waits for a call and tells its client what it says meanwhile. What it said last is told before it is answered.
    pub(super) async fn hear<T>(mut self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        let mut pause: Option<std::pin::Pin<Box<Sleep>>> = None;
        loop {
            let pausing = pause.is_some();
            tokio::select! {
                biased;
                answer = &mut call => {
                    // Whoever said it is gone by now, which is no reason to pass it over.
                    let said = self.said.borrow().times;
                    if said > self.told {
                        self.notify().await;
                    }
                    return answer;
                }
                () = over(&mut pause), if pausing => pause = None,
                Ok(()) = self.said.changed(), if !pausing && self.client.is_some() => {
                    self.notify().await;
                    pause = Some(Box::pin(sleep(PAUSE)));
                }
            }
        }
    }

    async fn notify(&mut self) {
        let Some((peer, token)) = &self.client else {
            return;
        };
        let notification = {
            let said = self.said.borrow_and_update();
            self.told = said.times;
            ProgressNotificationParam::new(token.clone(), said.times.into())
                .with_message(said.last.clone())
        };
        // A client that is gone needs no notification.
        let _ = peer.notify_progress(notification).await;
    }
}

async fn over(pause: &mut Option<std::pin::Pin<Box<Sleep>>>) {
    if let Some(pause) = pause {
        pause.as_mut().await;
    }
}

/// Where a task stands, in one line.
pub(super) fn line(view: &View) -> String {
    let of_newest = || {
        view.steps
            .iter()
            .filter(|step| step.version == view.plan_version)
    };
    let done = of_newest()
        .filter(|step| matches!(step.state, StepState::Completed | StepState::Declined))
        .count();
    match (view.stop_reason, view.plan_version) {
        (Some(reason), _) => format!("{}: {reason}", view.stage),
        (None, 0) => view.stage.to_owned(),
        (None, version) => format!(
            "{}: plan {version}, {done} of {} steps done",
            view.stage,
            of_newest().count()
        ),
    }
}
