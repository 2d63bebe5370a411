//! What can go wrong with a plugin, each with its own code.
//!
//! Owns the texts and codes of failed loads and failed calls. Never decides which of them it was (`loading.rs`, `call.rs`).

use std::fmt;

use crate::words::{
    digest::Digest,
    error::{Facts, Fault, Kind},
};

/// The contract versions that this host speaks.
pub(super) const SUPPORTED: &str = "0.1.0";

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a component was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A core module.
    #[error("the file is a core WebAssembly module, not a component")]
    CoreModule,
    /// Any other file.
    #[error("the file is not a WebAssembly component")]
    NotAComponent,
    /// Damaged, of an unknown proposal, or beyond what the engine sets aside.
    #[error("the component cannot be compiled")]
    NotCompilable(#[source] Cause),
    /// It took too long.
    #[error("the component was not compiled in {millis} ms")]
    CompileTime {
        /// The limit.
        millis: u64,
    },
    /// The runtime that its limits ask for did not start.
    #[error("no runtime starts for the plugin")]
    NoRuntime(#[source] Cause),
    /// Written against another version of the contract.
    #[error("the component uses version {found} of the contract, this host speaks {SUPPORTED}")]
    UnsupportedVersion {
        /// The versions found, separated by commas.
        found: String,
    },
    /// A component, but no plugin.
    #[error("the component does not export {}", .missing.join(", "))]
    MissingExports {
        /// Every missing export.
        missing: Vec<String>,
    },
    /// It needs more than a plugin gets.
    #[error("the component imports what no plugin gets: {}", .missing.join(", "))]
    MissingImports {
        /// Every missing import.
        missing: Vec<String>,
    },
    /// The names are right, the types are not.
    #[error("the component's interfaces are not those of the contract")]
    OtherInterfaces(#[source] Cause),
    /// The engine could not keep that limit.
    #[error("the limit {limit} is {asked}, at most {most} can be kept")]
    LimitTooHigh {
        /// The field.
        limit: &'static str,
        /// What was asked for.
        asked: usize,
        /// The most.
        most: usize,
    },
}

impl Fault for LoadError {
    fn facts(&self) -> Facts {
        let (code, kind, hint) = match self {
            Self::CoreModule => (
                "plugin-core-module",
                Kind::InvalidInput,
                "build for wasm32-wasip2, or wrap it with `wasm-tools component new`",
            ),
            Self::NotAComponent => (
                "plugin-not-a-component",
                Kind::InvalidInput,
                "hand in the .wasm file that the plugin's build produced",
            ),
            Self::NotCompilable(_) => (
                "plugin-not-compilable",
                Kind::InvalidInput,
                "build it again with a released tool chain, or give the engine wider limits if the cause names one",
            ),
            Self::CompileTime { .. } => (
                "plugin-compile-time",
                Kind::Limit,
                "try again: the compiler goes on to its end and a compile cache keeps what it makes; or allow it more time",
            ),
            Self::NoRuntime(_) => (
                "plugin-no-runtime",
                Kind::Unavailable,
                "give plugins the same stack size, or the engine fewer sandboxes",
            ),
            Self::UnsupportedVersion { .. } => (
                "plugin-contract-version",
                Kind::InvalidInput,
                "build the plugin against a supported version of the contract, or use the host release that speaks its own",
            ),
            Self::MissingExports { .. } => (
                "plugin-missing-exports",
                Kind::InvalidInput,
                "implement the world `domain` of the contract; `wharf plugin inspect` lists what is there",
            ),
            Self::MissingImports { .. } => (
                "plugin-missing-imports",
                Kind::InvalidInput,
                "remove what needs them: a plugin gets the contract's own imports and inert WASI 0.2, no network, no threads",
            ),
            Self::OtherInterfaces(_) => (
                "plugin-other-interfaces",
                Kind::InvalidInput,
                "generate the bindings from the released contract again",
            ),
            Self::LimitTooHigh { .. } => (
                "plugin-limit-too-high",
                Kind::InvalidInput,
                "lower the plugin's limit, or start the engine with a wider one",
            ),
        };
        Facts::new(code, kind, hint)
    }

    fn why(&self) -> Option<String> {
        let why = match self {
            Self::NotCompilable(_) | Self::NoRuntime(_) | Self::OtherInterfaces(_) => return None,
            Self::CompileTime { .. } => "it is too large or too intricate, or the machine is busy",
            Self::CoreModule => "only a component carries the types of the contract",
            Self::NotAComponent => "it does not begin with the header of a component",
            Self::UnsupportedVersion { .. } => "versions of the contract are not interchangeable",
            Self::MissingExports { .. } => "a plugin exports every interface of the contract",
            Self::MissingImports { .. } => "a plugin has no way to the outside but the contract",
            Self::LimitTooHigh { .. } => "a limit that cannot be kept is not accepted",
        };
        Some(why.to_owned())
    }
}

/// A call that the plugin did not end as the contract asks. Its sandbox is gone; the next call gets a fresh one.
#[derive(Debug)]
pub struct CallError {
    pub(super) plugin: String,
    pub(super) digest: Digest,
    pub(super) function: &'static str,
    pub(super) fault: CallFault,
}

impl CallError {
    /// What it was.
    #[must_use]
    pub const fn fault(&self) -> &CallFault {
        &self.fault
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.digest.to_string();
        write!(
            f,
            "the plugin {} ({}) failed in {}: {}",
            self.plugin,
            &digest[..12],
            self.function,
            self.fault
        )
    }
}

impl std::error::Error for CallError {}

/// How a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallFault {
    /// It ran too long.
    #[error("it ran longer than its {millis} ms")]
    Deadline {
        /// What it had.
        millis: u64,
    },
    /// It burnt all its fuel.
    #[error("it burnt its {limit} units of fuel")]
    OutOfFuel {
        /// The limit.
        limit: u64,
    },
    /// It asked for more memory.
    #[error("it asked for {asked} bytes of memory, {limit} are allowed")]
    MemoryLimit {
        /// All its memories together, had it been given.
        asked: usize,
        /// The limit.
        limit: usize,
    },
    /// It asked for more table elements.
    #[error("it asked for {asked} table elements, {limit} are allowed")]
    TableLimit {
        /// All its tables together, had it been given.
        asked: usize,
        /// The limit.
        limit: usize,
    },
    /// It consists of too many core instances.
    #[error("it consists of more core instances than the {limit} allowed")]
    InstanceLimit {
        /// The limit.
        limit: u32,
    },
    /// It called itself too deeply.
    #[error("it used up its stack of {limit} bytes")]
    StackOverflow {
        /// The limit.
        limit: usize,
    },
    /// It called the host too often.
    #[error("it called the host more often than the {limit} times allowed")]
    HostCallLimit {
        /// The limit.
        limit: u64,
    },
    /// It handed the host too much at once.
    #[error("it handed the host more than {limit} bytes at once")]
    HostBufferLimit {
        /// The limit.
        limit: usize,
    },
    /// It held too many resources.
    #[error("it held more than {limit} resource handles")]
    HandleLimit {
        /// The limit.
        limit: usize,
    },
    /// It logged too much.
    #[error("it logged more than {lines} lines or {bytes} bytes")]
    LogLimit {
        /// The limit of lines.
        lines: u32,
        /// The limit of bytes.
        bytes: usize,
    },
    /// What it answered is too large.
    #[error("its {what} has {found}, {allowed} are allowed")]
    OutputLimit {
        /// Which part of the answer.
        what: &'static str,
        /// Bytes, or things, found.
        found: usize,
        /// Allowed.
        allowed: usize,
    },
    /// It ended its own process.
    #[error("it called exit with status {status}")]
    Exited {
        /// The status.
        status: i32,
    },
    /// It panicked.
    #[error("it panicked")]
    Panicked {
        /// What it wrote to standard error, bounded, control characters escaped.
        text: String,
        /// The functions on its stack, innermost first, where their names are known.
        frames: Vec<String>,
    },
    /// It trapped for any other reason.
    #[error("it trapped")]
    Trapped {
        /// The reason.
        reason: String,
        /// The functions on its stack, innermost first, where their names are known.
        frames: Vec<String>,
    },
    /// What it answered is not what the contract allows.
    #[error("it answered outside the contract")]
    Violation {
        /// What was wrong.
        text: String,
    },
    /// Too many of its calls run or wait.
    #[error("{limit} calls of it run at the same time, and too many wait or waited too long")]
    TooManyCalls {
        /// The limit of those that run.
        limit: u32,
    },
    /// Every sandbox of the engine is taken.
    #[error("every sandbox of the engine is taken")]
    Overloaded,
}

impl CallFault {
    pub(super) fn violation(text: impl Into<String>) -> Self {
        Self::Violation { text: text.into() }
    }

    const fn code(&self) -> &'static str {
        match self {
            Self::Deadline { .. } => "plugin-deadline",
            Self::OutOfFuel { .. } => "plugin-out-of-fuel",
            Self::MemoryLimit { .. } => "plugin-memory-limit",
            Self::TableLimit { .. } => "plugin-table-limit",
            Self::InstanceLimit { .. } => "plugin-instance-limit",
            Self::StackOverflow { .. } => "plugin-stack-overflow",
            Self::HostCallLimit { .. } => "plugin-host-call-limit",
            Self::HostBufferLimit { .. } => "plugin-host-buffer-limit",
            Self::HandleLimit { .. } => "plugin-handle-limit",
            Self::LogLimit { .. } => "plugin-log-limit",
            Self::OutputLimit { .. } => "plugin-output-limit",
            Self::Exited { .. } => "plugin-exit",
            Self::Panicked { .. } => "plugin-panic",
            Self::Trapped { .. } => "plugin-trap",
            Self::Violation { .. } => "plugin-contract-violation",
            Self::TooManyCalls { .. } => "plugin-too-many-calls",
            Self::Overloaded => "plugin-overloaded",
        }
    }

    const fn hint(&self) -> &'static str {
        match self {
            Self::Deadline { .. } => {
                "look for an endless loop in the plugin, or allow it more time"
            }
            Self::OutOfFuel { .. } => {
                "look for an endless loop in the plugin, or allow it more fuel"
            }
            Self::MemoryLimit { .. } => "look for a leak in the plugin, or allow it more memory",
            Self::TableLimit { .. } | Self::InstanceLimit { .. } | Self::HandleLimit { .. } => {
                "look at what the plugin holds, or raise this limit of its"
            }
            Self::StackOverflow { .. } => {
                "look for an endless recursion in the plugin, or allow it a larger stack"
            }
            Self::HostCallLimit { .. } => {
                "ask for more rows with fewer statements, or allow the plugin more host calls"
            }
            Self::HostBufferLimit { .. } | Self::OutputLimit { .. } => {
                "answer with less, or raise this limit of the plugin's"
            }
            Self::LogLimit { .. } => "log less, or raise this limit of the plugin's",
            Self::Exited { .. } => "return an answer instead of ending the process",
            Self::Panicked { .. } | Self::Trapped { .. } => {
                "report this to the plugin's author, with the text and frames"
            }
            Self::Violation { .. } => "report this to the plugin's author",
            Self::TooManyCalls { .. } => {
                "try again, or raise the plugin's concurrent calls or what of them may wait"
            }
            Self::Overloaded => "try again, or start the engine with more sandboxes",
        }
    }
}

impl Fault for CallError {
    fn facts(&self) -> Facts {
        let kind = match self.fault {
            CallFault::TooManyCalls { .. } | CallFault::Overloaded => Kind::Unavailable,
            _ => Kind::PluginFault,
        };
        Facts::new(self.fault.code(), kind, self.fault.hint())
    }

    fn why(&self) -> Option<String> {
        match &self.fault {
            CallFault::Panicked { text, frames }
            | CallFault::Trapped {
                reason: text,
                frames,
            } => Some(if frames.is_empty() {
                text.clone()
            } else {
                format!("{text}; in {}", frames.join(" < "))
            }),
            CallFault::Violation { text } => Some(text.clone()),
            _ => None,
        }
    }
}
