//! What a plugin can import.
//!
//! Owns the list: the contract's own imports, and inert WASI 0.2. Whatever else a component asks for is missing, and all
//! of it is named at once. Never opens a file, an environment or a socket. Called by `engine.rs` once, and by `loading.rs`.

use wasmtime::{
    Engine, Result,
    component::{HasData, Linker, Resource},
};
use wasmtime_wasi::{
    cli::{WasiCli, WasiCliView},
    filesystem::{WasiFilesystem, WasiFilesystemView},
    p2::bindings as wasi,
    sockets::{WasiSockets, WasiSocketsView},
};

use super::{
    bindings::wharf::domain::{business, log, types},
    inert::HasInert,
    log::Level,
    state::{CallState, Stop, Transaction},
};
use crate::{
    core::ports::business::{RowSet, Sql, SqlFault, SqlValue},
    words::stopwatch::Stopwatch,
};

/// The contract's own imports.
const CONTRACT: [&str; 3] = [
    "wharf:domain/types@0.1.0",
    "wharf:domain/business@0.1.0",
    "wharf:domain/log@0.1.0",
];

/// The interfaces of WASI that every release of 0.2 has.
const WASI: [&str; 27] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];

/// Whether a plugin gets what stands under this name.
pub(super) fn is_offered(import: &str) -> bool {
    CONTRACT.contains(&import)
        || import.split_once('@').is_some_and(|(interface, version)| {
            version.strip_prefix("0.2.").is_some_and(is_number) && WASI.contains(&interface)
        })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// All imports, defined. The linker takes any 0.2 release of WASI for any other.
pub(super) fn linker(engine: &Engine) -> Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;

    types::add_to_linker::<_, HasCall>(l, |state| state)?;
    business::add_to_linker::<_, HasCall>(l, |state| state)?;
    log::add_to_linker::<_, HasCall>(l, |state| state)?;

    // What could wait, tell the time, be random or be heard.
    wasi::sync::io::poll::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::sync::io::streams::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::clocks::monotonic_clock::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::clocks::wall_clock::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::random::random::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::random::insecure::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::random::insecure_seed::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::cli::stdin::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::cli::stdout::add_to_linker::<_, HasInert>(l, CallState::inert)?;
    wasi::cli::stderr::add_to_linker::<_, HasInert>(l, CallState::inert)?;

    // What finds nothing in an empty context: no variable, no argument, no terminal, no directory, no socket.
    wasi::io::error::add_to_linker::<_, HasTable>(l, |state| &mut state.table)?;
    wasi::cli::environment::add_to_linker::<_, WasiCli>(l, CallState::cli)?;
    wasi::cli::exit::add_to_linker::<_, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_input::add_to_linker::<_, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_output::add_to_linker::<_, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_stdin::add_to_linker::<_, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_stdout::add_to_linker::<_, WasiCli>(l, CallState::cli)?;
    wasi::cli::terminal_stderr::add_to_linker::<_, WasiCli>(l, CallState::cli)?;
    wasi::filesystem::preopens::add_to_linker::<_, WasiFilesystem>(l, CallState::filesystem)?;
    wasi::sync::filesystem::types::add_to_linker::<_, WasiFilesystem>(l, CallState::filesystem)?;
    wasi::sockets::instance_network::add_to_linker::<_, WasiSockets>(l, CallState::sockets)?;
    wasi::sockets::network::add_to_linker::<_, WasiSockets>(
        l,
        &Default::default(),
        CallState::sockets,
    )?;
    wasi::sockets::ip_name_lookup::add_to_linker::<_, WasiSockets>(l, CallState::sockets)?;
    wasi::sockets::tcp_create_socket::add_to_linker::<_, WasiSockets>(l, CallState::sockets)?;
    wasi::sync::sockets::tcp::add_to_linker::<_, WasiSockets>(l, CallState::sockets)?;
    wasi::sync::sockets::udp::add_to_linker::<_, WasiSockets>(l, CallState::sockets)?;
    wasi::sync::sockets::udp_create_socket::add_to_linker::<_, WasiSockets>(l, CallState::sockets)?;
    Ok(linker)
}

struct HasCall;

impl HasData for HasCall {
    type Data<'a> = &'a mut CallState;
}

struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut wasmtime::component::ResourceTable;
}

impl types::Host for CallState {}

impl business::Host for CallState {}

impl business::HostTransaction for CallState {
    fn query(
        &mut self,
        transaction: Resource<Transaction>,
        sql: String,
        parameters: Vec<business::Value>,
    ) -> Result<Result<business::RowSet, business::SqlError>> {
        let rows = self.statement(&transaction, parameters, |port, parameters| {
            port.query(&sql, parameters)
        })?;
        if let Ok(rows) = &rows {
            self.sql_rows += rows.rows.len() as u64;
        }
        Ok(rows.map(business::RowSet::from))
    }

    fn execute(
        &mut self,
        transaction: Resource<Transaction>,
        sql: String,
        parameters: Vec<business::Value>,
    ) -> Result<Result<u64, business::SqlError>> {
        let changed = self.statement(&transaction, parameters, |port, parameters| {
            port.execute(&sql, parameters)
        })?;
        if let Ok(changed) = &changed {
            self.sql_rows += changed;
        }
        Ok(changed)
    }

    fn drop(&mut self, transaction: Resource<Transaction>) -> Result<()> {
        // A plugin only ever borrows it, so the host alone gets here.
        self.table.delete(transaction)?;
        Ok(())
    }
}

impl CallState {
    /// One statement; a fatal failure ends the call.
    fn statement<T>(
        &mut self,
        transaction: &Resource<Transaction>,
        parameters: Vec<business::Value>,
        run: impl FnOnce(&dyn Sql, &[SqlValue]) -> Result<T, SqlFault>,
    ) -> Result<Result<T, business::SqlError>> {
        self.host_call()?;
        self.table.get(transaction)?;
        let Some(port) = self.sql.clone() else {
            return Err(wasmtime::Error::msg("no transaction is open"));
        };
        let parameters: Vec<SqlValue> = parameters.into_iter().map(SqlValue::from).collect();
        let watch = Stopwatch::start();
        let answer = run(&*port, &parameters);
        self.sql_time += watch.elapsed();
        match answer {
            Ok(answer) => Ok(Ok(answer)),
            Err(SqlFault::Denied(text)) => Ok(Err(business::SqlError::Denied(text))),
            Err(SqlFault::Constraint(text)) => Ok(Err(business::SqlError::Constraint(text))),
            Err(SqlFault::Limit(text)) => Ok(Err(business::SqlError::Limit(text))),
            Err(SqlFault::Failed(text)) => Ok(Err(business::SqlError::Failed(text))),
            Err(SqlFault::Fatal(error)) => Err(self.stop(Stop::Fatal(error))),
        }
    }
}

impl log::Host for CallState {
    fn write(&mut self, level: log::Level, message: String) -> Result<()> {
        self.host_call()?;
        let level = match level {
            log::Level::Debug => Level::Debug,
            log::Level::Info => Level::Info,
            log::Level::Warn => Level::Warn,
            log::Level::Error => Level::Error,
        };
        if self.log.message(level, &message) {
            Ok(())
        } else {
            Err(self.stop(Stop::Log))
        }
    }
}

impl From<business::Value> for SqlValue {
    fn from(value: business::Value) -> Self {
        match value {
            business::Value::Null => Self::Null,
            business::Value::Integer(value) => Self::Integer(value),
            business::Value::Real(value) => Self::Real(value),
            business::Value::Text(value) => Self::Text(value),
            business::Value::Blob(value) => Self::Blob(value),
        }
    }
}

impl From<SqlValue> for business::Value {
    fn from(value: SqlValue) -> Self {
        match value {
            SqlValue::Null => Self::Null,
            SqlValue::Integer(value) => Self::Integer(value),
            SqlValue::Real(value) => Self::Real(value),
            SqlValue::Text(value) => Self::Text(value),
            SqlValue::Blob(value) => Self::Blob(value),
        }
    }
}

impl From<RowSet> for business::RowSet {
    fn from(set: RowSet) -> Self {
        let cells = |row: Vec<SqlValue>| row.into_iter().map(business::Value::from).collect();
        Self {
            columns: set.columns,
            rows: set.rows.into_iter().map(cells).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_contract_and_wasi_0_2_are_offered() {
        for offered in [
            "wharf:domain/log@0.1.0",
            "wasi:cli/exit@0.2.0",
            "wasi:io/poll@0.2.99",
        ] {
            assert!(is_offered(offered), "{offered}");
        }
        for missing in [
            "wharf:domain/log@0.2.0",
            "wharf:domain/log",
            "wharf:domain/files@0.1.0",
            "wasi:cli/exit@0.3.0",
            "wasi:cli/exit@0.2.0-rc",
            "wasi:cli/exit",
            "wasi:http/outgoing-handler@0.2.0",
            "wasi:keyvalue/store@0.2.0",
            "env",
        ] {
            assert!(!is_offered(missing), "{missing}");
        }
    }
}
