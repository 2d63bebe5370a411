//! `wharf resume`: goes on with a saved task.

use std::path::Path;

use wharf::{
    Error, Task, TaskId, host,
    words::clock::{Clock as _, SystemClock},
};

use super::{Session, agent, answer::Reply, args::ResumeArgs, drive::drive, error::CliError};

/// Goes on with the task that is named, or with the one that is meant.
pub(super) fn run(session: &Session, arguments: &ResumeArgs) -> Result<Reply, Error> {
    let way = arguments.way.resolve(&session.environment)?;
    let task = match &arguments.task {
        Some(task) => task.clone(),
        None => meant(&arguments.dir)?,
    };
    let status = host::status(&arguments.dir, &task, SystemClock.now());
    match status {
        Ok(status) if status.view.agent.is_some() => {
            if way.stop_after.is_some() {
                return Err(CliError::NoCheckpoint { task }.into());
            }
            agent::resume(session, &arguments.dir, task, &way.means)
        }
        // Whatever is wrong with the task, the run finds and says.
        _ => drive(session, &arguments.dir, Task::Saved(task), way),
    }
}

fn meant(directory: &Path) -> Result<TaskId, Error> {
    let tasks = host::tasks(directory)?;
    let now = SystemClock.now();
    let choice = choose(&tasks, |task| {
        Ok(host::status(directory, task, now)?.view.stage == "done")
    })?;
    let directory = directory.to_owned();
    Ok(choice.cloned().ok_or_else(|| match tasks.len() {
        0 => CliError::NoTask { directory },
        tasks => CliError::AllFinished { directory, tasks },
    })?)
}

/// The only task, else the newest that is not finished. `tasks` are in order of admission.
fn choose(
    tasks: &[TaskId],
    is_finished: impl Fn(&TaskId) -> Result<bool, Error>,
) -> Result<Option<&TaskId>, Error> {
    if let [only] = tasks {
        return Ok(Some(only));
    }
    for task in tasks.iter().rev() {
        if !is_finished(task)? {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(tasks: &[&str], finished: &[&str]) -> Option<String> {
        let tasks: Vec<TaskId> = tasks.iter().map(|id| id.parse().unwrap()).collect();
        choose(&tasks, |task| Ok(finished.contains(&task.as_str())))
            .unwrap()
            .map(ToString::to_string)
    }

    #[test]
    fn the_only_task_is_taken_even_if_it_is_finished() {
        assert_eq!(chosen(&["a"], &["a"]).as_deref(), Some("a"));
    }

    #[test]
    fn of_several_the_newest_unfinished_one_is_taken() {
        assert_eq!(chosen(&["a", "b", "c"], &["c"]).as_deref(), Some("b"));
        assert_eq!(chosen(&["a", "b"], &["a", "b"]), None);
        assert_eq!(chosen(&[], &[]), None);
    }
}
