//! Whatever the world does, folding the journal gives the live state, and counters stay within their limits.

use proptest::prelude::*;

use super::*;

/// What the world does next, chosen at random.
#[derive(Debug, Clone, Copy)]
enum World {
    Good,
    Change,
    Lose,
    Refuse,
    Crash,
    Pause(u16),
}

fn world() -> impl Strategy<Value = World> {
    prop_oneof![
        6 => Just(World::Good),
        2 => Just(World::Change),
        1 => Just(World::Lose),
        1 => Just(World::Refuse),
        2 => Just(World::Crash),
        1 => (1..200_u16).prop_map(World::Pause),
    ]
}

/// Lets the world do one thing to a task that is not finished.
fn happen(task: &mut Task, world: World, turn: usize) {
    if let World::Pause(seconds) = world {
        task.pause(seconds.into());
        return;
    }
    match task.machine.next() {
        Next::Interrupted(_) => task.resume(),
        Next::Done | Next::Wait => (),
        Next::Run(_) | Next::RunAt(..) => {
            let stage = task.intend();
            if matches!(world, World::Crash) {
                task.resume();
                return;
            }
            let name = format!("op{turn}");
            let correlation = task.machine.position().sequence;
            let outcome = |outcome| {
                to_value(&Performance {
                    correlation,
                    outcome,
                })
            };
            match (&*stage, world) {
                (stages::SNAPSHOT, _) => task.finish(
                    0,
                    1,
                    to_value(&Seen::Snapshot(JsonText::of(&json!({ "turn": turn })))),
                ),
                (stages::PLAN, World::Lose) => {
                    let answer = Answer::Failed {
                        code: "x".to_owned(),
                        message: "x".to_owned(),
                        retryable: true,
                        // Every other time the run itself tries again.
                        retry_after_millis: turn.is_multiple_of(2).then_some(1_000),
                    };
                    task.finish(stages::ANSWER_AT, 4, to_value(&answer));
                }
                (stages::PLAN, world) => {
                    let violations = if matches!(world, World::Refuse) {
                        refused()
                    } else {
                        Vec::new()
                    };
                    let answer = text(&plan(&["a", "b", "c"]));
                    let outputs = vec![
                        Value::Null,
                        Value::Null,
                        to_value(&answer),
                        to_value(&Checked { violations }),
                    ];
                    task.record(Event::Finished {
                        outputs,
                        calls: Vec::new(),
                    });
                }
                (stages::STEP, World::Change) => task.finish(1, 4, outcome(Some(changed()))),
                (stages::STEP, World::Lose) => task.finish(1, 4, outcome(Some(unknown(&name)))),
                (stages::STEP, World::Refuse) => task.finish(
                    1,
                    4,
                    outcome(Some(Outcome::Rejected {
                        message: "no".to_owned(),
                    })),
                ),
                (stages::STEP, _) => task.finish(1, 4, outcome(Some(done(&name)))),
                (stages::RECOVER, World::Change) => task.finish(0, 2, outcome(None)),
                (stages::RECOVER, _) => task.finish(0, 2, outcome(Some(done(&name)))),
                (stages::CONCLUDE, World::Refuse) => task.finish(
                    2,
                    3,
                    to_value(&Concluded::Refused {
                        violations: refused(),
                    }),
                ),
                (stages::CONCLUDE, _) => task.finish(2, 3, to_value(&fulfilled())),
                _ => task.finish(0, 1, Value::Null),
            }
        }
    }
}

proptest! {
    #[test]
    fn folding_a_journal_gives_the_live_state(turns in proptest::collection::vec(world(), 0..60), plans in 1..5_u32, actions in 0..8_u32) {
        let mut task = Task::forgiving(1, plans, actions, 600);
        let mut before = task.state().view().usage;
        for (turn, world) in turns.into_iter().enumerate() {
            happen(&mut task, world, turn);
            let usage = task.state().view().usage;
            prop_assert!(usage.model_calls <= plans && usage.action_calls <= actions, "a counter exceeds its limit");
            prop_assert!(usage.model_calls >= before.model_calls && usage.action_calls >= before.action_calls, "a counter went back");
            before = usage;
            let origin = Machine::new(TaskState::new(Arc::clone(&task.request)), task.request.fingerprint());
            let folded = origin.fold(&task.stored).unwrap();
            prop_assert_eq!(format!("{:?}", folded.state()), format!("{:?}", task.state()));
            prop_assert_eq!(folded.next(), task.machine.next());
        }
    }

    #[test]
    fn whatever_happens_a_task_ends_within_its_graph_budget(turns in proptest::collection::vec(world(), 0..40)) {
        let mut task = Task::new();
        for (turn, world) in turns.into_iter().enumerate() {
            happen(&mut task, world, turn);
        }
        let mut turn = 1000;
        while task.machine.next() != Next::Done {
            happen(&mut task, World::Good, turn);
            turn += 1;
            prop_assert!(task.machine.graphs() < crate::core::driver::GRAPH_BUDGET);
        }
    }
}
