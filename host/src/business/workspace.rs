//! Whose database it is: one row, written when the database is made and compared at every opening.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::BusinessError;
use crate::{sqlite::error::SqliteError, words::id::TenantId};

/// Whose database it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Random, 32 hexadecimal digits; tells workspaces apart in shared stores.
    pub id: String,
    /// The one tenant that may use it.
    pub tenant: TenantId,
}

/// Refuses a tenant that the workspace does not belong to.
pub(super) fn admit(workspace: &Workspace, tenant: &TenantId) -> Result<(), BusinessError> {
    if workspace.tenant == *tenant {
        Ok(())
    } else {
        Err(BusinessError::OtherTenant {
            asked: tenant.clone(),
        })
    }
}

/// The row; none where the table or its row is not there yet.
pub(super) fn workspace(
    connection: &Connection,
    path: &Path,
) -> Result<Option<Workspace>, SqliteError> {
    let of = |e| SqliteError::of(path, e);
    let there: bool = connection
        .query_row(
            "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'wharf_workspace'",
            (),
            |row| row.get(0),
        )
        .map_err(of)?;
    if !there {
        return Ok(None);
    }
    let row: Option<(String, String)> = connection
        .query_row("SELECT id, tenant FROM wharf_workspace", (), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(of)?;
    row.map(|(id, tenant)| {
        Ok(Workspace {
            id,
            tenant: tenant.parse().map_err(|_| SqliteError::Malformed {
                path: path.to_owned(),
                what: "a workspace",
            })?,
        })
    })
    .transpose()
}
