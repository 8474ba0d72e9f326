//! A job made ready for one file: shared by all who work on it.

use std::fmt;
use std::ops::Range;

use memchr::memchr_iter;

use crate::columns::Columns;
use crate::error::{PlanError, RunError};
use crate::job::Job;
use crate::key_file::KeyNames;
use crate::reject::{self, Reject};
use crate::row::{Cell, MAX_COLUMNS, Row};
use crate::{Buffer, csv, ndjson};

/// How rows are written in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values. RFC 4180.
    Csv {
        /// What separates fields.
        delimiter: u8,
        /// True where the first row names the columns; else they are called 1, 2 and so on.
        has_header: bool,
    },
    /// One JSON object a line.
    Ndjson,
}

impl Format {
    /// CSV with a header.
    pub const CSV: Self = Self::Csv { delimiter: b',', has_header: true };

    /// True where fields may be separated by this: not by what values, quotes and lines are written with.
    #[must_use]
    pub fn is_delimiter(byte: u8) -> bool {
        csv::is_delimiter(byte)
    }

    /// Bytes of the whole rows at the front of a buffer that begins with a row. What is left waits for more, or is at the
    /// end of the file a row without an end of line.
    #[must_use]
    pub fn whole_rows(self, buffer: &[u8]) -> usize {
        match self {
            Self::Csv { delimiter, .. } => csv::whole_rows(buffer, delimiter),
            Self::Ndjson => ndjson::whole_rows(buffer),
        }
    }
}

/// A job made ready for one file.
pub struct Plan {
    pub(crate) job: Job,
    pub(crate) columns: Columns,
    pub(crate) keys: KeyNames,
    rows: Rows,
    head: Buffer,
}

/// How rows are read.
enum Rows {
    Csv(csv::Layout),
    Ndjson,
}

impl Plan {
    /// Makes a job ready for the file whose first rows are `chunk`. With the plan comes how many bytes of them are the header.
    ///
    /// # Errors
    /// The options contradict each other, or the file lacks a column that the job reads.
    pub fn new(job: Job, keys: KeyNames, format: Format, chunk: &[u8]) -> Result<(Self, usize), PlanError> {
        let columns = Columns::of(&job)?;
        let (rows, head, len) = match format {
            Format::Ndjson => (Rows::Ndjson, Buffer::default(), 0),
            Format::Csv { delimiter, has_header } => {
                let (layout, head, len) = csv::Layout::read(chunk, delimiter, has_header, &columns)?;
                (Rows::Csv(layout), head, len)
            }
        };
        Ok((Self { job, columns, keys, rows, head }, len))
    }

    /// What the output begins with.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// What the file of rejected rows begins with.
    #[must_use]
    pub fn rejects_head(&self) -> Vec<u8> {
        match &self.rows {
            Rows::Csv(layout) => reject::csv_head(layout.delimiter(), self.job.keeps_rejected_rows),
            Rows::Ndjson => Vec::new(),
        }
    }

    /// Adds a rejected row: its line in the file, the reason, and where the job keeps it, the row itself.
    pub fn push_reject(&self, first_line: u64, reject: &Reject, to: &mut Buffer) {
        let (reason, row) = (self.reason(reject), reject.row.as_deref());
        let line = first_line + reject.line;
        match &self.rows {
            Rows::Csv(layout) => reject::push_csv(line, &reason, row, layout.delimiter(), to),
            Rows::Ndjson => reject::push_json(line, &reason, row, to),
        }
    }

    /// Why a row was rejected, for a human to read. Nothing of the row.
    #[must_use]
    pub fn reason(&self, reject: &Reject) -> String {
        reject::describe(&reject.reason, &self.columns)
    }

    /// Reads the row at `start`; the cells of columns that it lacks are missing.
    #[inline]
    pub(crate) fn row(&self, chunk: &[u8], start: usize, cells: &mut [Cell; MAX_COLUMNS]) -> Row {
        *cells = [Cell::default(); MAX_COLUMNS];
        match &self.rows {
            Rows::Csv(layout) => layout.row(chunk, start, cells),
            Rows::Ndjson => ndjson::row(chunk, start, &self.columns, cells),
        }
    }

    /// The bytes of a row that are left out with a column, if all before `from` is left out too.
    pub(crate) fn dropped(&self, chunk: &[u8], from: usize, cell: Cell) -> Range<usize> {
        match &self.rows {
            Rows::Csv(layout) => csv::dropped(chunk, from, layout.delimiter(), cell),
            Rows::Ndjson => ndjson::dropped(chunk, from, cell),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        matches!(self.rows, Rows::Ndjson)
    }

    pub(crate) fn delimiter(&self) -> u8 {
        match &self.rows {
            Rows::Csv(layout) => layout.delimiter(),
            Rows::Ndjson => b',',
        }
    }
}

/// Ends of lines in a run of bytes.
#[must_use]
pub fn count_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Shows the job.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("job", &self.job).finish_non_exhaustive()
    }
}

impl RunError {
    pub(crate) fn machine(reason: impl fmt::Display) -> Self {
        Self::Machine(reason.to_string())
    }
}
