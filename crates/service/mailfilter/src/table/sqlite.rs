//! Tables in SQLite: `signing(pattern, selector, key, state, domain, identity, valid_from, valid_until)`, in the order
//! of `rowid`. A table may lack the two dates.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{SigningTable, SigningTableError, TableRow};

/// The optional columns. A word like `from` is a keyword of SQL, so the names of the columns are longer.
const DATES: [&str; 2] = ["valid_from", "valid_until"];

/// The maximum time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads a database.
pub(super) fn read(path: &Path, before: Option<&SigningTable>) -> Result<SigningTable, SigningTableError> {
    let rows = rows(path)
        .map_err(|error| SigningTableError::Read { path: path.to_owned(), reason: error.to_string() })?;
    SigningTable::build(rows, path, before)
}

fn rows(path: &Path) -> rusqlite::Result<Vec<TableRow>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(PATIENCE)?;
    let mut known = database.prepare("SELECT 1 FROM pragma_table_info('signing') WHERE name = ?")?;
    let mut dates = Vec::new();
    for date in DATES {
        dates.push(if known.exists([date])? { date } else { "NULL" });
    }
    let mut query = database.prepare(&format!(
        "SELECT pattern, selector, key, state, domain, identity, rowid, {} FROM signing ORDER BY rowid",
        dates.join(", ")
    ))?;
    let rows = query.query_map([], |row| {
        let number: i64 = row.get(6)?;
        Ok(TableRow {
            pattern: row.get(0)?,
            selector: row.get(1)?,
            key: row.get(2)?,
            state: row.get(3)?,
            domain: row.get(4)?,
            identity: row.get(5)?,
            number: usize::try_from(number).unwrap_or_default(),
            from: row.get(7)?,
            until: row.get(8)?,
        })
    })?;
    rows.collect()
}
