//! Backends: their endpoints, the choice among them, their TLS, and the header that they get.
//!
//! | module | content |
//! |---|---|
//! | `set` | the backends of the settings |
//! | `group` | one backend: a connection is tried at one endpoint after the other |
//! | `balance` | the choice of an endpoint |
//! | `endpoint`, `health` | one address, its connections and its health |
//! | `check`, `watch`, `schedule` | checks of endpoints, and the thread that does them |
//! | `members`, `host` | the endpoints of a backend, and names that are looked up again and again |
//! | `history` | what outlives a reload |
//! | `tls`, `sessions` | TLS to a backend |
//! | `page` | metrics |

mod balance;
mod check;
mod endpoint;
mod error;
mod group;
mod health;
mod history;
mod host;
mod members;
mod page;
mod schedule;
mod sessions;
mod set;
mod tls;
mod watch;

pub(crate) use self::error::BackendError;
pub(crate) use self::group::{Backend, BackendConnection, BackendContext};
pub(crate) use self::history::BackendRegistry;
pub(crate) use self::page::write_backends;
pub(crate) use self::set::BackendSet;
pub(crate) use self::tls::BackendTlsContext;
pub(crate) use self::watch::BackendWatch;
