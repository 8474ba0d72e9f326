//! Output files that appear whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use oarlock_io::atomic_file::{AtomicFile, folder_of, sync_folder};

use super::{RecordsError, is_standard};
use crate::draft_file::create_draft;

/// A file under construction.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    to: OutputSink,
}

#[derive(Debug)]
enum OutputSink {
    Stdout(io::Stdout),
    /// A device or a pipe, which cannot be replaced.
    Stream(File),
    /// A file in the folder of its final name. It is removed if it is not finished.
    Draft(AtomicFile),
}

impl OutputFile {
    /// Begins a file; `-` is standard output. Only the owner can read a new file that may contain plaintext.
    pub(crate) fn open(path: &Path, is_secret: bool) -> Result<Self, RecordsError> {
        let fail = |error| RecordsError::Create { path: path.to_path_buf(), error };
        if is_standard(path) {
            return Ok(Self { path: path.to_path_buf(), to: OutputSink::Stdout(io::stdout()) });
        }
        // The file that a link points at is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let to = match fs::metadata(&path) {
            Ok(about) if about.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
            Ok(about) if !about.is_file() => {
                OutputSink::Stream(File::options().write(true).open(&path).map_err(fail)?)
            }
            Ok(about) => OutputSink::Draft(draft(&path, Some(about.permissions()), is_secret).map_err(fail)?),
            Err(_) => OutputSink::Draft(draft(&path, None, is_secret).map_err(fail)?),
        };
        Ok(Self { path, to })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), RecordsError> {
        let fail = |error| RecordsError::Write { path: self.path.clone(), error };
        match &mut self.to {
            OutputSink::Stdout(stdout) => Ok(stdout.write_all(bytes)?),
            OutputSink::Stream(file) => file.write_all(bytes).map_err(fail),
            OutputSink::Draft(draft) => draft.write_all(bytes).map_err(fail),
        }
    }

    /// Writes all bytes to disk. The file gets no name yet.
    pub(crate) fn sync(&mut self) -> Result<(), RecordsError> {
        let fail = |error| RecordsError::Write { path: self.path.clone(), error };
        match &mut self.to {
            OutputSink::Stdout(stdout) => Ok(stdout.flush()?),
            OutputSink::Stream(file) => file.flush().map_err(fail),
            OutputSink::Draft(draft) => draft.sync().map_err(fail),
        }
    }

    /// Gives the file its name.
    pub(crate) fn name(self) -> Result<(), RecordsError> {
        let OutputSink::Draft(draft) = self.to else { return Ok(()) };
        let fail = |error| RecordsError::Write { path: self.path.clone(), error };
        draft.replace(&self.path).map_err(fail)?;
        sync_folder(&self.path).map_err(fail)
    }
}

/// A new file in the folder of `path`.
fn draft(path: &Path, own: Option<Permissions>, is_secret: bool) -> io::Result<AtomicFile> {
    let mode = if is_secret { 0o600 } else { 0o666 };
    let draft = create_draft(folder_of(path), mode)?;
    if let Some(own) = own {
        draft.file().set_permissions(own)?;
    }
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let mut target = OutputFile::open(&path, true).unwrap();
        target.write(b"new").unwrap();
        target.sync().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(target);
        assert_eq!((names(folder.path()).len(), fs::read_to_string(&path).unwrap().as_str()), (1, "old"));
        let mut target = OutputFile::open(&path, true).unwrap();
        target.write(b"new").unwrap();
        target.sync().unwrap();
        target.name().unwrap();
        assert_eq!((names(folder.path()).len(), fs::read_to_string(&path).unwrap().as_str()), (1, "new"));
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o640, "a file that is replaced keeps its permissions");
    }

    #[test]
    fn plaintext_is_its_owners_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        OutputFile::open(&path, true).unwrap().name().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        let mut null = OutputFile::open(Path::new("/dev/null"), false).unwrap();
        null.write(b"x").unwrap();
        null.sync().unwrap();
        null.name().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(OutputFile::open(folder.path(), false).is_err());
        assert!(OutputFile::open(&folder.path().join("absent/x"), false).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        OutputFile::open(&link, false).unwrap().name().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
