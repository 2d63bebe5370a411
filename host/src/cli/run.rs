//! `wharf run`: one task of any domain.

use wharf::{
    Error, Request, Task, core::request::REQUEST_BOUNDS,
    technologies::admission::MAX_COMPONENT_BYTES,
};

use super::{Session, answer::Reply, args::RunArgs, drive::drive, input};

/// Reads everything that is handed in, then runs it. What is wrong with any of it is found before anything is written: here
/// what is no request or no script, in the host what does not fit together.
pub(super) fn run(session: &Session, arguments: &RunArgs) -> Result<Reply, Error> {
    let request = Request::read(&input::text(
        "request",
        &arguments.request,
        REQUEST_BOUNDS.bytes,
    )?)?;
    let component = input::bytes("component", &arguments.plugin, MAX_COMPONENT_BYTES)?;
    let seed = arguments
        .seed
        .as_deref()
        .map(|path| input::text("seed", path, input::MAX_SQL_BYTES))
        .transpose()?;
    let way = arguments.way.resolve(&session.environment)?;
    let task = Task::new(request, component);
    let task = match seed {
        Some(sql) => task.with_seed(sql),
        None => task,
    };
    drive(session, &arguments.dir, task, way)
}
