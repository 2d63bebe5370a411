//! Looks for variables, arguments and a terminal. There are none.

use std::env;
use std::io::{self, IsTerminal as _};

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        Ok(format!(
            "variables {} arguments {} terminal {}",
            env::vars_os().count(),
            env::args_os().count(),
            io::stdout().is_terminal() || io::stdin().is_terminal() || io::stderr().is_terminal(),
        ))
    }
}
