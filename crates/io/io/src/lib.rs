//! Files, sockets and the network, for several services.
//!
//! | module | content |
//! |---|---|
//! | [`AtomicFile`], [`atomic_file`] | files that appear complete or not at all |
//! | [`KeyDirectory`] | a directory of key files, read again after changes |
//! | [`FileStamp`] | the recognition of changed files |
//! | [`HostName`], [`HostNamePattern`] | host names as they are compared, and in settings |
//! | [`IpNetwork`] | IP networks in settings |
//! | [`check_secret_mode`] | the permissions of files with secrets |
//! | [`line_number`] | the line of a fault in a settings file |
//! | [`LogLimit`] | repeated log lines as a count |
//! | `output` | files that a command writes, which a signal does not leave unfinished; needs the feature `output` |
//! | [`read_private`] | files with secrets that no other user may read |
//! | [`sealed`] | key files sealed with age |
//! | [`service_manager`] | messages of a service to systemd |
//! | [`SocketFile`] | the file of a UNIX socket, which replaces and removes no other file |
//! | [`TextBlocks`] | a text read block by block on a thread of its own |
//! | [`read_text`], [`first_line`] | text files whose lines end with LF or CRLF |
//! | [`mail`] | messages in files, directories, mbox, Maildir and streams, and back into them |
//! | `compressed` | files that may be compressed, as streams; needs the feature `compressed` |
//! | `dns` | TXT records from name servers or a file; needs the feature `dns` |
//! | `kernel_tls` | TLS records by the kernel; needs the feature `kernel-tls` |
//! | `metrics` | a page for Prometheus; needs the feature `metrics` |
//! | `objects` | the objects of a token, encrypted under PINs; needs the feature `objects` |
//! | `TokenFile` | a file of objects as a token of PKCS#11; needs the feature `token-file` |
//! | `accept_next`, `IdleTimer`, `linger` | accepting and ending connections, limits on silence; need the feature `net` |
//! | `HandshakeAdmission` | limits of connections whose client is not known yet; needs the feature `net` |
//! | `PassedSockets` | listening sockets that systemd has bound; needs the feature `net` |
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
mod handshake_admission;
mod host_name;
#[cfg(feature = "net")]
mod idle_timer;
mod ip_network;
#[cfg(feature = "kernel-tls")]
pub mod kernel_tls;
mod key_directory;
mod line_number;
#[cfg(feature = "net")]
mod linger;
mod log_limit;
pub mod mail;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "objects")]
pub mod objects;
#[cfg(feature = "output")]
pub mod output;
#[cfg(feature = "net")]
mod passed_sockets;
mod private_file;
pub mod sealed;
mod secret_file;
pub mod service_manager;
mod socket_file;
mod text_blocks;
mod text_file;
#[cfg(feature = "token-file")]
mod token_file;

#[cfg(feature = "net")]
pub use accept::accept_next;
pub use atomic_file::AtomicFile;
pub use file_stamp::FileStamp;
#[cfg(feature = "net")]
pub use handshake_admission::{HandshakeAdmission, HandshakeSlot, source_of};
pub use host_name::{BadName, HostName, HostNamePattern, HostNamePatternError};
#[cfg(feature = "net")]
pub use idle_timer::IdleTimer;
pub use ip_network::{IpNetwork, NetworkError};
pub use key_directory::{
    ENDINGS, FileFault, KeyDirectory, KeyDirectoryChanges, KeyDirectoryError, KeyListing, KeyMaterial,
    is_key_name, read_passphrase, read_private_passphrase, read_secret,
};
pub use line_number::line_number;
#[cfg(feature = "net")]
pub use linger::linger;
pub use log_limit::LogLimit;
#[cfg(feature = "net")]
pub use passed_sockets::{PassedSockets, ServiceSocket};
pub use private_file::{KeyForPath, check_key_path, check_private, read_private};
pub use secret_file::{ExposedSecret, SecretReader, check_secret_mode, check_secret_mode_for, secret_group};
pub use socket_file::{SocketFile, SocketFileError};
pub use text_blocks::TextBlocks;
pub use text_file::{first_line, read_text};
#[cfg(feature = "token-file")]
pub use token_file::TokenFile;
