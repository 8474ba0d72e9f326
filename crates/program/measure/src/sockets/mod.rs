//! TLS records by the kernel and by user space.
//!
//! | module | what it holds |
//! |---|---|
//! | [`probe`] | `oarlock sockets probe`: which records this kernel makes, and which way costs less here |
//! | `suite` | the suites of measured records |
//! | `seal` | keys of measured connections, and records of user space |

pub mod probe;
mod seal;
mod suite;

pub use self::seal::{StreamKeys, record_keys, sealer};
pub use self::suite::{MAX_CONTENT, SocketSuite};
