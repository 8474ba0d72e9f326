//! Sessions, their handles and states.

mod handle;

pub use self::handle::{ObjectHandle, SessionDescription, SessionHandle, SessionState};
