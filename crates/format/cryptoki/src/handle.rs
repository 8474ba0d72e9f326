//! Handles, and the description of a session.

use crate::token::SlotId;

/// A handle of a session, `CK_SESSION_HANDLE`: the index of its entry, and behind it the generation of the entry.
///
/// The handle of a closed session stays invalid, even if its entry serves another session. No handle is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionHandle(pub u64);

/// A handle of an object, `CK_OBJECT_HANDLE`. It is never used again for another object, and never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectHandle(pub u64);

/// The state of a session, `CK_STATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum TokenSessionState {
    /// `CKS_RO_PUBLIC_SESSION`.
    ReadOnlyPublic = 0,
    /// `CKS_RO_USER_FUNCTIONS`.
    ReadOnlyUser = 1,
    /// `CKS_RW_PUBLIC_SESSION`.
    ReadWritePublic = 2,
    /// `CKS_RW_USER_FUNCTIONS`.
    ReadWriteUser = 3,
    /// `CKS_RW_SO_FUNCTIONS`.
    ReadWriteSecurityOfficer = 4,
}

/// The description of a session, `CK_SESSION_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionDescription {
    /// The slot with which the session was opened.
    pub slot: SlotId,
    /// The state, whose number is `CK_STATE`.
    pub state: TokenSessionState,
    /// The flags, [`session_flags`](crate::session_flags).
    pub flags: u64,
}
