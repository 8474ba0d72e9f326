//! Seals and opens the records of TLS 1.2, TLS 1.3 and SSH. The crate does no I/O: the caller reads from sockets and
//! writes to them.
//!
//! A [`Sealer`] and an [`Opener`] serve one direction of a connection each. They start from [`Keys`], which come from
//! the handshake of any implementation: a traffic secret of TLS 1.3, a key block of TLS 1.2, or the exchange hash of
//! SSH.
//!
//! | module | content |
//! |---|---|
//! | [`suite`](Suite) | the supported combinations of cipher, MAC and order |
//! | [`keys`](Keys) | key derivation: RFC 5246 6.3, RFC 8446 7.3, RFC 4253 7.2 |
//! | `frame` | headers, nonces, associated data and padding, without cryptography |
//! | [`sealer`](Sealer), [`opener`](Opener) | one record at a time |
//! | `messages` | alerts, KeyUpdate, records that transport nothing |
//! | `limits` | the records and bytes that one key may protect |
//! | [`choose`](choose()) | the kernel or user space, by measured costs |
//! | [`chain`](ChainLimit) | the limits of the certificate chains that peers send; with the feature `rustls`, verifiers with them |
//! | `direct`, `engine` | AWS-LC for records of AEADs; the accelerator for those of a cipher and a MAC |
//! | [`error`](OpeningError) | errors, and the party at fault |
//!
//! # Limits
//!
//! | limit | value | source |
//! |---|---|---|
//! | records under one key of AES-GCM in TLS | 2^24.5 | RFC 8446 5.5 |
//! | bytes under one key of triple DES | 1 GiB | RFC 4344 3.2 |
//! | packets and bytes under one key of SSH | 2^31; 64 GiB for AES | RFC 4344 3.1 and 3.2 |
//! | content of a TLS record | 2^14 bytes | RFC 8446 5.1 |
//! | SSH packet | 35,000 bytes | RFC 4253 6.1 |
//! | empty records or KeyUpdates in a row | 31 | as in OpenSSL |
//! | warning alerts in a row | 4 | |
//!
//! [`Sealer::is_rekey_due`] reports seven eighths of a limit. An opener permits one eighth more, because a peer that
//! starts a key exchange at its limit finishes it under the old key. Sequence numbers never wrap under one key.
#![forbid(unsafe_code)]

mod chain;
mod choose;
mod content;
mod direct;
mod engine;
mod error;
mod frame;
mod keys;
mod limits;
mod messages;
mod opener;
mod random;
mod sealer;
mod suite;
#[cfg(test)]
mod test_bytes;

#[cfg(feature = "rustls")]
pub use self::chain::BoundedVerifier;
pub use self::chain::{ChainError, ChainLimit};
pub use self::choose::{
    ChoiceReason, PathChoice, PathCost, PathCosts, RecordPath, TransferDirection, TransferPlan, choose,
};
pub use self::content::Content;
pub use self::error::{OpeningError, SealingError};
pub use self::frame::RecordChoices;
pub use self::keys::{
    ConnectionSide, DerivationError, ExposedKeys, KeyBlock, Keys, SshAlgorithms, SshExchange, SshFlow,
    encode_mpint,
};
pub use self::messages::KeyUpdate;
pub use self::opener::{Opened, OpenedRecord, Opener};
pub use self::sealer::Sealer;
pub use self::suite::{Protocol, Suite};
