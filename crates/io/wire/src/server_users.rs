//! The rule that says who may run a server.

/// The users who may run the server of a UNIX socket.
///
/// Any user with write access to the directory of a socket can replace it. So the user is checked before anything is
/// sent: a request may contain a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerUsers {
    uids: Vec<u32>,
    /// True if root and the user of this process are not accepted.
    is_exact: bool,
}

impl ServerUsers {
    /// Accepts root, the user of this process, and `user`, which is a name or a number. A name that the system does not
    /// know adds nobody.
    #[must_use]
    pub fn with_user(user: &str) -> Self {
        Self { uids: oarlock_ffi::uid_of(user).into_iter().collect(), is_exact: false }
    }

    /// Accepts one user and nobody else.
    #[must_use]
    pub fn only(uid: u32) -> Self {
        Self { uids: vec![uid], is_exact: true }
    }

    /// Checks the user of a server.
    ///
    /// # Errors
    /// The users that are accepted.
    pub(crate) fn check(&self, found: u32) -> Result<(), Vec<u32>> {
        let accepted = self.accepted();
        if accepted.contains(&found) { Ok(()) } else { Err(accepted) }
    }

    fn accepted(&self) -> Vec<u32> {
        // Root and this user can read the memory of this process in any case. The process may have changed its user
        // since the settings were read.
        let mut uids = match self.is_exact {
            true => Vec::new(),
            false => vec![0, rustix::process::geteuid().as_raw()],
        };
        uids.extend(&self.uids);
        uids.sort_unstable();
        uids.dedup();
        uids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_this_user_and_the_user_of_the_settings_may_run_a_server() {
        let uid = rustix::process::geteuid().as_raw();
        let stranger = uid + 4711;
        for users in [ServerUsers::default(), ServerUsers::with_user("no such user")] {
            assert_eq!((users.check(0), users.check(uid)), (Ok(()), Ok(())));
            let mut accepted = vec![0, uid];
            accepted.dedup();
            assert_eq!(users.check(stranger), Err(accepted));
        }
        assert_eq!(ServerUsers::with_user(&stranger.to_string()).check(stranger), Ok(()));
        assert_eq!(ServerUsers::only(stranger).check(uid), Err(vec![stranger]));
    }
}
