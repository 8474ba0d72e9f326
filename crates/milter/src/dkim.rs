//! The DKIM and ARC filter: messages signed, verified and sealed as an MTA tells them.
//!
//! | file | what it holds |
//! |---|---|
//! | `config`, `network` | `milter.toml` |
//! | `service` | settings made real, bound, running, reloaded |
//! | `host_name` | the full name of this host |
//! | `filter` | the filter: a message's way from its first field to its verdict |
//! | `collect`, `author` | its header, and who wrote it |
//! | `sign`, `verify`, `report` | what is done at its end, and what is said of it |
//! | `outcome` | what may be wrong with it, and what is done then |
//! | `table`, `keys` | whose messages are signed, and with what |
//! | `trust` | whose results are believed |
//! | `lookup` | key records: asked for once, kept |
//! | `metrics`, `page` | what operators watch |
//!
//! Of a message its header is kept, up to the limits; its body passes through hashes and is not.

mod author;
mod collect;
pub mod config;
mod filter;
mod host_name;
mod keys;
mod lookup;
mod metrics;
mod network;
mod outcome;
mod page;
mod report;
mod service;
mod sign;
mod table;
mod trust;
mod verify;

pub use config::{Config, ConfigError};
pub use filter::{DkimFilter, DkimFilters};
pub use keys::KeyFault;
pub use lookup::key_answer;
pub use metrics::Metrics;
pub use network::{Network, NetworkError};
pub use outcome::{Fault, Outcome, Response, Responses};
pub use service::{Bound, Service, ServiceError};
pub use table::{LineFault, Reload, SigningTable, State, TableError};
