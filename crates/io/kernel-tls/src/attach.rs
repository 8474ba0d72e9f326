//! The hand-over of a connection to the kernel.

use std::fmt;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;

use ktls_core::{Error, TlsCryptoInfoRx, TlsCryptoInfoTx, setup_ulp};
use rustix::io::Errno;

use super::keys::KernelKeys;
use super::refusal::{KernelRefusal, KernelStep};
use super::unsent_limit::{FULL_RECORD, low_unsent_limit};

/// The length of a record's header (RFC 8446 5.1): type, version, length.
const HEADER_LEN: usize = 5;

/// The side that makes the records of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOwner {
    /// The program, as before.
    UserSpace,
    /// The kernel.
    Kernel,
}

impl fmt::Display for RecordOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UserSpace => "user space",
            Self::Kernel => "the kernel",
        })
    }
}

/// The result of [`attach`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a direction may have stayed in user space"]
pub struct AttachedDirections {
    /// The side that seals records.
    pub sent_by: RecordOwner,
    /// The side that opens records.
    pub received_by: RecordOwner,
    /// The reasons of the directions that stay in user space; empty if none does.
    pub why_not: Vec<UserSpaceReason>,
}

/// The reason that a direction stays in user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserSpaceReason {
    /// The kernel attaches no TLS to the socket, so both directions stay.
    #[error("sending and receiving stay in user space: {0}")]
    Both(KernelRefusal),
    /// The kernel does not take the keys for sending.
    #[error("sending stays in user space: {0}")]
    Sending(KernelRefusal),
    /// The system lets so few unsent bytes wait that the kernel's records can stop for ever.
    #[error(
        "sending stays in user space: net.ipv4.tcp_notsent_lowat is {limit}, and records can stop for ever below \
         {FULL_RECORD}; set it higher with sysctl"
    )]
    UnsentLimit {
        /// The limit in bytes.
        limit: u32,
    },
    /// The kernel does not take the keys for receiving.
    #[error("receiving stays in user space: {0}")]
    Receiving(KernelRefusal),
    /// User space has read a part of a record, which cannot be given back.
    #[error(
        "receiving stays in user space: {read} bytes of a record were read, {missing} are still to come; \
         read and open them, then call attach_receiving"
    )]
    PartialRecord {
        /// The bytes of the record that were read.
        read: usize,
        /// The bytes that are missing, or those of the header if it is not complete.
        missing: usize,
    },
    /// User space has read whole records without opening them.
    #[error(
        "receiving stays in user space: {records} whole records were read and not opened; \
         open them, then call attach_receiving with the new sequence number"
    )]
    UnopenedRecords {
        /// The number of whole records.
        records: usize,
    },
}

/// Hands both directions of a connection to the kernel if that is possible.
///
/// `leftover` is what user space has read from the socket and not opened yet: records that came early, or a part of
/// one. The kernel cannot take it, so receiving then stays in user space. Data that user space opened already is the
/// caller's, and the sequence number of `receiving` counts its records.
///
/// Errors are reasons of the result. If a direction stays in user space, the program continues as before: nothing was
/// sent or read.
pub fn attach(
    stream: &TcpStream,
    sending: &KernelKeys,
    receiving: &KernelKeys,
    leftover: &[u8],
) -> AttachedDirections {
    let mut result = AttachedDirections {
        sent_by: RecordOwner::UserSpace,
        received_by: RecordOwner::UserSpace,
        why_not: Vec::new(),
    };
    if let Err(refusal) = set_ulp(stream) {
        result.why_not.push(UserSpaceReason::Both(refusal));
        result.why_not.extend(leftover_reason(leftover));
        return result;
    }
    match attach_keys(stream, sending) {
        Ok(()) => result.sent_by = RecordOwner::Kernel,
        Err(reason) => result.why_not.push(reason),
    }
    match attach_receiving(stream, receiving, leftover) {
        Ok(()) => result.received_by = RecordOwner::Kernel,
        Err(reason) => result.why_not.push(reason),
    }
    result
}

/// Prepares a connection for a hand-over. Its bytes are still the program's, and it may stay in user space.
///
/// The kernel prepares a connection only while both sides are open. So this comes first: after it, a peer that ends its
/// stream does not prevent the hand-over, for which keys are taken out of a library that cannot take them back.
///
/// # Errors
/// The reason that the connection stays in user space.
pub fn prepare(stream: &impl AsFd) -> Result<(), UserSpaceReason> {
    match low_unsent_limit() {
        Some(limit) => Err(UserSpaceReason::UnsentLimit { limit }),
        None => set_ulp(stream).map_err(UserSpaceReason::Both),
    }
}

/// Hands the sending direction of a connection to the kernel, and leaves receiving in user space.
///
/// # Errors
/// The reason that sending stays in user space.
pub fn attach_sending(stream: &impl AsFd, sending: &KernelKeys) -> Result<(), UserSpaceReason> {
    set_ulp(stream).map_err(UserSpaceReason::Both)?;
    attach_keys(stream, sending)
}

fn attach_keys(stream: &impl AsFd, sending: &KernelKeys) -> Result<(), UserSpaceReason> {
    match low_unsent_limit() {
        Some(limit) => Err(UserSpaceReason::UnsentLimit { limit }),
        None => set_sending(stream, sending).map_err(UserSpaceReason::Sending),
    }
}

/// Hands the receiving direction of a connection to the kernel, for example after the rest of a record was opened.
///
/// # Errors
/// The reason that receiving stays in user space.
pub fn attach_receiving(
    stream: &impl AsFd,
    receiving: &KernelKeys,
    leftover: &[u8],
) -> Result<(), UserSpaceReason> {
    match leftover_reason(leftover) {
        Some(reason) => Err(reason),
        None => set_ulp(stream)
            .and_then(|()| set_receiving(stream, receiving))
            .map_err(UserSpaceReason::Receiving),
    }
}

/// Returns the number of bytes that are missing in the record at the start of `bytes`: of its header, if that is not
/// complete, else of the whole record. 0 if the record is complete.
#[must_use]
pub fn missing_bytes(bytes: &[u8]) -> usize {
    match bytes {
        [_, _, _, high, low, ..] => {
            let len = HEADER_LEN + usize::from(u16::from_be_bytes([*high, *low]));
            len.saturating_sub(bytes.len())
        }
        _ => HEADER_LEN - bytes.len(),
    }
}

/// Returns the reason that unopened bytes give, if there are some.
fn leftover_reason(leftover: &[u8]) -> Option<UserSpaceReason> {
    let (mut rest, mut records) = (leftover, 0);
    while !rest.is_empty() {
        match missing_bytes(rest) {
            0 => {
                records += 1;
                let len = HEADER_LEN + usize::from(u16::from_be_bytes([rest[3], rest[4]]));
                rest = &rest[len..];
            }
            missing => return Some(UserSpaceReason::PartialRecord { read: rest.len(), missing }),
        }
    }
    (records > 0).then_some(UserSpaceReason::UnopenedRecords { records })
}

/// Attaches TLS to a socket. A socket that has it already stays as it is.
pub(super) fn set_ulp(stream: &impl AsFd) -> Result<(), KernelRefusal> {
    match setup_ulp(stream).map_err(|error| refusal(KernelStep::Ulp, error)) {
        Err(refusal) if refusal.errno == Errno::EXIST.raw_os_error() => Ok(()),
        result => result,
    }
}

pub(super) fn set_sending(stream: &impl AsFd, keys: &KernelKeys) -> Result<(), KernelRefusal> {
    let step = KernelStep::SendKeys;
    let info = TlsCryptoInfoTx::new(keys.version().protocol(), keys.secrets(), keys.sequence());
    info.and_then(|info| info.set(stream)).map_err(|error| refusal(step, error))
}

pub(super) fn set_receiving(stream: &impl AsFd, keys: &KernelKeys) -> Result<(), KernelRefusal> {
    let step = KernelStep::ReceiveKeys;
    let info = TlsCryptoInfoRx::new(keys.version().protocol(), keys.secrets(), keys.sequence());
    info.and_then(|info| info.set(stream)).map_err(|error| refusal(step, error))
}

fn refusal(step: KernelStep, error: Error) -> KernelRefusal {
    let error = match error {
        Error::Ulp(error) | Error::CryptoMaterial(error) => error,
        other => io::Error::other(other),
    };
    KernelRefusal::new(step, &error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with a content of `len` bytes.
    fn record(len: u16) -> Vec<u8> {
        let mut record = vec![23, 3, 3];
        record.extend_from_slice(&len.to_be_bytes());
        record.resize(HEADER_LEN + usize::from(len), 0);
        record
    }

    #[test]
    fn unopened_bytes_are_counted() {
        assert_eq!(leftover_reason(&[]), None);
        let records = |records| Some(UserSpaceReason::UnopenedRecords { records });
        assert_eq!(leftover_reason(&record(0)), records(1));
        assert_eq!(leftover_reason(&[record(20), record(300)].concat()), records(2));
        let whole = record(300);
        for read in 1..whole.len() {
            let missing = if read < HEADER_LEN { HEADER_LEN - read } else { whole.len() - read };
            let expected = Some(UserSpaceReason::PartialRecord { read, missing });
            assert_eq!(leftover_reason(&whole[..read]), expected);
            // A whole record before it changes nothing.
            assert_eq!(leftover_reason(&[record(9), whole[..read].to_vec()].concat()), expected);
        }
    }
}
