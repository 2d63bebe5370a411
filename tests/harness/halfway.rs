//! A task that has completed two steps of four, and what becomes of it: for whoever gets in its way.

use std::sync::LazyLock;

use super::{Wharf, Workspace, command::wharf, demo};

/// The task; not to be changed, nor its databases opened: a copy would then hold what SQLite keeps beside them. What remains of it is a step that the environment refuses, a second plan, and its two steps.
pub static HALFWAY: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::new();
    let until_a_step = |run: Wharf| run.args(["--stop-after", "step"]).run().exits(12);
    let _ = until_a_step(demo::demo(&workspace, "price-change"));
    let _ = until_a_step(wharf("resume").dir(workspace.path()));
    workspace
});

/// What it has done to its business in the end.
pub static EFFECTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let workspace = HALFWAY.copy();
    let _ = wharf("resume").dir(workspace.path()).run().exits(0);
    workspace.effects()
});

/// Once everything is mended, the task is completed, and each of its effects has happened once.
#[track_caller]
pub fn assert_goes_on(workspace: &Workspace) {
    let _ = wharf("resume").dir(workspace.path()).run().exits(0);
    assert_eq!(workspace.effects(), *EFFECTS);
    let _ = wharf("audit").dir(workspace.path()).run().exits(0);
}
