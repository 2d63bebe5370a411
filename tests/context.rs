//! The Context is temporary: what it lost is rebuilt, and nothing but a loss is taken for one.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use wharf::{
    Digest, Error, Kind, Outcome, Planner, RunOptions, Task,
    core::ports::context::{Context, ContextValue, Stored},
    words::error::{Facts, Fault},
};
use wharf_tests::{
    Workspace, changes,
    demo::{self, TASK},
    library::{self, Scripted},
    script::ready,
};

/// A Context that holds values, loses them, or breaks at a call that was chosen.
#[derive(Default)]
struct Fickle {
    values: Mutex<HashMap<String, ContextValue>>,
    calls: AtomicUsize,
    breaks_at: Option<usize>,
    forgets: bool,
    /// What it answers for a scope that nothing was stored under.
    left: Option<ContextValue>,
}

#[derive(Debug, thiserror::Error)]
#[error("the Context is out of order")]
struct OutOfOrder;

impl Fault for OutOfOrder {
    fn facts(&self) -> Facts {
        Facts::new("context-out-of-order", Kind::Unavailable, "repair it")
    }
}

impl Fickle {
    fn breaking_at(call: usize) -> Arc<Self> {
        Arc::new(Self {
            breaks_at: Some(call),
            ..Self::default()
        })
    }

    fn call(&self) -> Result<(), Error> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.breaks_at == Some(call) {
            Err(OutOfOrder.into())
        } else {
            Ok(())
        }
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

type Answered<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

impl Context for Fickle {
    fn load<'a>(&'a self, scope: &'a str) -> Answered<'a, Option<ContextValue>> {
        Box::pin(async move {
            self.call()?;
            let held = self.values.lock().unwrap().get(scope).cloned();
            Ok(held.or_else(|| self.left.clone()))
        })
    }

    fn store<'a>(
        &'a self,
        scope: &'a str,
        expected: Option<Digest>,
        value: ContextValue,
        _ttl: Duration,
    ) -> Answered<'a, Stored> {
        Box::pin(async move {
            self.call()?;
            let mut values = self.values.lock().unwrap();
            let held = values.get(scope).or(self.left.as_ref());
            if held.map(|value| value.head) != expected {
                return Ok(Stored::Lost);
            }
            if !self.forgets {
                values.insert(scope.to_owned(), value);
            }
            Ok(Stored::Yes)
        })
    }
}

/// One run of the price-change scenario, from its beginning or from where it stands.
fn run(workspace: &Workspace, context: &Arc<Fickle>) -> Result<Value, Error> {
    let host = library::builder(workspace.path())
        .context(Arc::clone(context) as _)
        .build()
        .unwrap();
    let task = if workspace.path().exists() {
        Task::Saved(TASK.parse().unwrap())
    } else {
        demo::task("price-change")
    };
    match library::run(&host, Planner::Search, task, RunOptions::default())? {
        Outcome::Finished(finished) => Ok(serde_json::from_str(&finished.report).unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_context_that_fails_ends_the_run_and_one_that_is_lost_is_rebuilt() {
    let sound = Arc::new(Fickle::default());
    let expected = run(&Workspace::new(), &sound).unwrap();
    assert_eq!(expected["status"], "completed");
    // A look at the beginning; for each of the two plans a load and a store before its attempt is reserved, and a load after.
    assert_eq!(sound.calls(), 7);
    let attempts = |report: &Value| report["usage"]["modelCalls"].as_u64().unwrap();

    // Whichever call fails, the run ends with that failure; nothing is done without the Context, and the next run goes on.
    for call in 1..=sound.calls() {
        let workspace = Workspace::new();
        let error = run(&workspace, &Fickle::breaking_at(call)).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            ("context-out-of-order", Kind::Unavailable)
        );
        assert!(!workspace.output(TASK, "report.json").exists());
        let report = if call == 1 {
            // The probe before the admitted record: there is no task yet.
            assert_eq!(workspace.journal(TASK), []);
            assert_eq!(workspace.ledger(), []);
            continue;
        } else {
            run(&workspace, &sound).unwrap()
        };
        assert_eq!(report["result"], expected["result"], "call {call}");
        assert_eq!(report["plans"], expected["plans"]);
        assert_eq!(
            report["usage"]["actionCalls"],
            expected["usage"]["actionCalls"]
        );
        let lost = u64::from([4, 7].contains(&call));
        assert_eq!(attempts(&report), attempts(&expected) + lost, "call {call}");
    }

    // One that keeps nothing is no failure.
    let forgetful = Arc::new(Fickle {
        forgets: true,
        ..Fickle::default()
    });
    let report = run(&Workspace::new(), &forgetful).unwrap();
    assert_eq!(report["plans"], expected["plans"]);
    assert_eq!(report["result"], expected["result"]);
}

#[test]
fn a_context_that_does_not_answer_at_the_beginning_leaves_a_saved_task_as_it_is() {
    let workspace = Workspace::new();
    let mut options = RunOptions::default();
    options.stop_after = Some(wharf::Checkpoint::Step);
    let host = library::host(workspace.path());
    library::run(&host, Planner::Search, demo::task("price-change"), options).unwrap();
    drop(host);
    let before = workspace.content();
    let error = run(&workspace, &Fickle::breaking_at(1)).unwrap_err();
    assert_eq!(error.code(), "context-out-of-order");
    assert_eq!(changes(&before, &workspace.content()), [""; 0]);
}

#[test]
fn a_working_set_of_another_moment_counts_as_lost() {
    let workspace = Workspace::new();
    let stale = ContextValue {
        head: Digest::of(b"another journal"),
        body: r#"{"goal":"Do something else."}"#.to_owned(),
    };
    let context = Arc::new(Fickle {
        left: Some(stale.clone()),
        ..Fickle::default()
    });
    let model = Scripted::saying([ready(&[
        "reserve_stock",
        "pack_order",
        "ship_standard",
        "read_receipt",
    ])]);
    let host = library::builder(workspace.path())
        .context(Arc::clone(&context) as _)
        .build()
        .unwrap();
    library::finish(&host, model.planner(), demo::task("stable"));
    assert_eq!(model.asked()[0]["goal"], demo::request()["goal"]);
    let values = context.values.lock().unwrap();
    let heads: Vec<_> = values.values().map(|value| value.head).collect();
    assert_eq!(heads.len(), 1);
    assert_ne!(heads[0], stale.head);
}

#[test]
fn workspaces_that_share_a_context_do_not_meet_in_it() {
    let context = Arc::new(Fickle::default());
    let workspaces = [Workspace::new(), Workspace::new()];
    for workspace in &workspaces {
        assert_eq!(run(workspace, &context).unwrap()["status"], "completed");
    }
    let values = context.values.lock().unwrap();
    let mut scopes: Vec<_> = values.keys().cloned().collect();
    let mut expected = workspaces.map(|workspace| {
        let id = workspace.select("SELECT id FROM wharf_workspace");
        format!("{}:plan-execute:demo:operator:{TASK}", id[0])
    });
    scopes.sort();
    expected.sort();
    assert_eq!(scopes, expected);
}
