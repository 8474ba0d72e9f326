//! The DKIM and ARC mail filter: signs, verifies and seals the messages that an MTA hands over. Internal to Oarlock:
//! the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`config`] | `milter.toml` |
//! | `service`, `error` | the service: opened, bound, running, reloaded |
//! | `state` | the settings in force and the resources that outlive them |
//! | `style` | the settings that all signatures have in common |
//! | `host_name` | the full name of this host |
//! | `client_list` | lists of clients and of authors' domains |
//! | `filter` | the path of a message from its first field to its verdict |
//! | `incoming`, `author` | the header of a message and its addresses |
//! | `signing_address` | the address that selects the lines of the signing table |
//! | `sign`, `verify`, `seal`, `report` | the work at the end of a message and its report |
//! | `outcome` | outcomes, faults and the responses to them |
//! | `table`, `keys` | the signing table and the private keys |
//! | `rotation` | warnings about selectors that begin and end by date |
//! | [`opendkim`] | the settings and tables of OpenDKIM in the form of this filter |
//! | `trust` | the rules that decide which `Authentication-Results` are trusted |
//! | `lookup` | key records: each is looked up once and cached |
//! | `metrics`, `page` | counters and the metrics page |
//!
//! The filter keeps the header of a message, up to the limits. The body passes through hashes and is not kept.
#![forbid(unsafe_code)]

mod author;
mod client_list;
pub mod config;
mod error;
mod filter;
mod host_name;
mod incoming;
mod keys;
mod lookup;
mod metrics;
pub mod opendkim;
mod outcome;
mod page;
mod report;
mod rotation;
mod seal;
mod service;
mod sign;
mod signing_address;
mod state;
mod style;
mod table;
mod trust;
mod verify;

pub use self::client_list::{ClientEntryError, ClientList, DomainEntryError, DomainList};
pub use self::config::{AddressSource, FilterConfig, FilterConfigError};
pub use self::error::FilterServiceError;
pub use self::filter::{DkimFilter, DkimFilters};
pub use self::keys::SigningKeyFault;
pub use self::lookup::key_answer;
pub use self::metrics::FilterMetrics;
pub use self::outcome::{FaultResponse, FaultResponses, MessageFault, MessageOutcome};
pub use self::rotation::RotationWarning;
pub use self::service::{BoundService, FilterService};
pub use self::table::{KeyState, LineDate, LineFault, SigningTable, SigningTableError, TableReload};
pub use oarlock_network::{IpNetwork, NetworkError};
