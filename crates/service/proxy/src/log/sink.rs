//! The destination of lines: a file, or stderr.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::config::{LogSettings, LoggedConnections};

/// A file that was opened, or stderr.
#[derive(Debug)]
pub(crate) enum LogSink {
    File { file: File, path: PathBuf },
    Stderr,
}

impl LogSink {
    /// Opens what the settings name. Returns None if no connection is logged.
    pub(crate) fn open(settings: &LogSettings) -> io::Result<Option<Self>> {
        match (&settings.file, settings.connections) {
            (_, LoggedConnections::None) => Ok(None),
            (None, _) => Ok(Some(Self::Stderr)),
            (Some(path), _) => Ok(Some(Self::File { file: open_file(path)?, path: path.clone() })),
        }
    }

    /// Checks that the file could be opened, without making it.
    pub(crate) fn check(settings: &LogSettings) -> io::Result<()> {
        let Some(path) = settings.file.as_ref().filter(|_| settings.connections != LoggedConnections::None)
        else {
            return Ok(());
        };
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        if !std::fs::metadata(directory.unwrap_or(Path::new(".")))?.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        match std::fs::metadata(path) {
            Ok(about) if about.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes some of the bytes. A pipe that is full is an error, [`ErrorKind::WouldBlock`].
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
            Self::File { file, .. } => file.write(bytes)?,
            // Locked for all bytes, so that lines of the other log do not come between.
            Self::Stderr => io::stderr().lock().write_all(bytes).map(|()| bytes.len())?,
        };
        // Without this the writer would try the same bytes in an endless loop.
        if written == 0 { Err(ErrorKind::WriteZero.into()) } else { Ok(written) }
    }

    /// Ends half a line, which a full disk or a crash has left at the end of the file.
    pub(super) fn end_half_a_line(&mut self) -> io::Result<()> {
        let Self::File { file, .. } = self else { return Ok(()) };
        if !file.metadata()?.is_file() || file.seek(SeekFrom::End(0))? == 0 {
            return Ok(());
        }
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
    }

    /// Returns the name for messages.
    pub(super) fn name(&self) -> std::path::Display<'_> {
        match self {
            Self::File { path, .. } => path.display(),
            Self::Stderr => Path::new("stderr").display(),
        }
    }
}

/// Opens a file, or creates it. Its owner and a group may read it: it has addresses and names of clients.
fn open_file(path: &Path) -> io::Result<File> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo());
    let mut options = OpenOptions::new();
    // Reading is for the end of the file. It also opens a pipe that nobody reads yet, which would block otherwise.
    options.append(true).read(true).create(true).mode(0o640);
    if is_pipe {
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}
