//! Tables in text files: `PATTERN SELECTOR KEY-FILE [STATE] [domain=NAME] [identity=LOCAL@DOMAIN] [from=DATE]
//! [until=DATE]`. KEY-FILE may be the URI of a key in a device. A comment begins with `#`.

use std::path::Path;

use super::{LineFault, SigningTable, SigningTableError, TableRow};

/// Reads a file.
pub(super) fn read(path: &Path, before: Option<&SigningTable>) -> Result<SigningTable, SigningTableError> {
    let text = oarlock_files::read_text(path)
        .map_err(|error| SigningTableError::Read { path: path.to_owned(), reason: error.to_string() })?;
    parse(&text, path, before)
}

/// Parses the text of a file.
pub(super) fn parse(
    text: &str,
    path: &Path,
    before: Option<&SigningTable>,
) -> Result<SigningTable, SigningTableError> {
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !matches!(line.trim_start().chars().next(), None | Some('#')));
    let mut rows = Vec::new();
    for (text, line) in lines {
        let row = row(text, line).map_err(|fault| SigningTableError::Line {
            path: path.to_owned(),
            line,
            fault,
        })?;
        rows.push(row);
    }
    SigningTable::build(rows, path, before)
}

fn row(text: &str, number: usize) -> Result<TableRow, LineFault> {
    let mut words = text.split_whitespace().map(String::from);
    let (Some(pattern), Some(selector), Some(key)) = (words.next(), words.next(), words.next()) else {
        return Err(LineFault::Words);
    };
    let mut row = TableRow { pattern, selector, key, number, ..TableRow::default() };
    let mut is_first = true;
    for word in words {
        let field = match word.split_once('=') {
            Some(("domain", _)) => &mut row.domain,
            Some(("identity", _)) => &mut row.identity,
            Some(("from", _)) => &mut row.from,
            Some(("until", _)) => &mut row.until,
            None if is_first => &mut row.state,
            _ => return Err(LineFault::Option(word)),
        };
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        if field.replace(value.to_owned()).is_some() {
            return Err(LineFault::Option(word));
        }
        is_first = false;
    }
    Ok(row)
}
