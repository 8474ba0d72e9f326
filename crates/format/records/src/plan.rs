//! A job prepared for one file. All workers of the file share it.

use std::fmt;
use std::ops::Range;

use memchr::memchr_iter;
use oarlock::keys::text_file::{ForeignLineEnd, TextFault, is_utf16};

use crate::columns::Columns;
use crate::error::{PlanError, RunError};
use crate::job::RecordJob;
use crate::key_file::KeyNames;
use crate::reject::{self, RejectedRow};
use crate::row::{CellSpan, MAX_COLUMNS, RowSpan, bom_len};
use crate::{SecretBuffer, csv, ndjson};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Comma-separated values. RFC 4180.
    Csv {
        /// The byte that separates fields.
        delimiter: u8,
        /// True if the first row names the columns. Otherwise they are called 1, 2 and so on.
        has_header: bool,
    },
    /// One JSON object a line.
    Ndjson,
}

impl FileFormat {
    /// CSV with a header.
    pub const CSV: Self = Self::Csv { delimiter: b',', has_header: true };

    /// True if this byte may separate fields. Letters, digits and the bytes of encodings, quotes and line ends may
    /// not.
    #[must_use]
    pub fn is_delimiter(byte: u8) -> bool {
        csv::is_delimiter(byte)
    }

    /// Returns the length of the whole rows at the front of a buffer that begins with a row. The rest needs more
    /// bytes. At the end of the file it is a row without a line end.
    #[must_use]
    pub fn whole_rows(self, buffer: &[u8]) -> usize {
        match self {
            Self::Csv { delimiter, .. } => csv::whole_rows(buffer, delimiter),
            Self::Ndjson => ndjson::whole_rows(buffer),
        }
    }
}

/// A job prepared for one file.
pub struct FilePlan {
    pub(crate) job: RecordJob,
    pub(crate) columns: Columns,
    pub(crate) keys: KeyNames,
    rows: RowFormat,
    head: SecretBuffer,
}

/// The reader of rows.
enum RowFormat {
    Csv(csv::CsvLayout),
    Ndjson,
}

impl FilePlan {
    /// Prepares a job for the file whose first rows are `chunk`. Returns the plan and the length of the header in
    /// bytes.
    ///
    /// # Errors
    /// The options contradict each other, the file lacks a column that the job reads, or it is not text whose lines end
    /// with LF or CRLF.
    pub fn new(
        job: RecordJob,
        keys: KeyNames,
        format: FileFormat,
        chunk: &[u8],
    ) -> Result<(Self, usize), PlanError> {
        let columns = Columns::from_job(&job)?;
        if is_utf16(chunk) {
            return Err(TextFault::Utf16.into());
        }
        let (rows, head, len) = match format {
            FileFormat::Ndjson => {
                let (mut head, len) = (SecretBuffer::default(), bom_len(chunk));
                head.extend(&chunk[..len]);
                (RowFormat::Ndjson, head, len)
            }
            FileFormat::Csv { delimiter, has_header } => {
                let (layout, head, len) = csv::CsvLayout::read(chunk, delimiter, has_header, &columns)?;
                (RowFormat::Csv(layout), head, len)
            }
        };
        Ok((Self { job, columns, keys, rows, head }, len))
    }

    /// Returns the beginning of the output: a byte order mark, and the header of a CSV file with empty lines before it.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the beginning of the file of rejected rows.
    #[must_use]
    pub fn rejects_head(&self) -> Vec<u8> {
        match &self.rows {
            RowFormat::Csv(layout) => reject::csv_head(layout.delimiter(), self.job.keeps_rejected_rows),
            RowFormat::Ndjson => Vec::new(),
        }
    }

    /// Adds a rejected row: its line in the file, the reason, and the row itself if the job keeps it.
    pub fn push_reject(&self, first_line: u64, reject: &RejectedRow, to: &mut SecretBuffer) {
        let (reason, row) = (self.reason(reject), reject.row.as_deref());
        let line = first_line + reject.line;
        match &self.rows {
            RowFormat::Csv(layout) => reject::push_csv(line, &reason, row, layout.delimiter(), to),
            RowFormat::Ndjson => reject::push_json(line, &reason, row, to),
        }
    }

    /// Returns the reason why a row was rejected, as text. It contains no bytes of the row.
    #[must_use]
    pub fn reason(&self, reject: &RejectedRow) -> String {
        reject::describe(&reject.reason, &self.columns)
    }

    /// Returns the first line end of a chunk that is neither LF nor CRLF, outside of quotes.
    pub(crate) fn foreign_line_end(&self, chunk: &[u8]) -> Option<(usize, ForeignLineEnd)> {
        match &self.rows {
            RowFormat::Csv(layout) => csv::foreign_line_end(chunk, layout.delimiter()),
            RowFormat::Ndjson => ndjson::foreign_line_end(chunk),
        }
    }

    /// Reads the row at `start`; the cells of columns that it lacks are missing.
    #[inline]
    pub(crate) fn row(&self, chunk: &[u8], start: usize, cells: &mut [CellSpan; MAX_COLUMNS]) -> RowSpan {
        *cells = [CellSpan::default(); MAX_COLUMNS];
        match &self.rows {
            RowFormat::Csv(layout) => layout.row(chunk, start, cells),
            RowFormat::Ndjson => ndjson::row(chunk, start, &self.columns, cells),
        }
    }

    /// Returns the bytes of a row that are left out with a column, if all bytes before `from` are left out too.
    pub(crate) fn dropped(&self, chunk: &[u8], from: usize, cell: CellSpan) -> Range<usize> {
        match &self.rows {
            RowFormat::Csv(layout) => csv::dropped(chunk, from, layout.delimiter(), cell),
            RowFormat::Ndjson => ndjson::dropped(chunk, from, cell),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        matches!(self.rows, RowFormat::Ndjson)
    }

    pub(crate) fn delimiter(&self) -> u8 {
        match &self.rows {
            RowFormat::Csv(layout) => layout.delimiter(),
            RowFormat::Ndjson => b',',
        }
    }
}

/// Counts the line ends in bytes.
pub(crate) fn count_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Shows the job.
impl fmt::Debug for FilePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("job", &self.job).finish_non_exhaustive()
    }
}

impl RunError {
    pub(crate) fn machine(reason: impl fmt::Display) -> Self {
        Self::Machine(reason.to_string())
    }
}
