//! The state of a slot: the login, and the objects of its token and of its sessions.

mod login;
mod objects;

pub(crate) use self::login::LoginState;
pub(crate) use self::objects::SlotObjects;
