//! The errors of `oarlock records`.

use std::io;
use std::path::PathBuf;

use arrow_schema::ArrowError;
use oarlock::keys::text_file::TextFault;
use oarlock::{Blame, BuildError};
use oarlock_columns::ColumnError;
use oarlock_files::output::OutputError;
use oarlock_keytable::TableError;
use oarlock_records::{ChunkError, KeyFileError, PlanError, RunError};
use oarlock_terminal::{CommandError, FailureKind};
use oarlock_wire::RemoteError;

use crate::call::CallError;

/// An error of `oarlock records`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordsError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cannot read {}: {error}", path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("{name}: {error}")]
    Chunk { name: String, error: ChunkError },
    #[error("{name}{}: {fault}", in_batch(*.batch))]
    Arrow { name: String, batch: Option<u64>, fault: BatchFault },
    #[error(transparent)]
    Column(ColumnError),
    #[error("{option} does not suit Arrow files: {reason}")]
    ArrowOption { option: &'static str, reason: &'static str },
    #[error("{name} is truncated: its last row, on line {line}, is not whole ({reason})")]
    Truncated { name: String, line: u64, reason: String },
    #[error("{name}: line {line}: {reason}")]
    Line { name: String, line: u64, reason: String },
    #[error("{}: {error}", path.display())]
    Keys { path: PathBuf, error: KeyFileError },
    #[error("{origin}: expected a key in hexadecimal digits")]
    NotHex { origin: String },
    #[error("{origin}: {fault}")]
    Text { origin: String, fault: TextFault },
    #[error("{origin}: {error}")]
    Key { origin: String, error: TableError },
    #[error("the environment has no {0}")]
    NoVariable(String),
    #[error("{} has no key named {name:?}", path.display())]
    NoKey { path: PathBuf, name: String },
    #[error(
        "{server} has no symmetric key named {name:?} for this client: expected one that `oarlock call keys` lists, or \
         --keys FILE"
    )]
    NoServerKey { server: String, name: String },
    #[error("{0}: `oarlock serve` starts a server, and --server names another one")]
    ServerKeys(RemoteError),
    #[error(transparent)]
    Server(#[from] CallError),
    #[error(transparent)]
    Plan(PlanError),
    #[error("{0}")]
    Usage(&'static str),
    #[error("{} is the input and would be overwritten: expected another output", path.display())]
    OverInput { path: PathBuf },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
    #[error("{rejected} of {} rejected{hint}", oarlock_terminal::table::count(*.rows, "row"))]
    Rejected { rejected: u64, rows: u64, hint: &'static str },
    /// Another thread has failed and reports the reason.
    #[error("stopped")]
    Stopped,
}

/// The fault of an Arrow file, or of a batch in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchFault {
    #[error("expected Arrow IPC: a file begins with ARROW1, and a stream with the bytes FF FF FF FF")]
    NoArrow,
    #[error("an Arrow file is read from its end: expected its path, or a stream instead of a file")]
    FileFromPipe,
    #[error("it is truncated")]
    Truncated,
    #[error("the lengths, positions and types in it contradict each other")]
    Malformed,
    #[error("it is compressed by Zstandard: expected LZ4 or no compression")]
    Zstandard,
    #[error("there is no column {name:?}: expected one of {known}")]
    NoColumn { name: String, known: String },
    #[error("there are {count} columns {name:?}: expected one")]
    RepeatedColumn { name: String, count: usize },
    #[error("it has {rows} rows: expected {max} at most")]
    TooManyRows { rows: usize, max: usize },
    #[error("a file cannot replace the dictionary of a column: expected the output of a stream, FILE.arrows")]
    ReplacedDictionary,
    #[error(transparent)]
    Read(io::Error),
    #[error(transparent)]
    Column(#[from] ColumnError),
    #[error(transparent)]
    Arrow(ArrowError),
}

impl From<ArrowError> for BatchFault {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => error.into(),
            // arrow-ipc names its own feature, which a user cannot change.
            ArrowError::InvalidArgumentError(text) if text.contains("zstd") => Self::Zstandard,
            other => Self::Arrow(other),
        }
    }
}

impl From<io::Error> for BatchFault {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(fault) => fault,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Self::Truncated,
            Err(error) if error.raw_os_error().is_some() => Self::Read(error),
            // Other errors come from decompression, so the bytes are at fault and not the machine.
            Err(_) => Self::Malformed,
        }
    }
}

fn in_batch(batch: Option<u64>) -> String {
    batch.map_or_else(String::new, |batch| format!(", batch {batch}"))
}

impl From<ChunkError> for RecordsError {
    /// The name of the file is added by [`RecordsError::in_file`].
    fn from(error: ChunkError) -> Self {
        Self::Chunk { name: String::new(), error }
    }
}

impl RecordsError {
    /// Names the file in an error of its chunks.
    pub(super) fn in_file(self, file: &str) -> Self {
        match self {
            Self::Chunk { error, .. } => Self::Chunk { name: file.to_owned(), error },
            other => other,
        }
    }
}

impl CommandError for RecordsError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Rejected { .. } => FailureKind::AnswerNo,
            Self::Build(error) => error.kind(),
            Self::Server(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Output(error) => error.kind(),
            Self::Chunk { error: ChunkError::Read(_), .. }
            | Self::Arrow { fault: BatchFault::Read(_), .. }
            | Self::ServerKeys(_)
            | Self::Run(_)
            | Self::Stopped => FailureKind::Machine,
            Self::Arrow { fault: BatchFault::Column(error), .. } if error.blame() == Blame::Machine => {
                FailureKind::Machine
            }
            _ => FailureKind::Usage,
        }
    }
}
