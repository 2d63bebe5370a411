//! What follows from a model's answer, its failure and its absence.

use super::*;

fn failure(retry_after_millis: Option<u64>) -> Answer {
    Answer::Failed {
        code: "503".to_owned(),
        message: "busy".to_owned(),
        retryable: true,
        retry_after_millis,
    }
}

fn said(text: &str) -> Answer {
    Answer::Text {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
        usage: None,
    }
}

#[test]
fn a_lost_model_answer_is_reserved_anew_until_none_is_left() {
    let mut task = Task::with_budgets(2, 12, 600);
    task.see("white");
    task.intend();
    task.resume();
    assert_eq!(task.stop_reason(), None);
    task.intend();
    task.resume();
    assert_eq!(task.stop_reason(), Some(StopReason::MaxPlans));
    assert_eq!(task.publish()["usage"]["modelCalls"], 2);
}

#[test]
fn a_failing_model_ends_the_run_and_not_the_task() {
    let mut task = Task::new();
    task.see("white");
    task.answer(&failure(None), Vec::new());
    assert!(matches!(task.machine.next(), Next::Interrupted(failure) if failure.retryable));
    task.resume();
    task.plan(&["paint"]);
    assert_eq!(task.state().answers(), 2);
    assert_eq!(task.state().view().usage.model_calls, 2);
}

#[test]
fn a_model_that_asks_for_it_is_tried_again_in_the_same_run_and_each_attempt_is_charged() {
    let mut task = Task::with_budgets(3, 12, 600);
    task.see("white");
    task.answer(&failure(Some(1_500)), Vec::new());
    let moment = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(1_500);
    assert!(matches!(task.machine.next(), Next::RunAt(at, _) if at == moment));
    assert_eq!(task.state().view().retry_at, Some(moment));
    assert_eq!(task.state().failures(), 1);
    // A kill while it waits does not shorten the wait; the next run counts its own failures.
    task.resume();
    assert!(matches!(task.machine.next(), Next::RunAt(at, _) if at == moment));
    assert_eq!(task.state().failures(), 0);
    task.answer(&failure(Some(2_000)), Vec::new());
    assert_eq!(task.state().failures(), 1);
    task.plan(&["paint"]);
    assert_eq!(task.state().failures(), 0);
    assert_eq!(task.state().view().retry_at, None);
    assert_eq!(task.state().view().usage.model_calls, 3);
}

#[test]
fn nobody_waits_for_an_attempt_that_the_budgets_do_not_have() {
    // No attempt is left.
    let mut task = Task::with_budgets(1, 12, 600);
    task.see("white");
    task.answer(&failure(Some(10)), Vec::new());
    assert!(matches!(task.machine.next(), Next::Interrupted(_)));
    // The deadline comes first.
    let mut task = Task::with_budgets(3, 12, 60);
    task.see("white");
    task.answer(&failure(Some(60_000)), Vec::new());
    assert!(matches!(task.machine.next(), Next::Interrupted(_)));
    // Longer than any clock counts.
    let mut task = Task::with_budgets(3, 12, 60);
    task.see("white");
    task.answer(&failure(Some(u64::MAX)), Vec::new());
    assert!(matches!(task.machine.next(), Next::Interrupted(_)));
}

#[test]
fn what_is_wrong_with_a_refused_plan_is_told_to_the_next_attempt() {
    let mut task = Task::forgiving(2, 4, 12, 600);
    task.see("white");
    task.answer(&said("no plan"), refused());
    let (head, set) = (task.state().material(), task.state().working_set());
    assert_eq!(head, task.machine.position().head);
    assert_eq!(set["refused"][0]["answer"], "no plan");
    assert_eq!(set["refused"][0]["violations"], json!(refused()));
    task.answer(&said(&"ä".repeat(10_000)), refused());
    let set = task.state().working_set();
    assert_eq!(
        set["refused"][1]["answer"].as_str().unwrap().len(),
        16 * 1024
    );
    task.plan(&["paint"]);
    // What was wrong with one plan is not held against the next.
    assert_eq!(task.state().working_set()["refused"], json!([]));
    assert_eq!(task.state().view().usage.invalid_plans, 2);
    task.perform(Outcome::EnvironmentChanged {
        message: "wet".to_owned(),
    });
    task.see("wet");
    // The two are used up, for the whole task.
    task.answer(&said("no plan"), refused());
    assert_eq!(task.stop_reason(), Some(StopReason::InvalidPlan));
    assert_eq!(task.publish()["details"], json!(refused()));
}

#[test]
fn the_last_attempt_tells_what_was_wrong_and_not_that_it_was_the_last() {
    let mut task = Task::forgiving(4, 1, 12, 600);
    task.see("white");
    task.answer(&said("no plan"), refused());
    assert_eq!(task.stop_reason(), Some(StopReason::InvalidPlan));
}

#[test]
fn tokens_are_added_up_where_they_are_told() {
    let mut task = Task::forgiving(1, 3, 12, 600);
    task.see("white");
    assert_eq!(task.state().view().tokens, None);
    for (prompt_tokens, completion_tokens) in [(100, 20), (u64::MAX, 5)] {
        let told = Answer::Text {
            text: plan(&["paint"]).to_string(),
            finish_reason: "stop".to_owned(),
            usage: Some(Usage {
                prompt_tokens,
                completion_tokens,
            }),
        };
        task.answer(&told, refused());
    }
    let sum = Usage {
        prompt_tokens: u64::MAX,
        completion_tokens: 25,
    };
    assert_eq!(task.state().view().tokens, Some(sum));
}
