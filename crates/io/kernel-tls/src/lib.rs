//! TLS records by the kernel (kTLS, Linux only). **Experimental**. Internal to Oarlock: the interface changes without
//! notice.
//!
//! A program makes the handshake in user space, and hands the keys of both directions to the kernel. The kernel then
//! seals what the program writes and opens what it reads. This saves nothing at the border between user space and
//! kernel, unless the program also calls [`send_file`] or [`SplicePipe::splice`]. `docs/sockets.md` has the figures.
//!
//! | item | content |
//! |---|---|
//! | [`probe()`] | what this kernel takes, and the cost of a call and of a byte |
//! | [`attach()`], [`attach_sending`], [`attach_receiving`] | the hand-over of a connection, with a reason for each direction that stays |
//! | [`KernelKeys`] | the keys of one direction |
//! | [`send_file`], [`SplicePipe`] | bytes that never enter user space |
//! | [`send_record`], [`receive_record`], [`send_close_notify`] | records of any type: alerts, handshake messages |
//! | [`send_key_update`], [`update_receiving`] | new keys for a connection (Linux 6.14) |
//!
//! Do not set `TCP_NOTSENT_LOWAT` on a socket of the kernel's TLS: sending can stop for ever if the limit is below the
//! size of a record. [`attach()`] does not hand over sending if the default of the system is too low.
#![forbid(unsafe_code)]

mod attach;
mod control;
mod costs;
mod keys;
mod probe;
mod refusal;
mod transfer;
mod unsent_limit;

pub use attach::{
    AttachedDirections, RecordOwner, UserSpaceReason, attach, attach_receiving, attach_sending,
    missing_bytes, prepare,
};
pub use control::{
    ReceivedRecord, TlsRecordKind, receive_record, send_close_notify, send_key_update, send_record,
    update_receiving,
};
pub use costs::TransferCosts;
pub use keys::{KernelCipher, KernelKeys, KernelKeysError, KernelTlsVersion};
pub use probe::{CipherReport, KernelSupport, ProbeReport, connected_pair, probe, rekey_support};
pub use refusal::{KernelRefusal, KernelStep, KernelTlsError};
pub use transfer::{SplicePipe, SpliceResult, send_file, send_whole_file};
