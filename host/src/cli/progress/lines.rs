//! The display where nothing can be redrawn: a short line for each change, without escape codes.

use std::sync::{Mutex, PoisonError};

use wharf::{Progress, ProgressBody, core::view::StepState};

use super::{
    super::{escape::escaped, stderr, step_list::StepLine},
    scene::Scene,
};

/// Remembers what was said last.
#[derive(Default)]
pub(in super::super) struct Lines(Mutex<Option<Scene>>);

impl Lines {
    /// Something happened.
    pub(super) fn show(&self, progress: &Progress) {
        let ProgressBody::Record { view, .. } = &progress.body else {
            return;
        };
        let after = Scene::from(&**view);
        let mut before = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        say(&changes(before.as_ref(), &after));
        *before = Some(after);
    }

    /// The run was asked to stop.
    pub(super) fn cancelling(&self) {
        say(&["cancelling: what is running ends first; once more leaves at once".to_owned()]);
    }
}

fn say(lines: &[String]) {
    let text: String = lines
        .iter()
        .flat_map(|line| [line.as_str(), "\n"])
        .collect();
    if !text.is_empty() {
        stderr::write(&text);
    }
}

/// One line for each difference that a person cares about. What was done before this run is told in one line.
fn changes(before: Option<&Scene>, after: &Scene) -> Vec<String> {
    let Some(before) = before else {
        return vec![beginning(after)];
    };
    let mut lines = Vec::new();
    for version in before.plan_version + 1..=after.plan_version {
        let steps = after.steps.iter().filter(|step| step.version == version);
        let ids: Vec<String> = steps.map(|step| escaped(&step.id)).collect();
        lines.push(if ids.is_empty() {
            format!("plan {version}: accepted, no step")
        } else {
            format!("plan {version}: accepted: {}", ids.join(", "))
        });
    }
    for step in &after.steps {
        let same = |old: &&StepLine| (old.version, &old.id) == (step.version, &step.id);
        if before.steps.iter().find(same).map(|old| old.state) == Some(step.state) {
            continue;
        }
        let state = match step.state {
            // Whether it happened before a crash, the ledger says.
            StepState::Running if after.stage == "recover" => "looking for its effect",
            StepState::Running => "running",
            StepState::Completed => "completed",
            StepState::Declined => "declined",
            StepState::Failed => "failed",
            _ => continue,
        };
        lines.push(format!(
            "plan {}: {}: {state}",
            step.version,
            escaped(&step.id)
        ));
    }
    if before.stage != after.stage && !matches!(after.stage, "step" | "recover") {
        lines.push(stage(after));
    }
    lines
}

fn beginning(scene: &Scene) -> String {
    if scene.plan_version == 0 {
        return stage(scene);
    }
    let done = |step: &&StepLine| matches!(step.state, StepState::Completed | StepState::Declined);
    let of_newest = || {
        scene
            .steps
            .iter()
            .filter(|step| step.version == scene.plan_version)
    };
    format!(
        "going on in stage {}: plan {}, {} of {} steps done",
        scene.stage,
        scene.plan_version,
        of_newest().filter(done).count(),
        of_newest().count()
    )
}

fn stage(scene: &Scene) -> String {
    let (used, allowed) = scene.plans;
    match (scene.stage, scene.stop_reason) {
        ("plan", _) => format!("plan: asking, {used} of {allowed} attempts used"),
        ("done", Some(reason)) => format!("done: {reason}"),
        (stage, _) => stage.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_one_line_and_no_change_is_none() {
        let step = |state| StepLine {
            version: 1,
            id: "a".into(),
            tool: "t".into(),
            state,
        };
        let begun = Scene::begun();
        assert_eq!(changes(None, &begun), ["snapshot"]);
        let accepted = Scene {
            stage: "step",
            plan_version: 1,
            steps: vec![step(StepState::Pending)],
            ..Scene::begun()
        };
        assert_eq!(changes(Some(&begun), &accepted), ["plan 1: accepted: a"]);
        assert!(changes(Some(&accepted), &accepted).is_empty());
        let running = Scene {
            steps: vec![step(StepState::Running)],
            ..accepted.clone()
        };
        assert_eq!(changes(Some(&accepted), &running), ["plan 1: a: running"]);
        let done = Scene {
            stage: "done",
            status: "completed",
            stop_reason: Some("completed"),
            steps: vec![step(StepState::Completed)],
            ..accepted
        };
        assert_eq!(
            changes(Some(&running), &done),
            ["plan 1: a: completed", "done: completed"]
        );
        assert_eq!(
            changes(None, &running),
            ["going on in stage step: plan 1, 0 of 1 steps done"]
        );
    }
}
