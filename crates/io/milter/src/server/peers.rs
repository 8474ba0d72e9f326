//! The users that may connect to UNIX sockets.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::net::UnixStream;

use super::MilterServerError;

/// The root user. It could connect anyway.
const ROOT: u32 = 0;

/// The process at the other end of a connection, as the system reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PeerProcess {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// The supplementary groups.
    pub(super) groups: Vec<u32>,
    pub(super) pid: Option<i32>,
}

/// The users that the settings name for UNIX sockets. Clones share them, and they can be replaced while the server
/// runs.
#[derive(Clone, Debug, Default)]
pub struct UnixUsers(Arc<RwLock<Option<Vec<u32>>>>);

/// The users that may connect to a socket, besides root and the server's own user: those that are named, or the members
/// of the socket's group if the settings name none.
#[derive(Clone, Debug)]
pub(super) struct AllowedUsers {
    named: UnixUsers,
    group: u32,
}

impl PeerProcess {
    pub(super) fn from_stream(stream: &UnixStream) -> io::Result<Self> {
        let peer = stream.peer_cred()?;
        // An older kernel does not report supplementary groups. Then only the primary group counts.
        let groups = oarlock_ffi::peer_groups(stream.as_fd()).unwrap_or_default();
        Ok(Self { uid: peer.uid(), gid: peer.gid(), groups, pid: peer.pid() })
    }
}

impl UnixUsers {
    pub(super) fn new(numbers: Option<Vec<u32>>) -> Self {
        Self(Arc::new(RwLock::new(numbers)))
    }

    /// Replaces the users for connections that begin from now on, by their numbers. `None` allows the members of the
    /// socket's group.
    pub fn replace(&self, numbers: Option<Vec<u32>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = numbers;
    }
}

/// Returns the numbers of users, each of which is a name in `/etc/passwd` or a number.
///
/// # Errors
/// [`MilterServerError::User`] if a user does not exist.
pub fn user_numbers(users: Option<&[String]>) -> Result<Option<Vec<u32>>, MilterServerError> {
    let number =
        |user: &String| number(user, "/etc/passwd").ok_or_else(|| MilterServerError::User(user.clone()));
    users.map(|users| users.iter().map(number).collect::<Result<_, _>>()).transpose()
}

impl AllowedUsers {
    /// Returns the rule for a socket and its file.
    pub(super) fn new(named: UnixUsers, path: &Path) -> io::Result<Self> {
        Ok(Self { named, group: fs::symlink_metadata(path)?.gid() })
    }

    /// Returns true if the peer may connect to a server that runs as user `uid`.
    pub(super) fn admits(&self, peer: &PeerProcess, uid: u32) -> bool {
        let is_allowed = match &*self.named.0.read().unwrap_or_else(PoisonError::into_inner) {
            Some(users) => users.contains(&peer.uid),
            None => peer.gid == self.group || peer.groups.contains(&self.group),
        };
        is_allowed || peer.uid == ROOT || peer.uid == uid
    }
}

/// Returns the number of a group that is given by name or number.
pub(super) fn group_number(group: &str) -> Result<u32, MilterServerError> {
    number(group, "/etc/group").ok_or_else(|| MilterServerError::Group(group.into()))
}

fn number(name: &str, file: &str) -> Option<u32> {
    name.parse().ok().or_else(|| find_number(&fs::read_to_string(file).ok()?, name))
}

/// Finds the number of a group or user in the format of `group(5)` and `passwd(5)`, which start with the same fields.
fn find_number(entries: &str, name: &str) -> Option<u32> {
    entries.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then(|| fields.nth(1)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_groups_by_their_whole_name() {
        let groups = "root:x:0:\nmail:x:8:a,b\nmailman:x:38:\nbroken\n:x:9:\n";
        assert_eq!(find_number(groups, "mail"), Some(8));
        assert_eq!(find_number(groups, "mailm"), None);
        assert_eq!(find_number(groups, "broken"), None);
        assert_eq!(group_number("42").unwrap(), 42);
        assert!(matches!(group_number("no such group"), Err(MilterServerError::Group(_))));
        let users = "root:x:0:0:root:/root:/bin/sh\npostfix:x:101:106::/var/spool/postfix:/bin/false\n";
        assert_eq!(find_number(users, "postfix"), Some(101));
    }

    fn peer(uid: u32, gid: u32, groups: &[u32]) -> PeerProcess {
        PeerProcess { uid, gid, groups: groups.to_vec(), pid: None }
    }

    #[test]
    fn members_of_the_group_may_connect_unless_users_are_named() {
        let uid = 200;
        let rule = AllowedUsers { named: UnixUsers::default(), group: 300 };
        for allowed in [peer(0, 0, &[]), peer(200, 200, &[]), peer(101, 300, &[]), peer(101, 101, &[5, 300])]
        {
            assert!(rule.admits(&allowed, uid), "{allowed:?}");
        }
        for stranger in [peer(101, 101, &[]), peer(300, 101, &[5]), peer(101, 200, &[200])] {
            assert!(!rule.admits(&stranger, uid), "{stranger:?}");
        }
        // The same rule after the settings have changed.
        let replace = |users: &[&str]| {
            let users: Vec<String> = users.iter().map(|user| (*user).to_owned()).collect();
            user_numbers(Some(&users)).map(|numbers| rule.named.replace(numbers))
        };
        replace(&["101"]).unwrap();
        assert!(rule.admits(&peer(101, 101, &[]), uid) && rule.admits(&peer(200, 7, &[]), uid));
        assert!(!rule.admits(&peer(102, 300, &[300]), uid));
        assert!(matches!(replace(&["102", "no such user"]), Err(MilterServerError::User(_))));
        assert!(rule.admits(&peer(101, 101, &[]), uid) && !rule.admits(&peer(102, 102, &[]), uid));
        rule.named.replace(user_numbers(None).unwrap());
        assert!(rule.admits(&peer(102, 300, &[]), uid) && !rule.admits(&peer(101, 101, &[]), uid));
    }
}
