//! Asks the host to write 2^64 - 1 zeroes to standard output for it. The call ends; the host does not even try.

use hostile::{Guest, Task, Violation};

struct Attack;
hostile::export!(Attack);

impl Guest for Attack {
    fn check_task(_: &Task) -> Result<String, Vec<Violation>> {
        let written = wasip2::cli::stdout::get_stdout().blocking_write_zeroes_and_flush(u64::MAX);
        Ok(format!("{written:?}"))
    }
}
