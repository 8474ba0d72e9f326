//! Output files that are written piece by piece.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{OutputError, create_draft};
use crate::atomic_file::{AtomicFile, folder_of, sync_folder};

/// A file under construction.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    to: OutputStream,
}

#[derive(Debug)]
enum OutputStream {
    Stdout(io::Stdout),
    /// A device or a pipe, which cannot be replaced.
    Stream(File),
    /// A file in the folder of its final name. It is removed if it is not finished.
    Draft(AtomicFile),
}

impl OutputFile {
    /// Begins a file; `-` is standard output. Only the owner can read a new file that is secret.
    ///
    /// # Errors
    /// [`OutputError::Create`] if the path is a directory or its folder cannot be written.
    pub fn open(path: &Path, is_secret: bool) -> Result<Self, OutputError> {
        let fail = |error| OutputError::Create { path: path.to_path_buf(), error };
        if path == Path::new("-") {
            return Ok(Self { path: path.to_path_buf(), to: OutputStream::Stdout(io::stdout()) });
        }
        // The file that a link points at is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let to = match fs::metadata(&path) {
            Ok(about) if about.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
            Ok(about) if !about.is_file() => {
                OutputStream::Stream(File::options().write(true).open(&path).map_err(fail)?)
            }
            Ok(about) => {
                OutputStream::Draft(draft(&path, Some(about.permissions()), is_secret).map_err(fail)?)
            }
            Err(_) => OutputStream::Draft(draft(&path, None, is_secret).map_err(fail)?),
        };
        Ok(Self { path, to })
    }

    /// Writes some bytes.
    ///
    /// # Errors
    /// The system cannot write them.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let fail = |error| OutputError::Write { path: self.path.clone(), error };
        match &mut self.to {
            OutputStream::Stdout(stdout) => Ok(stdout.write_all(bytes)?),
            OutputStream::Stream(file) => file.write_all(bytes).map_err(fail),
            OutputStream::Draft(draft) => draft.write_all(bytes).map_err(fail),
        }
    }

    /// Writes all bytes to disk. The file gets no name yet.
    ///
    /// # Errors
    /// The system cannot write them.
    pub fn sync(&mut self) -> Result<(), OutputError> {
        let fail = |error| OutputError::Write { path: self.path.clone(), error };
        match &mut self.to {
            OutputStream::Stdout(stdout) => Ok(stdout.flush()?),
            OutputStream::Stream(file) => file.flush().map_err(fail),
            OutputStream::Draft(draft) => draft.sync().map_err(fail),
        }
    }

    /// Gives the file its name, in the place of an old file, whose permissions it has.
    ///
    /// # Errors
    /// The name cannot be given. The old file is untouched then.
    pub fn name(self) -> Result<(), OutputError> {
        let OutputStream::Draft(draft) = self.to else { return Ok(()) };
        let fail = |error| OutputError::Write { path: self.path.clone(), error };
        draft.replace(&self.path).map_err(fail)?;
        sync_folder(&self.path).map_err(fail)
    }
}

/// A new file in the folder of `path`.
fn draft(path: &Path, permissions: Option<Permissions>, is_secret: bool) -> io::Result<AtomicFile> {
    let mode = if is_secret { 0o600 } else { 0o666 };
    let draft = create_draft(folder_of(path), mode)?;
    if let Some(permissions) = permissions {
        draft.file().set_permissions(permissions)?;
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
    fn a_file_appears_complete_or_not_at_all() {
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
    fn a_secret_file_is_private_and_devices_are_not_replaced() {
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
