//! Who may read a file that holds secrets.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file with secrets that others than this service may read or write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: others may read this private file (mode {mode:04o}): `chmod 600 {}` keeps it private; a file of root may also be \
     readable by a group of this service (0640)",
    path.display(), path.display()
)]
pub struct ExposedSecret {
    /// The file.
    pub path: PathBuf,
    /// Its permissions.
    pub mode: u32,
}

/// Checks that nobody else may read or write a file with secrets: neither its group nor others have any permission. There is
/// one exception: a file of root may be readable by a group of this process, unless this process is root itself. Secrets come so
/// from Kubernetes (`fsGroup`) and from packages (`root:oarlock 0640`).
///
/// # Errors
/// Others may read or write it.
pub fn check_secret_mode(path: &Path, about: &Metadata) -> Result<(), ExposedSecret> {
    let user = rustix::process::geteuid().as_raw();
    if is_private(&Permissions::of(about), user, is_own_group) || !about.is_file() {
        return Ok(());
    }
    Err(ExposedSecret { path: path.to_owned(), mode: about.mode() & 0o7777 })
}

struct Permissions {
    mode: u32,
    owner: u32,
    group: u32,
}

impl Permissions {
    fn of(about: &Metadata) -> Self {
        Self { mode: about.mode(), owner: about.uid(), group: about.gid() }
    }
}

fn is_private(file: &Permissions, user: u32, is_own_group: impl Fn(u32) -> bool) -> bool {
    match file.mode & 0o077 {
        0 => true,
        0o040 => file.owner == 0 && user != 0 && is_own_group(file.group),
        _ => false,
    }
}

fn is_own_group(group: u32) -> bool {
    let groups = rustix::process::getgroups().unwrap_or_default();
    rustix::process::getegid().as_raw() == group || groups.iter().any(|own| own.as_raw() == group)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn nobody_else_may_read_a_secret_but_a_group_of_the_service_by_root_s_will() {
        let is_fine = |mode, owner, group, user| {
            is_private(&Permissions { mode, owner, group }, user, |group| group == 7)
        };
        assert!(is_fine(0o100_600, 5, 5, 5) && is_fine(0o100_400, 0, 0, 5) && is_fine(0o100_000, 0, 0, 0));
        assert!(is_fine(0o100_440, 0, 7, 5) && is_fine(0o100_640, 0, 7, 5));
        assert!(!is_fine(0o100_440, 0, 8, 5), "a group that the process is not of");
        assert!(!is_fine(0o100_640, 5, 7, 5), "the owner himself should keep it private");
        assert!(!is_fine(0o100_640, 0, 7, 0), "root needs no group");
        for mode in [0o100_644, 0o100_604, 0o100_660, 0o100_650, 0o100_601] {
            assert!(!is_fine(mode, 0, 7, 5), "{mode:o}");
        }
    }

    #[test]
    fn the_text_says_what_to_do() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("secret");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = check_secret_mode(&path, &path.metadata().unwrap()).unwrap_err().to_string();
        assert!(error.contains("mode 0644") && error.contains("`chmod 600 "), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        check_secret_mode(&path, &path.metadata().unwrap()).unwrap();
    }
}
