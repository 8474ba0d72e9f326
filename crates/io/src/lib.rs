//! What touches the outside for more than one door.
//!
//! | module | what it holds |
//! |---|---|
//! | [`KeyDirectory`] | a directory of key files, looked at again whenever it may have changed |
//! | [`Stamp`] | whether a file has changed |
//! | `metrics` | a page for Prometheus; needs the feature `metrics` |
#![forbid(unsafe_code)]

mod key_directory;
#[cfg(feature = "metrics")]
pub mod metrics;
mod stamp;

pub use key_directory::{
    Changes, ENDINGS, FileFault, KeyDirectory, KeyDirectoryError, Material, is_key_name, read_passphrase,
    read_secret,
};
pub use stamp::Stamp;
