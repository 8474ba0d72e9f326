//! Keys in HSMs and other devices with a PKCS#11 module, as a holder of keys. Internal to Oarlock: the interface
//! changes without notice.
//!
//! [`Hsm`] is one token of one module. It finds keys by their [`Pkcs11Uri`], and performs their jobs on a few threads
//! with a session each, because modules block. Digests are made by the caller, and verification is done here: every
//! signature is verified before anyone sees it. Records under its secret keys are computed by its mechanisms, too.
//!
//! [`HsmSet`] is the devices of a service as one holder. Each runs its module in a process of its own ([`isolated`]),
//! unless its settings say otherwise. A module in this process ends it by a crash, and by asking for more memory than
//! there is; one that lies about the lengths of attributes can read the memory of its process.
//!
//! | module | content |
//! |---|---|
//! | `settings`, `uri` | the settings of a device, and names of tokens and objects |
//! | `set` | [`HsmSet`]: several devices, and the way of a job to one that has its key |
//! | `isolated` | a device in a process of its own |
//! | `device`, `report` | [`Hsm`]: a device in this process; its state and its statistics |
//! | `pool` | threads, the queue, calls that hang, quarantine |
//! | `module`, `token`, `session` | a loaded module, a token and its login, a session and its repair |
//! | `object`, `public_half` | keys of a token and their public halves |
//! | `operation` | schemes as mechanisms |
//! | `key` | keys as devices describe them |
//! | `batch`, `record`, `secret_call` | records under secret keys: a batch, its records, and their mechanisms |
//! | `error`, `fault` | errors, and what an error of a call means |
#![forbid(unsafe_code)]

mod batch;
mod device;
mod error;
mod fault;
pub mod isolated;
mod key;
mod module;
mod object;
mod operation;
mod pool;
mod public_half;
mod record;
mod report;
mod secret_call;
mod session;
mod set;
mod settings;
mod task;
mod token;
mod uri;

pub use device::{Hsm, TokenKey};
pub use error::HsmError;
pub use key::{HsmKey, HsmKeyDescription};
pub use report::{HsmReport, HsmState};
pub use set::{DeviceReport, HsmSet};
pub use settings::{HSM_HOLDER, HsmSettings, HsmSettingsError, MAX_SESSIONS};
pub use uri::{MAX_URI_LEN, Pkcs11Uri, UriClass, UriError};
