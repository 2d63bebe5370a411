//! What a plugin may use.
//!
//! Owns the numbers, and nothing else: each is enforced by the file that its comment names, and each has a test in
//! which it fires. Zero cannot be written, and nothing has a default: who loads a plugin says what it may use, be it
//! by naming [`PluginLimits::standard`].

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fault::LoadError;
use crate::words::json::JsonBounds;

/// What one plugin may use. Every field is per call, unless it says otherwise; a fresh sandbox starts at nothing. Its
/// serialized form has the same names, takes no other and misses none but `fuel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginLimits {
    /// Bytes of the component file.
    pub component_bytes: NonZeroUsize,
    /// Milliseconds that compiling the component may take, where no compile cache has it. Whoever loads it waits no longer;
    /// the compiler itself cannot be interrupted and goes on to its end, two at the same time at most.
    pub compile_millis: NonZeroU64,
    /// Calls of this plugin that run at the same time; one more waits for its turn.
    pub concurrent_calls: NonZeroU32,
    /// Calls of this plugin that wait at the same time; one more is refused.
    pub queued_calls: NonZeroU32,
    /// Milliseconds that a call waits before it is refused. Not part of the call's own time.
    pub queue_millis: NonZeroU64,
    /// Bytes of all linear memories of a sandbox together.
    pub memory_bytes: NonZeroUsize,
    /// Elements of all tables of a sandbox together.
    pub table_elements: NonZeroUsize,
    /// Core instances that the component consists of.
    pub instances: NonZeroU32,
    /// Wall-clock milliseconds, host calls included; rounded up to 10 ms, and ends at most 20 ms late on a machine that
    /// is not overloaded. Counted by the engine's ticker: code in the host (SQL) is not interrupted, but counts. A batch
    /// of candidates in one sandbox has ten times this together.
    pub call_millis: NonZeroU64,
    /// Instructions, as wasmtime counts them (about one each). None: not metered. Metering makes what a call may do
    /// independent of the machine, and costs code that calls much an eighth to two thirds of its speed. A batch of candidates
    /// in one sandbox has ten times this together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<NonZeroU64>,
    /// Bytes of stack for the plugin's code. It is taken from the calling thread's own stack: a thread that calls plugins
    /// needs this and 512 KiB for the host on top.
    pub guest_stack_bytes: NonZeroUsize,
    /// Calls from the plugin into the host: statements, log lines, and WASI calls for streams, clocks and random bytes.
    pub host_calls: NonZeroU64,
    /// Bytes that the host copies from the plugin at one crossing: all parameters of one host call, or the whole result of
    /// an exported function. A list or record costs its elements' in-memory size even where they are empty.
    pub host_copy_bytes: NonZeroUsize,
    /// Resource handles that are alive at the same time, in the plugin's own tables and in the host's for it.
    pub handles: NonZeroUsize,
    /// Calls of `log.write`. Lines written to standard output or error count as well, but are dropped beyond it.
    pub log_lines: NonZeroU32,
    /// Bytes of all log messages together. Standard output and error count as well, but are dropped beyond it.
    pub log_bytes: NonZeroUsize,
    /// Nested arrays and objects in any JSON text from the plugin; 1 to 100.
    pub json_depth: NonZeroUsize,
    /// Bytes of all texts of the descriptor together.
    pub descriptor_bytes: NonZeroUsize,
    /// Bytes of a snapshot.
    pub snapshot_bytes: NonZeroUsize,
    /// Bytes of the record of one step, and of a declined step.
    pub record_bytes: NonZeroUsize,
    /// Bytes of a conclusion's result and summary together.
    pub conclusion_bytes: NonZeroUsize,
    /// Bytes of one artifact.
    pub artifact_bytes: NonZeroUsize,
    /// Artifacts of one conclusion.
    pub artifacts: NonZeroUsize,
    /// Bytes of the texts of all violations of one answer, or of one failure.
    pub message_bytes: NonZeroUsize,
}

/// What the engine sets aside. A plugin's own limits must lie within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineLimits {
    /// Sandboxes that exist at the same time; a call that would need one more waits for its turn. The plugins that wait are
    /// served in rotation, so that none of them waits for all calls of another.
    pub sandboxes: NonZeroU32,
    /// Calls that wait at the same time; one more is refused as `plugin-overloaded`.
    pub queue: NonZeroU32,
    /// Milliseconds that a call waits before it is refused as `plugin-overloaded`. Not part of the call's own time.
    pub queue_millis: NonZeroU64,
    /// The most that [`PluginLimits::memory_bytes`] may be. Address space of [`MEMORIES_PER_SANDBOX`] times this is
    /// reserved per sandbox, never committed before it is used.
    pub memory_bytes: NonZeroUsize,
    /// The most that [`PluginLimits::table_elements`] may be.
    pub table_elements: NonZeroUsize,
    /// The most that [`PluginLimits::instances`] may be.
    pub instances: NonZeroU32,
    /// The most that [`PluginLimits::guest_stack_bytes`] may be; at most 1 MiB.
    pub guest_stack_bytes: NonZeroUsize,
}

/// Linear memories for which address space is set aside per sandbox, on average.
pub const MEMORIES_PER_SANDBOX: u32 = 2;

macro_rules! nonzero {
    ($type:ident, $value:expr) => {
        $type::new($value).expect("a limit is not zero")
    };
}

const KIB: usize = 1024;
const MIB: usize = 1024 * 1024;

impl PluginLimits {
    /// For plugins compiled from Rust, C and the like.
    ///
    /// 32 MiB component compiled in 60 seconds, 16 calls at the same time and 1,000 that wait up to 10 seconds, 64 MiB memory,
    /// 20,000 table elements, 64 instances, 1 second, not metered, 512 KiB of stack, 20,000 host calls, 4 MiB per crossing, 1,000 handles, 1,000 log lines of 64 KiB together, JSON 32 deep; descriptor and snapshot 256 KiB, record
    /// and conclusion 64 KiB, 16 artifacts of 1 MiB, messages 64 KiB.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            component_bytes: nonzero!(NonZeroUsize, 32 * MIB),
            compile_millis: nonzero!(NonZeroU64, 60_000),
            concurrent_calls: nonzero!(NonZeroU32, 16),
            queued_calls: nonzero!(NonZeroU32, 1_000),
            queue_millis: nonzero!(NonZeroU64, 10_000),
            memory_bytes: nonzero!(NonZeroUsize, 64 * MIB),
            table_elements: nonzero!(NonZeroUsize, 20_000),
            instances: nonzero!(NonZeroU32, 64),
            call_millis: nonzero!(NonZeroU64, 1_000),
            fuel: None,
            guest_stack_bytes: nonzero!(NonZeroUsize, 512 * KIB),
            host_calls: nonzero!(NonZeroU64, 20_000),
            host_copy_bytes: nonzero!(NonZeroUsize, 4 * MIB),
            handles: nonzero!(NonZeroUsize, 1_000),
            log_lines: nonzero!(NonZeroU32, 1_000),
            log_bytes: nonzero!(NonZeroUsize, 64 * KIB),
            json_depth: nonzero!(NonZeroUsize, 32),
            descriptor_bytes: nonzero!(NonZeroUsize, 256 * KIB),
            snapshot_bytes: nonzero!(NonZeroUsize, 256 * KIB),
            record_bytes: nonzero!(NonZeroUsize, 64 * KIB),
            conclusion_bytes: nonzero!(NonZeroUsize, 64 * KIB),
            artifact_bytes: nonzero!(NonZeroUsize, MIB),
            artifacts: nonzero!(NonZeroUsize, 16),
            message_bytes: nonzero!(NonZeroUsize, 64 * KIB),
        }
    }

    /// For plugins that carry an interpreter (JavaScript, Python): as [`Self::standard`], with 256 MiB of memory and
    /// 5 seconds.
    #[must_use]
    pub const fn interpreter() -> Self {
        Self {
            memory_bytes: nonzero!(NonZeroUsize, 256 * MIB),
            call_millis: nonzero!(NonZeroU64, 5_000),
            ..Self::standard()
        }
    }

    pub(super) const fn json(&self, bytes: NonZeroUsize) -> JsonBounds {
        JsonBounds {
            bytes: bytes.get(),
            depth: self.json_depth.get(),
        }
    }

    /// Refuses limits that this engine could not keep.
    pub(super) fn check_within(&self, engine: &EngineLimits) -> Result<(), LoadError> {
        let bounds = [
            (
                "memory_bytes",
                self.memory_bytes.get(),
                engine.memory_bytes.get(),
            ),
            (
                "table_elements",
                self.table_elements.get(),
                engine.table_elements.get(),
            ),
            (
                "instances",
                self.instances.get() as usize,
                engine.instances.get() as usize,
            ),
            (
                "guest_stack_bytes",
                self.guest_stack_bytes.get(),
                engine.guest_stack_bytes.get(),
            ),
            ("json_depth", self.json_depth.get(), 100),
        ];
        match bounds.into_iter().find(|(_, asked, most)| asked > most) {
            Some((limit, asked, most)) => Err(LoadError::LimitTooHigh { limit, asked, most }),
            None => Ok(()),
        }
    }
}

impl EngineLimits {
    /// 32 sandboxes at the same time, 1000 calls that wait up to 10 seconds; each sandbox with up to 256 MiB of memory, 100,000 table elements, 64 instances and
    /// 1 MiB of stack. Reserves about 16 GiB of address space, and commits next to nothing; as much again for each other stack
    /// size and for metered plugins.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            sandboxes: nonzero!(NonZeroU32, 32),
            queue: nonzero!(NonZeroU32, 1_000),
            queue_millis: nonzero!(NonZeroU64, 10_000),
            memory_bytes: nonzero!(NonZeroUsize, 256 * MIB),
            table_elements: nonzero!(NonZeroUsize, 100_000),
            instances: nonzero!(NonZeroU32, 64),
            guest_stack_bytes: nonzero!(NonZeroUsize, MIB),
        }
    }

    /// For one task at a time, and where address space is rationed: 4 sandboxes, each with up to 64 MiB of memory, 20,000
    /// table elements, 64 instances and 1 MiB of stack. Reserves about half a GiB of address space.
    #[must_use]
    pub const fn small() -> Self {
        Self {
            sandboxes: nonzero!(NonZeroU32, 4),
            memory_bytes: nonzero!(NonZeroUsize, 64 * MIB),
            table_elements: nonzero!(NonZeroUsize, 20_000),
            ..Self::standard()
        }
    }
}
