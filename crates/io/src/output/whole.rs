//! Key files that appear whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::KeysError;
use crate::draft_file::create_draft;

/// The permission to overwrite a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    Nothing,
    AnyFile,
}

/// Returns the permissions of a file that only its owner can read.
pub(super) fn private() -> Permissions {
    Permissions::from_mode(0o600)
}

/// Writes a file under a temporary name or none, then gives it its name.
pub(super) fn write(
    path: &Path,
    text: &[u8],
    permissions: Permissions,
    over: Overwrite,
) -> Result<(), KeysError> {
    let path = checked(path, over)?;
    let create = |error| KeysError::Create { path: path.clone(), error };
    let fail = |error| KeysError::Write { path: path.clone(), error };
    let mut draft = create_draft(folder(&path), 0o600).map_err(create)?;
    draft.write_all(text).map_err(fail)?;
    draft.file().set_permissions(permissions).map_err(fail)?;
    draft.sync().map_err(fail)?;
    let named = match over {
        Overwrite::Nothing => draft.create_new(&path),
        Overwrite::AnyFile => draft.replace(&path),
    };
    match named {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(KeysError::Exists { path });
        }
        named => named.map_err(fail)?,
    };
    oarlock_io::atomic_file::sync_folder(&path).map_err(fail)
}

/// Checks a path, and returns the path that is written. The target of a link is replaced, not the link; devices and
/// directories are rejected.
pub(super) fn checked(path: &Path, over: Overwrite) -> Result<PathBuf, KeysError> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            Err(KeysError::Create { path: path.to_owned(), error: io::ErrorKind::IsADirectory.into() })
        }
        Ok(about) if !about.is_file() => {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "expected a file");
            Err(KeysError::Create { path: path.to_owned(), error })
        }
        Ok(_) if over == Overwrite::Nothing => Err(KeysError::Exists { path: path.to_owned() }),
        _ => Ok(path.canonicalize().unwrap_or_else(|_| path.to_owned())),
    }
}

/// Returns the directory of a file.
pub(super) fn folder(path: &Path) -> &Path {
    oarlock_io::atomic_file::folder_of(path)
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
        write(&path, b"one", private(), Overwrite::Nothing).unwrap();
        let error = write(&path, b"two", private(), Overwrite::Nothing).unwrap_err();
        assert!(matches!(error, KeysError::Exists { .. }) && fs::read(&path).unwrap() == b"one", "{error}");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        write(&path, b"two", private(), Overwrite::AnyFile).unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"two".to_vec(), 1));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn devices_and_directories_stay_and_links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent/key.pem");
        for path in [Path::new("/dev/null"), folder.path(), &absent] {
            for over in [Overwrite::Nothing, Overwrite::AnyFile] {
                let error = write(path, b"", private(), over).unwrap_err();
                assert!(matches!(error, KeysError::Create { .. }), "{error}");
            }
        }
        let (path, link) = (folder.path().join("key.pem"), folder.path().join("link.pem"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(write(&link, b"", private(), Overwrite::Nothing), Err(KeysError::Exists { .. })));
        write(&path, b"one", private(), Overwrite::Nothing).unwrap();
        write(&link, b"two", private(), Overwrite::AnyFile).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fs::read(&path).unwrap() == b"two");
    }
}
