//! What touches the outside for more than one door.
//!
//! | module | what it holds |
//! |---|---|
//! | [`KeyDirectory`] | a directory of key files, looked at again whenever it may have changed |
//! | [`FileStamp`] | whether a file has changed |
//! | [`check_secret_mode`] | who may read a file with secrets |
//! | [`LogLimit`] | repeated log lines as a count |
//! | [`read_private`] | a file with secrets, read if nobody else may read it |
//! | [`SocketFile`] | the file of a UNIX socket, which replaces and removes nothing else |
//! | [`mail`] | messages in files, directories, mbox, Maildir and streams, and back into them |
//! | `compressed` | files that may be compressed, as streams; needs the feature `compressed` |
//! | `dns` | TXT records from name servers or a file; needs the feature `dns` |
//! | `metrics` | a page for Prometheus; needs the feature `metrics` |
#![forbid(unsafe_code)]

#[cfg(feature = "net")]
mod accept;
pub mod atomic_file;
#[cfg(feature = "compressed")]
pub mod compressed;
#[cfg(feature = "dns")]
pub mod dns;
mod file_stamp;
#[cfg(feature = "net")]
mod idle_timer;
mod key_directory;
mod log_limit;
pub mod mail;
#[cfg(feature = "metrics")]
pub mod metrics;
mod private_file;
mod secret_file;
mod socket_file;

#[cfg(feature = "net")]
pub use accept::accept_next;
pub use atomic_file::AtomicFile;
pub use file_stamp::FileStamp;
#[cfg(feature = "net")]
pub use idle_timer::IdleTimer;
pub use key_directory::{
    ENDINGS, FileFault, KeyDirectory, KeyDirectoryChanges, KeyDirectoryError, KeyListing, KeyMaterial,
    is_key_name, read_passphrase, read_private_passphrase, read_secret,
};
pub use log_limit::LogLimit;
pub use private_file::{KeyForPath, check_key_path, check_private, read_private};
pub use secret_file::{ExposedSecret, SecretReader, check_secret_mode, check_secret_mode_for, secret_group};
pub use socket_file::{SocketFile, SocketFileError};
