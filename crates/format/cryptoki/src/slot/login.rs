//! The login, which all sessions of a slot share.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::token::UserType;

/// The user who is logged in.
#[derive(Debug, Default)]
pub(crate) struct LoginState(AtomicU8);

const NOBODY: u8 = 0;
const SECURITY_OFFICER: u8 = 1;
const USER: u8 = 2;

impl LoginState {
    pub(crate) fn user(&self) -> Option<UserType> {
        // Acquire pairs with the release of `set`: who sees the login sees the objects that came with it.
        match self.0.load(Ordering::Acquire) {
            SECURITY_OFFICER => Some(UserType::SecurityOfficer),
            USER => Some(UserType::User),
            _ => None,
        }
    }

    pub(crate) fn set(&self, user: Option<UserType>) {
        let value = match user {
            Some(UserType::SecurityOfficer) => SECURITY_OFFICER,
            Some(UserType::User | UserType::ContextSpecific) => USER,
            None => NOBODY,
        };
        self.0.store(value, Ordering::Release);
    }

    /// True if private objects are visible.
    pub(crate) fn is_user(&self) -> bool {
        self.user() == Some(UserType::User)
    }
}
