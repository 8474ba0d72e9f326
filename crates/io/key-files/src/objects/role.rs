//! The owners of PINs.

use std::fmt;

/// The owner of a PIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PinRole {
    /// The security officer, who initialises a store and sets the user PIN.
    SecurityOfficer,
    /// The user, who sees private objects.
    User,
}

impl PinRole {
    /// Both roles.
    pub const ALL: [Self; 2] = [Self::SecurityOfficer, Self::User];

    pub(super) fn number(self) -> u8 {
        match self {
            Self::SecurityOfficer => 0,
            Self::User => 1,
        }
    }

    pub(super) fn unlock_hint(self) -> &'static str {
        match self {
            Self::SecurityOfficer => "only a new token helps: remove the file and make another",
            Self::User => "the security officer sets a new one with `oarlock token pin --unlock`",
        }
    }
}

impl fmt::Display for PinRole {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::SecurityOfficer => "security officer",
            Self::User => "user",
        })
    }
}
