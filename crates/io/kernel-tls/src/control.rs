//! Records with their types, alerts and new keys.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};

use ktls_core::ContentType;
use ktls_core::ffi::send_tls_control_message;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, TlsGetRecordType, recvmsg};

use super::attach::{set_receiving, set_sending};
use super::keys::KernelKeys;
use super::probe::rekey_support;
use super::refusal::{KernelRefusal, KernelStep, KernelTlsError};

/// The type of a record (RFC 8446 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsRecordKind {
    /// `change_cipher_spec`.
    ChangeCipherSpec,
    /// `alert`.
    Alert,
    /// `handshake`, for example a KeyUpdate or a session ticket.
    Handshake,
    /// `application_data`.
    ApplicationData,
    /// Another type.
    Other(u8),
}

impl TlsRecordKind {
    /// Returns the number of the type.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::ChangeCipherSpec => 20,
            Self::Alert => 21,
            Self::Handshake => 22,
            Self::ApplicationData => 23,
            Self::Other(number) => number,
        }
    }
}

impl From<TlsGetRecordType> for TlsRecordKind {
    fn from(kind: TlsGetRecordType) -> Self {
        match kind {
            TlsGetRecordType::ChangeCipherSpec => Self::ChangeCipherSpec,
            TlsGetRecordType::Alert => Self::Alert,
            TlsGetRecordType::Handshake => Self::Handshake,
            TlsGetRecordType::ApplicationData => Self::ApplicationData,
            TlsGetRecordType::Unknown(number) => Self::Other(number),
            _ => Self::Other(0),
        }
    }
}

/// A record, or several of application data, that the kernel opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedRecord {
    /// The type.
    pub kind: TlsRecordKind,
    /// The number of bytes of content in the caller's buffer.
    pub len: usize,
}

/// Sends one record of any type with the kernel's keys. The content of application data may simply be written instead.
///
/// # Errors
/// The kernel refused it, or the socket failed. A part of it may have been sent if the socket is non-blocking.
pub fn send_record(stream: &impl AsRawFd, kind: TlsRecordKind, content: &[u8]) -> Result<(), KernelTlsError> {
    let mut content = content.to_vec();
    let sent = retry(|| {
        send_tls_control_message(stream.as_raw_fd(), ContentType::from(kind.number()), &mut content)
    });
    match sent {
        Ok(taken) if taken == content.len() => Ok(()),
        Ok(taken) => Err(KernelTlsError::CutRecord { taken, len: content.len() }),
        Err(error) => Err(KernelTlsError::in_step(KernelStep::Send, error)),
    }
}

/// Sends the alert `close_notify`, after which nothing may be sent.
///
/// # Errors
/// As of [`send_record`].
pub fn send_close_notify(stream: &impl AsRawFd) -> Result<(), KernelTlsError> {
    // RFC 8446 6: level warning, description close_notify.
    send_record(stream, TlsRecordKind::Alert, &[1, 0])
}

/// Receives into `buffer` with the kernel's keys. None at the end of the stream; without a `close_notify` before it,
/// the stream was cut. A record longer than the buffer continues in the next call.
///
/// # Errors
/// A forged record, a socket whose records the kernel does not receive, or a failed socket.
pub fn receive_record(
    stream: &impl AsRawFd,
    buffer: &mut [u8],
) -> Result<Option<ReceivedRecord>, KernelTlsError> {
    let mut control = nix::cmsg_space!(u8);
    let mut parts = [IoSliceMut::new(buffer)];
    let received = retry(|| {
        let message = recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())?;
        let kind = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::TlsGetRecordType(kind) => Some(TlsRecordKind::from(kind)),
            _ => None,
        });
        Ok((message.bytes, kind))
    });
    match received {
        Ok((len, Some(kind))) => Ok(Some(ReceivedRecord { kind, len })),
        Ok((0, None)) => Ok(None),
        Ok((_, None)) => Err(KernelTlsError::NoRecordType),
        Err(error) => Err(KernelTlsError::in_step(KernelStep::Receive, error)),
    }
}

/// Sends a KeyUpdate (RFC 8446 4.6.3), and seals what follows with `next`. With `is_answer_wanted` the peer is asked
/// to change its keys too.
///
/// # Errors
/// This kernel takes no second key: then nothing was sent, and the connection continues with its keys until the limit
/// of the cipher, before which it has to be closed. Else as of [`send_record`].
pub fn send_key_update(
    stream: &(impl AsFd + AsRawFd),
    next: &KernelKeys,
    is_answer_wanted: bool,
) -> Result<(), KernelTlsError> {
    // Asked before anything is sent: behind a KeyUpdate there is no way back.
    rekey_support()?;
    // key_update, a length of 1, update_not_requested or update_requested.
    send_record(stream, TlsRecordKind::Handshake, &[24, 0, 0, 1, u8::from(is_answer_wanted)])?;
    set_sending(stream, next).map_err(as_rekey)
}

/// Sets the peer's next keys, after its KeyUpdate was received.
///
/// # Errors
/// This kernel takes no second key. The connection has to be closed then.
pub fn update_receiving(stream: &impl AsFd, next: &KernelKeys) -> Result<(), KernelTlsError> {
    set_receiving(stream, next).map_err(as_rekey)
}

fn as_rekey(refusal: KernelRefusal) -> KernelTlsError {
    KernelTlsError::Refused(KernelRefusal { step: KernelStep::Rekey, ..refusal })
}

/// Repeats a system call that a signal interrupted.
pub(super) fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.raw_os_error() == Some(Errno::EINTR as i32) => {}
            result => return result,
        }
    }
}
