//! Files with keys and other secrets. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`KeyDirectory`] | a directory of key files, read again after changes |
//! | [`read_private`] | files with secrets that no other user may read |
//! | [`check_secret_mode`] | the permissions of files with secrets |
//! | [`sealed`] | key files sealed with age |
//! | `objects` | the objects of a token, encrypted under PINs; needs the feature `token-file` |
//! | `TokenFile` | a file of objects as a token of PKCS#11; needs the feature `token-file` |
#![forbid(unsafe_code)]

mod key_directory;
#[cfg(feature = "token-file")]
pub mod objects;
mod private_file;
pub mod sealed;
mod secret_file;
#[cfg(feature = "token-file")]
mod token_file;

pub use key_directory::{
    ENDINGS, FileFault, KeyDirectory, KeyDirectoryChanges, KeyDirectoryError, KeyListing, KeyMaterial,
    is_key_name, read_passphrase, read_private_passphrase, read_secret,
};
pub use private_file::{KeyForPath, check_key_path, check_private, read_private};
pub use secret_file::{ExposedSecret, SecretReader, check_secret_mode, check_secret_mode_for, secret_group};
#[cfg(feature = "token-file")]
pub use token_file::TokenFile;
