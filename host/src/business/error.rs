//! What can go wrong with the business database beyond the file itself.

use crate::words::{
    error::{Facts, Fault, Kind},
    id::{PluginName, TaskId, TenantId},
};

/// A failure of the business database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BusinessError {
    /// The workspace belongs to somebody else.
    #[error("the workspace does not belong to the tenant {asked}")]
    OtherTenant {
        /// Who asked.
        asked: TenantId,
    },
    /// The database was opened for reading only.
    #[error("the business database was opened for reading only")]
    ReadOnly,
    /// The plugin's SQL ended the host's transaction.
    #[error("a statement of the plugin ended the transaction")]
    TransactionLost {
        /// How, as far as SQLite tells.
        reason: String,
    },
    /// A statement that wrote was interrupted when the time was used up, which ends the transaction.
    #[error("a statement of the plugin that writes ran out of time")]
    OutOfTime,
    /// The file failed under a statement, and the call went on as if nothing had happened.
    #[error("the business database failed during the call")]
    FileFailed {
        /// SQLite's words.
        reason: String,
    },
    /// A statement wrote and then returned more than it may.
    #[error("a statement of the plugin wrote rows and returned more than it may")]
    ReturnedTooMuch {
        /// Which limit.
        reason: String,
    },
    /// The database may not grow any more; what would have added to it was rolled back.
    #[error(
        "the business database is full: it has {used_bytes} bytes, {allowed_bytes} are allowed"
    )]
    WorkspaceFull {
        /// Bytes that it has without what was rolled back.
        used_bytes: u64,
        /// The limit.
        allowed_bytes: u64,
    },
    /// A constraint that the plugin's tables defer to the end of the transaction did not hold there.
    #[error(
        "a deferred constraint of the plugin's tables does not hold at the end of the operation"
    )]
    DeferredConstraint {
        /// SQLite's words.
        source: rusqlite::Error,
    },
    /// The operation held the write lock for too long; it was rolled back.
    #[error("the operation held the write lock for {held_millis} ms, {allowed_millis} are allowed")]
    HeldTooLong {
        /// Milliseconds from the transaction's start.
        held_millis: u64,
        /// The limit.
        allowed_millis: u32,
    },
    /// An anchor would go backwards, or name another record at the same place.
    #[error(
        "the anchor of task {task} stands at record {stored}, the journal record {given} does not follow it"
    )]
    AnchorConflict {
        /// The task.
        task: TaskId,
        /// The anchored sequence.
        stored: u64,
        /// The sequence to be anchored.
        given: u64,
    },
    /// The migrations are not numbered 1, 2, 3, ...
    #[error(
        "the migrations of plugin {plugin} are not numbered 1, 2, 3, ...: {found} stands at place {place}"
    )]
    MigrationOrder {
        /// The plugin.
        plugin: PluginName,
        /// The number found.
        found: u32,
        /// Where, from 1.
        place: u32,
    },
    /// More migrations were applied than the plugin has: an older plugin.
    #[error("the tables of plugin {plugin} have version {applied}, this component knows {known}")]
    MigrationLower {
        /// The plugin.
        plugin: PluginName,
        /// The newest version applied.
        applied: u32,
        /// The newest version it has.
        known: u32,
    },
    /// A migration that was applied has another text now.
    #[error("migration {version} of plugin {plugin} is not the one that was applied")]
    MigrationChanged {
        /// The plugin.
        plugin: PluginName,
        /// The migration's number.
        version: u32,
    },
    /// The record of applied migrations has a gap.
    #[error("migration {version} of plugin {plugin} was never applied, although a later one was")]
    MigrationMissing {
        /// The plugin.
        plugin: PluginName,
        /// The migration's number.
        version: u32,
    },
    /// A migration or a seed does what it may not; nothing of it was applied.
    #[error("{what} of plugin {plugin} does what it may not")]
    ScriptRefused {
        /// The plugin.
        plugin: PluginName,
        /// Which script.
        what: String,
        /// What it may not.
        reason: String,
    },
    /// A statement of a migration or a seed failed; nothing of it was applied.
    #[error("{what} of plugin {plugin} failed")]
    ScriptFailed {
        /// The plugin.
        plugin: PluginName,
        /// Which script.
        what: String,
        /// SQLite's words.
        source: rusqlite::Error,
    },
    /// A migration or a seed ran into a limit; nothing of it was applied.
    #[error("{what} of plugin {plugin} ran into a limit")]
    ScriptLimit {
        /// The plugin.
        plugin: PluginName,
        /// Which script.
        what: String,
        /// SQLite's words.
        source: rusqlite::Error,
    },
    /// The plugin's tables were seeded before, from another text.
    #[error("the tables of plugin {plugin} were seeded before, from another file")]
    SeededOtherwise {
        /// The plugin.
        plugin: PluginName,
    },
}

impl Fault for BusinessError {
    fn facts(&self) -> Facts {
        const PLUGIN: &str = "correct the plugin; nothing was changed";
        const SCRIPT: &str = "correct its SQL; nothing was changed";
        match self {
            Self::OtherTenant { .. } => Facts::new(
                "workspace-other-tenant",
                Kind::Denied,
                "use the workspace of this tenant",
            ),
            Self::ReadOnly => Facts::new(
                "business-read-only",
                Kind::Bug,
                "report it: a command that only reads tried to write",
            ),
            Self::TransactionLost { .. } => Facts::new(
                "sql-transaction-ended",
                Kind::PluginFault,
                "remove OR ROLLBACK and RAISE(ROLLBACK) from the plugin's SQL; nothing was changed",
            ),
            Self::OutOfTime => Facts::new(
                "sql-time-limit",
                Kind::Limit,
                "make the statement shorter, or raise the limit; nothing was changed",
            ),
            Self::FileFailed { .. } => Facts::new(
                "business-file-failed",
                Kind::Unavailable,
                "check the disk and resume; nothing was changed",
            ),
            Self::ReturnedTooMuch { .. } => Facts::new(
                "sql-returned-too-much",
                Kind::PluginFault,
                "return fewer rows from the statement, or raise the limit; nothing was changed",
            ),
            Self::WorkspaceFull { .. } => Facts::new(
                "workspace-full",
                Kind::Limit,
                "free some of it or raise the limit, and resume; nothing was changed. If it has room, a table has used up its \
                 row ids, or the disk of temporary files is full",
            ),
            Self::DeferredConstraint { .. } => Facts::new(
                "sql-deferred-constraint",
                Kind::PluginFault,
                "correct the plugin: what it defers has to hold when its call ends; nothing was changed",
            ),
            Self::HeldTooLong { .. } => Facts::new(
                "business-lock-held-too-long",
                Kind::Limit,
                "make the step shorter, or raise the limit; nothing was changed",
            ),
            Self::AnchorConflict { .. } => Facts::new(
                "anchor-conflict",
                Kind::Corrupt,
                "run `wharf audit`; the journal or the business database is not the one that belongs here",
            ),
            Self::MigrationOrder { .. } => {
                Facts::new("plugin-migration-order", Kind::InvalidInput, PLUGIN)
            }
            Self::MigrationLower { .. } => Facts::new(
                "plugin-migration-lower",
                Kind::Conflict,
                "install the version of the plugin that made the tables, or a newer one",
            ),
            Self::MigrationChanged { .. } => Facts::new(
                "plugin-migration-changed",
                Kind::Conflict,
                "never change a released migration: add one",
            ),
            Self::MigrationMissing { .. } => Facts::new(
                "plugin-migration-missing",
                Kind::Corrupt,
                "restore the workspace from a backup, or use a new one",
            ),
            Self::ScriptRefused { .. } => {
                Facts::new("plugin-script-refused", Kind::InvalidInput, SCRIPT)
            }
            Self::ScriptFailed { .. } => {
                Facts::new("plugin-script-failed", Kind::InvalidInput, SCRIPT)
            }
            Self::ScriptLimit { .. } => Facts::new("plugin-script-limit", Kind::Limit, SCRIPT),
            Self::SeededOtherwise { .. } => Facts::new(
                "plugin-seeded-otherwise",
                Kind::Conflict,
                "use a new workspace for another seed; nothing was changed",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::TransactionLost { reason }
            | Self::FileFailed { reason }
            | Self::ReturnedTooMuch { reason }
            | Self::ScriptRefused { reason, .. } => Some(reason.clone()),
            _ => None,
        }
    }
}
