//! The permissions of files with secrets.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An error for a file with secrets that users other than this service may read or write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: others may read this private file (mode {mode:04o}): `chmod 600 {}` keeps it private; a file of root may also be \
     readable by a group of this service (0640)",
    path.display(), path.display()
)]
pub struct ExposedSecret {
    /// The path of the file.
    pub path: PathBuf,
    /// The permissions of the file.
    pub mode: u32,
}

/// The process that will read a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretReader {
    /// This process.
    #[default]
    ThisProcess,
    /// A service whose files root checks. It may run as another user, in a group that is known at its start only.
    Service,
}

/// Checks that no other user may read or write a file with secrets: neither its group nor others have any permission.
/// There is one exception: a group of this process may read a file of root, unless this process is root itself.
/// Kubernetes (`fsGroup`) and packages (`root:oarlock 0640`) provide secrets this way.
///
/// # Errors
/// Others may read or write the file.
pub fn check_secret_mode(path: &Path, about: &Metadata) -> Result<(), ExposedSecret> {
    check_secret_mode_for(SecretReader::ThisProcess, path, about)
}

/// Does the same check for another reader. Root may check the files of a service. One group, of any name, may read such
/// files; [`secret_group`] returns it.
///
/// # Errors
/// Others may read or write the file.
pub fn check_secret_mode_for(
    reader: SecretReader,
    path: &Path,
    about: &Metadata,
) -> Result<(), ExposedSecret> {
    let user = rustix::process::geteuid().as_raw();
    if is_private(&SecretPermissions::from_metadata(about), reader, user, is_own_group) || !about.is_file() {
        return Ok(());
    }
    Err(ExposedSecret { path: path.to_owned(), mode: about.mode() & 0o7777 })
}

/// Returns the group that may read a file with secrets. A service in that group needs it, and a server that runs as
/// root rejects it.
#[must_use]
pub fn secret_group(path: &Path) -> Option<String> {
    let about = path.metadata().ok().filter(Metadata::is_file)?;
    (about.mode() & 0o077 == 0o040).then(|| group_name(about.gid()))
}

/// Returns the name of a group, or its number if it is not in /etc/group.
fn group_name(group: u32) -> String {
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let number = group.to_string();
    // group(5): name, password, number, members.
    let name = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(&*number)).then(|| name.to_owned())
    });
    name.unwrap_or(number)
}

struct SecretPermissions {
    mode: u32,
    owner: u32,
    group: u32,
}

impl SecretPermissions {
    fn from_metadata(about: &Metadata) -> Self {
        Self { mode: about.mode(), owner: about.uid(), group: about.gid() }
    }
}

fn is_private(
    file: &SecretPermissions,
    reader: SecretReader,
    user: u32,
    is_own_group: impl Fn(u32) -> bool,
) -> bool {
    match file.mode & 0o077 {
        0 => true,
        0o040 if user == 0 => file.owner == 0 && reader == SecretReader::Service,
        0o040 => file.owner == 0 && is_own_group(file.group),
        _ => false,
    }
}

fn is_own_group(group: u32) -> bool {
    let groups = rustix::process::getgroups().unwrap_or_default();
    rustix::process::getegid().as_raw() == group || groups.iter().any(|member| member.as_raw() == group)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_a_group_of_the_service_may_read_a_secret_of_root() {
        let judge = |reader, mode, owner, group, user| {
            is_private(&SecretPermissions { mode, owner, group }, reader, user, |group| group == 7)
        };
        let is_fine = |mode, owner, group, user| judge(SecretReader::ThisProcess, mode, owner, group, user);
        assert!(is_fine(0o100_600, 5, 5, 5) && is_fine(0o100_400, 0, 0, 5) && is_fine(0o100_000, 0, 0, 0));
        assert!(is_fine(0o100_440, 0, 7, 5) && is_fine(0o100_640, 0, 7, 5));
        assert!(!is_fine(0o100_440, 0, 8, 5), "a group that the process is not of");
        assert!(!is_fine(0o100_640, 5, 7, 5), "the owner himself should keep it private");
        assert!(!is_fine(0o100_640, 0, 7, 0), "root needs no group");
        for mode in [0o100_644, 0o100_604, 0o100_660, 0o100_650, 0o100_601] {
            assert!(!is_fine(mode, 0, 7, 5), "{mode:o}");
            assert!(!judge(SecretReader::Service, mode, 0, 7, 0), "{mode:o}");
        }
        // Root checks for a service with unknown groups; other users know their own.
        assert!(judge(SecretReader::Service, 0o100_640, 0, 8, 0));
        assert!(!judge(SecretReader::Service, 0o100_640, 5, 8, 0), "the owner could change it");
        assert!(!judge(SecretReader::Service, 0o100_640, 0, 8, 5));
    }

    #[test]
    fn groups_have_names_or_numbers() {
        assert_eq!(group_name(u32::MAX - 7), "4294967288");
        let groups = fs::read_to_string("/etc/group").unwrap_or_default();
        if groups.lines().any(|line| line.starts_with("root:x:0:")) {
            assert_eq!(group_name(0), "root");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, "x").unwrap();
        let group_at = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            secret_group(&path)
        };
        assert_eq!(group_at(0o640), Some(group_name(path.metadata().unwrap().gid())));
        assert_eq!((group_at(0o600), group_at(0o644)), (None, None));
    }

    #[test]
    fn the_error_states_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = check_secret_mode(&path, &path.metadata().unwrap()).unwrap_err().to_string();
        assert!(error.contains("mode 0644") && error.contains("`chmod 600 "), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        check_secret_mode(&path, &path.metadata().unwrap()).unwrap();
    }
}
