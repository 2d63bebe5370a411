//! The business transaction: an operation and its ledger row become durable together, or neither does.
//!
//! `BEGIN IMMEDIATE`, subject check, ledger look-up, the call, ledger row and anchor, `COMMIT`. Every other way out,
//! a panic included, rolls back: the transaction rolls back when it is dropped, and [`Lent`] brings it its connection
//! back first. Called by `store` only.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};

use super::{
    BusinessError, SqlLimits, anchors,
    catalog::Catalog,
    confinement::{Gate, May, Rules, monotonic},
    denials::Caller,
    ledger,
    plugin_sql::{PluginSql, Terms, restrict},
    quota::Full,
    store::BusinessStore,
};
use crate::{
    core::{
        contract::{Effect, StepAnswer},
        ports::business::{Operation, Performed, Sql, StepCall, SubjectConflict},
    },
    sqlite::{error::SqliteError, writer::WriteTransaction},
    words::error::Error,
};

impl BusinessStore {
    pub(super) fn perform_once(
        &self,
        operation: &Operation,
        step: StepCall<'_>,
    ) -> Result<Performed, Error> {
        let path = self.path();
        let mut transaction = self.writer()?.begin()?;
        let begun = monotonic();
        if let Some(conflict) = ledger::conflict(
            transaction.connection(),
            path,
            &operation.plugin,
            &operation.subject,
            &operation.input_digest,
        )? {
            return Ok(Performed::SubjectConflict(conflict));
        }
        if let Some(row) = ledger::find(
            transaction.connection(),
            path,
            &operation.plugin,
            &operation.subject,
            &operation.key,
        )? {
            if row.task != operation.task {
                if row.arguments_digest != operation.arguments_digest {
                    return Ok(Performed::SubjectConflict(SubjectConflict {
                        task: row.task,
                        key: row.key,
                    }));
                }
                // Somebody else's commit: visible, not necessarily durable.
                transaction.settle()?;
            }
            return Ok(Performed::Done {
                row: Box::new(row),
                replayed: true,
            });
        }
        anchors::check(
            transaction.connection(),
            path,
            &operation.task,
            &operation.position,
        )?;

        let rules = self.rules(
            transaction.connection(),
            operation.plugin.as_str(),
            match operation.effect {
                Effect::Read => May::Read,
                Effect::Write => May::Write,
            },
        )?;
        let limits = self.limits_of(&operation.plugin);
        let held = Duration::from_millis(limits.lock_millis.get().into());
        let mut lent = Lent::lend(
            &mut transaction,
            self.gate(),
            Terms {
                caller: Caller {
                    plugin: operation.plugin.clone(),
                    task: Some(operation.task.clone()),
                    tool: Some(operation.tool.clone()),
                },
                rules,
                limits,
                until: Some(begun + held),
            },
        )
        .map_err(|e| SqliteError::of(path, e))?;
        let answer = step(lent.sql());
        let lost = lent.end();
        drop(lent);
        // An error of the call says more than the loss behind it; but nothing is committed after a loss.
        let answer = answer?;
        if let Some(lost) = lost {
            return Err(lost.into());
        }
        let data = match answer {
            Ok(StepAnswer::Done { data, .. }) => data,
            Ok(StepAnswer::Declined(data)) => return Ok(Performed::Declined(data)),
            Err(failure) => return Ok(Performed::Failed(failure)),
        };
        check_hold(begun, &limits)?;
        let connection = transaction.connection();
        ledger::insert(connection, path, operation, &data)
            .and_then(|()| anchors::put(connection, path, &operation.task, &operation.position))
            .map_err(|e| self.told_apart(connection, e))?;
        transaction.commit().map_err(at_commit)?;
        Ok(Performed::Done {
            row: Box::new(ledger::row_of(operation, data)),
            replayed: false,
        })
    }

    /// The failure of a statement that adds rows of the host's: the disk is full, or the workspace's limit is reached.
    pub(super) fn told_apart(&self, connection: &Connection, error: SqliteError) -> Error {
        let allowed = self.limits().workspace_bytes.get();
        match error {
            SqliteError::DiskFull { .. } => match Full::of(connection, self.path(), allowed) {
                Some(full) => BusinessError::from(full).into(),
                None => error.into(),
            },
            other => other.into(),
        }
    }

    /// What a plugin may do now, inside the transaction that will rely on it.
    pub(super) fn rules(
        &self,
        connection: &Connection,
        plugin: &str,
        may: May,
    ) -> Result<Rules, SqliteError> {
        let catalog = self.catalog(|last| Catalog::current(connection, last))?;
        if let Some(table) = catalog.lost_by(plugin) {
            return Err(SqliteError::TableLost {
                path: self.path().to_owned(),
                table: table.to_owned(),
            });
        }
        Ok(Rules {
            own: catalog.owned_by(plugin),
            objects: catalog.objects(),
            version: catalog.version(),
            may,
        })
    }
}

/// A constraint that a plugin's tables defer is checked by the commit.
fn at_commit(error: SqliteError) -> Error {
    match error {
        SqliteError::Statement { source, .. }
            if source.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
        {
            BusinessError::DeferredConstraint { source }.into()
        }
        other => other.into(),
    }
}

fn check_hold(begun: Instant, limits: &SqlLimits) -> Result<(), BusinessError> {
    let held = monotonic().saturating_duration_since(begun);
    let allowed_millis = limits.lock_millis.get();
    if held > Duration::from_millis(allowed_millis.into()) {
        return Err(BusinessError::HeldTooLong {
            held_millis: u64::try_from(held.as_millis()).unwrap_or(u64::MAX),
            allowed_millis,
        });
    }
    Ok(())
}

/// The transaction's connection in the hands of a plugin. Dropping it brings the connection back.
struct Lent<'t, 'w> {
    transaction: &'t mut WriteTransaction<'w>,
    sql: Arc<PluginSql>,
}

impl<'t, 'w> Lent<'t, 'w> {
    fn lend(
        transaction: &'t mut WriteTransaction<'w>,
        gate: &Arc<Gate>,
        terms: Terms,
    ) -> Result<Self, rusqlite::Error> {
        let restricted = restrict(transaction.connection(), &terms.limits)?;
        let sql = PluginSql::open(transaction.lend(), restricted, gate, terms);
        Ok(Self { transaction, sql })
    }

    fn sql(&self) -> Arc<dyn Sql> {
        Arc::clone(&self.sql) as Arc<dyn Sql>
    }

    fn end(&mut self) -> Option<BusinessError> {
        let returned = self.sql.close()?;
        self.transaction.give_back(returned.connection);
        returned.lost
    }
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        self.end();
    }
}
