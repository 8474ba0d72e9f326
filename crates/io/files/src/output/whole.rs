//! Complete files, which replace old ones only with permission.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use super::{OutputError, create_draft};
use crate::atomic_file::{folder_of, sync_folder};

/// The permission to overwrite a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// An existing file is an error.
    Nothing,
    /// An existing file is replaced; devices and directories are not.
    AnyFile,
}

/// Returns the permissions of a file that only its owner can read.
#[must_use]
pub fn private_permissions() -> Permissions {
    Permissions::from_mode(0o600)
}

/// Writes a file under a temporary name or none, then gives it its name. The bytes and the name are on disk when this
/// returns.
///
/// # Errors
/// The file exists and `over` forbids replacing it, or it cannot be created, written or named.
pub fn write_file(
    path: &Path,
    text: &[u8],
    permissions: Permissions,
    over: Overwrite,
) -> Result<(), OutputError> {
    let path = checked_path(path, over)?;
    let create = |error| OutputError::Create { path: path.clone(), error };
    let fail = |error| OutputError::Write { path: path.clone(), error };
    let mut draft = create_draft(folder_of(&path), 0o600).map_err(create)?;
    draft.write_all(text).map_err(fail)?;
    draft.file().set_permissions(permissions).map_err(fail)?;
    draft.sync().map_err(fail)?;
    let named = match over {
        Overwrite::Nothing => draft.create_new(&path),
        Overwrite::AnyFile => draft.replace(&path),
    };
    match named {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(OutputError::Exists { path });
        }
        named => named.map_err(fail)?,
    };
    sync_folder(&path).map_err(fail)
}

/// Replaces an existing file as [`write_file`] does. The new file has the permissions and the owner of the old one.
///
/// # Errors
/// The file does not exist or is a device or a directory, or it cannot be written or named.
pub fn replace_file(path: &Path, text: &[u8]) -> Result<(), OutputError> {
    let path = checked_path(path, Overwrite::AnyFile)?;
    let fail = |error| OutputError::Write { path: path.clone(), error };
    let old = fs::metadata(&path).map_err(fail)?;
    let mut draft = create_draft(folder_of(&path), 0o600).map_err(fail)?;
    draft.write_all(text).map_err(fail)?;
    let new = draft.file().metadata().map_err(fail)?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Before the permissions, because a change of the owner may remove some of them.
        fchown(draft.file(), Some(old.uid()), Some(old.gid())).map_err(fail)?;
    }
    draft.file().set_permissions(old.permissions()).map_err(fail)?;
    draft.sync().map_err(fail)?;
    draft.replace(&path).map_err(fail)?;
    sync_folder(&path).map_err(fail)
}

/// Checks a path, and returns the path that is written. The target of a link is replaced, not the link; devices and
/// directories are rejected.
///
/// # Errors
/// The path is a device or a directory, or it exists and `over` forbids replacing it.
pub fn checked_path(path: &Path, over: Overwrite) -> Result<PathBuf, OutputError> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            Err(OutputError::Create { path: path.to_owned(), error: io::ErrorKind::IsADirectory.into() })
        }
        Ok(about) if !about.is_file() => {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "expected a file");
            Err(OutputError::Create { path: path.to_owned(), error })
        }
        Ok(_) if over == Overwrite::Nothing => Err(OutputError::Exists { path: path.to_owned() }),
        _ => Ok(path.canonicalize().unwrap_or_else(|_| path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn an_existing_file_is_replaced_only_with_permission() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.pem");
        write_file(&path, b"one", private_permissions(), Overwrite::Nothing).unwrap();
        let error = write_file(&path, b"two", private_permissions(), Overwrite::Nothing).unwrap_err();
        assert!(matches!(error, OutputError::Exists { .. }) && fs::read(&path).unwrap() == b"one", "{error}");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        write_file(&path, b"two", private_permissions(), Overwrite::AnyFile).unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"two".to_vec(), 1));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.private");
        assert!(replace_file(&path, b"two").is_err() && !path.exists());
        fs::write(&path, b"one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // Only root may give a file away.
        let is_given = std::os::unix::fs::chown(&path, Some(12345), Some(12346)).is_ok();
        let old = fs::metadata(&path).unwrap();
        replace_file(&path, b"two").unwrap();
        let new = fs::metadata(&path).unwrap();
        assert_eq!((new.mode(), new.uid(), new.gid()), (old.mode(), old.uid(), old.gid()), "{is_given}");
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"two".to_vec(), 1));
    }

    #[test]
    fn devices_and_directories_stay_and_links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent/key.pem");
        for path in [Path::new("/dev/null"), folder.path(), &absent] {
            for over in [Overwrite::Nothing, Overwrite::AnyFile] {
                let error = write_file(path, b"", private_permissions(), over).unwrap_err();
                assert!(matches!(error, OutputError::Create { .. }), "{error}");
            }
        }
        let (path, link) = (folder.path().join("key.pem"), folder.path().join("link.pem"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(
            write_file(&link, b"", private_permissions(), Overwrite::Nothing),
            Err(OutputError::Exists { .. })
        ));
        write_file(&path, b"one", private_permissions(), Overwrite::Nothing).unwrap();
        write_file(&link, b"two", private_permissions(), Overwrite::AnyFile).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fs::read(&path).unwrap() == b"two");
    }
}
