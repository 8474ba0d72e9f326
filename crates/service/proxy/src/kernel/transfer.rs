//! The relay of a connection whose records to the client are sealed by the kernel.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use oarlock::Accelerator;
use oarlock_kernel_tls::{
    KernelTlsError, KernelTlsVersion, ReceivedRecord, SplicePipe, TlsRecordKind, attach_receiving,
    attach_sending, receive_record, send_close_notify, send_key_update, update_receiving,
};
use oarlock_network::IdleTimer;
use oarlock_sockets::{Content, KeyUpdate, Opened, Opener, Suite};
use rustix::io::Errno;
use rustls::{ProtocolVersion, ServerConnection};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tracing::debug;

use super::direction::DirectionKeys;
use super::secrets::{SealingSide, TrafficSecrets};
use crate::bytes::ByteMeter;
use crate::relay::RelayEnd;
use crate::term::ConnectionTerm;

/// The bytes of one `splice`, which is the capacity of a pipe.
const SPLICE_BYTES: usize = 64 << 10;

/// The maximum of a record's content.
const MAX_CONTENT: usize = 16 << 10;

/// The length of the buffer for records of the client: a full record, its header and its tag.
const WIRE_BYTES: usize = MAX_CONTENT + 256 + 5;

/// The number of records after which keys are updated: below the limit of AES-GCM, 2^24.5 (RFC 8446 5.5).
const MAX_RECORDS: u64 = 1 << 24;

/// A connection that is to be handed over. It must be between two records in both directions.
pub(crate) struct HandOver<'a> {
    pub(crate) client: TcpStream,
    pub(crate) connection: ServerConnection,
    /// The traffic secrets, without which keys cannot be updated.
    pub(crate) secrets: Option<&'a TrafficSecrets>,
    pub(crate) backend: TcpStream,
    /// False if the client has ended its stream.
    pub(crate) is_client_open: bool,
    /// True if the kernel opens the client's records too.
    pub(crate) receives: bool,
}

/// A connection whose records to the client are sealed by the kernel.
pub(crate) struct KernelRelay {
    client: TcpStream,
    backend: TcpStream,
    sending: Sending,
    receiving: Receiving,
    close: fn(&TcpStream) -> io::Result<()>,
}

/// The direction to the client.
struct Sending {
    /// The keys; None if they cannot be updated.
    keys: RefCell<Option<DirectionKeys>>,
    /// The number of records under the keys before the hand-over.
    records: u64,
    max_records: u64,
}

/// The direction from the client.
enum Receiving {
    /// The client has ended its stream.
    Ended,
    /// This process opens the records.
    InProcess(Box<Opener>),
    /// The kernel opens the records.
    ByKernel(Box<DirectionKeys>),
}

/// The side that failed.
enum SideError {
    Client(io::Error),
    Backend(io::Error),
}

impl KernelRelay {
    /// Hands the connection to the kernel.
    ///
    /// # Errors
    /// The keys cannot be taken out, or the kernel refuses them. The connection cannot continue then.
    pub(crate) fn attach(hand_over: HandOver<'_>, accelerator: &Accelerator) -> io::Result<Self> {
        let HandOver { client, connection, secrets, backend, is_client_open, receives } = hand_over;
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => KernelTlsVersion::Tls13,
            _ => KernelTlsVersion::Tls12,
        };
        let cipher_suite = connection.negotiated_cipher_suite().map(|suite| u16::from(suite.suite()));
        let suite = cipher_suite.and_then(|code| Suite::from_tls(code, false));
        let suite = suite.ok_or_else(|| io::Error::other("the kernel does not know the suite"))?;
        let exported = connection.dangerous_extract_secrets().map_err(io::Error::other)?;
        let direction = |side, (sequence, keys): &(u64, _)| {
            let first_secret = secrets.and_then(|secrets| secrets.take(side));
            let first_secret = first_secret.as_ref().map(|secret| secret.as_slice());
            DirectionKeys::new(suite, version, (*sequence, keys), first_secret)
        };
        let sealing = direction(SealingSide::Server, &exported.tx)?;
        let peer = direction(SealingSide::Client, &exported.rx)?;
        attach_sending(&client, sealing.for_kernel()).map_err(io::Error::other)?;
        let receiving = if !is_client_open {
            Receiving::Ended
        } else if receives && is_received_by_kernel(&client, &peer) {
            Receiving::ByKernel(Box::new(peer))
        } else {
            Receiving::InProcess(Box::new(
                Opener::new(accelerator, peer.into_keys()).map_err(io::Error::other)?,
            ))
        };
        let sending =
            Sending { keys: RefCell::new(Some(sealing)), records: exported.tx.0, max_records: MAX_RECORDS };
        Ok(Self { client, backend, sending, receiving, close: close_by_kernel })
    }

    /// Relays until both sides have ended. If one of them has failed, or may not go on, both get a reset.
    pub(crate) async fn run(
        mut self,
        (max_idle, mut term): (Duration, ConnectionTerm),
        bytes: ByteMeter<'_>,
    ) -> RelayEnd {
        let receiving = std::mem::replace(&mut self.receiving, Receiving::Ended);
        let end = tokio::select! {
            end = self.relay(receiving, max_idle, bytes) => end,
            () = term.over() => RelayEnd::Certificate,
        };
        if matches!(end, RelayEnd::Client(_) | RelayEnd::Backend(_) | RelayEnd::Certificate) {
            for socket in [&self.client, &self.backend] {
                // A failure leaves an ordinary end.
                let _ = socket.set_zero_linger();
            }
        }
        end
    }

    async fn relay(&self, receiving: Receiving, max_idle: Duration, bytes: ByteMeter<'_>) -> RelayEnd {
        let is_busy = Cell::new(false);
        let mut idle = IdleTimer::new(max_idle);
        let mut down = pin!(self.send_to_client(bytes, &is_busy));
        let mut up = pin!(self.send_to_backend(receiving, bytes, &is_busy));
        let (mut is_down_done, mut is_up_done) = (false, false);
        poll_fn(|context| {
            if !is_down_done && let Poll::Ready(result) = down.as_mut().poll(context) {
                match result {
                    Ok(()) => is_down_done = true,
                    Err(error) => return Poll::Ready(error.into()),
                }
            }
            if !is_up_done && let Poll::Ready(result) = up.as_mut().poll(context) {
                match result {
                    Ok(()) => is_up_done = true,
                    // The client has got everything. Many clients close without a close_notify then.
                    Err(SideError::Client(error))
                        if is_down_done && error.kind() == io::ErrorKind::UnexpectedEof =>
                    {
                        is_up_done = true;
                    }
                    Err(error) => return Poll::Ready(error.into()),
                }
            }
            if is_down_done && is_up_done {
                return Poll::Ready(RelayEnd::Complete);
            }
            if is_busy.replace(false) {
                idle.renew();
            }
            idle.poll_expired(context).map(|()| RelayEnd::Idle)
        })
        .await
    }

    /// Moves bytes from the backend to the client without a copy.
    async fn send_to_client(&self, bytes: ByteMeter<'_>, is_busy: &Cell<bool>) -> Result<(), SideError> {
        let mut pipe = SplicePipe::new().map_err(SideError::Client)?;
        let mut records = self.sending.records;
        loop {
            let filled = self.backend.async_io(Interest::READABLE, || pipe.fill(&self.backend, SPLICE_BYTES));
            if filled.await.map_err(SideError::Backend)? == 0 {
                break;
            }
            while pipe.held() > 0 {
                if records >= self.sending.max_records {
                    self.update_sending().await.map_err(SideError::Client)?;
                    records = 0;
                }
                let drained = self.client.async_io(Interest::WRITABLE, || pipe.drain(&self.client)).await;
                let drained = drained.map_err(SideError::Client)?;
                records += (drained / MAX_CONTENT) as u64 + 1;
                bytes.add_to_client_by_kernel(drained as u64);
                is_busy.set(true);
            }
        }
        let closed = self.client.async_io(Interest::WRITABLE, || (self.close)(&self.client));
        closed.await.map_err(SideError::Client)
    }

    /// Sends the content of the client's records to the backend.
    async fn send_to_backend(
        &self,
        receiving: Receiving,
        bytes: ByteMeter<'_>,
        is_busy: &Cell<bool>,
    ) -> Result<(), SideError> {
        match receiving {
            Receiving::Ended => Ok(()),
            Receiving::InProcess(opener) => self.open_to_backend(*opener, bytes, is_busy).await,
            Receiving::ByKernel(keys) => self.splice_to_backend(*keys, bytes, is_busy).await,
        }
    }

    /// Opens the client's records in this process.
    async fn open_to_backend(
        &self,
        mut opener: Opener,
        bytes: ByteMeter<'_>,
        is_busy: &Cell<bool>,
    ) -> Result<(), SideError> {
        let (mut wire, mut filled) = (vec![0; WIRE_BYTES], 0);
        loop {
            let read = self.client.async_io(Interest::READABLE, || self.client.try_read(&mut wire[filled..]));
            match read.await.map_err(SideError::Client)? {
                // Without a close_notify before it, the stream may have been cut.
                0 => return Err(SideError::Client(io::ErrorKind::UnexpectedEof.into())),
                read => filled += read,
            }
            is_busy.set(true);
            let mut at = 0;
            while let Opened::Record(record) = opener
                .next(&mut wire[at..filled])
                .map_err(|error| SideError::Client(io::Error::new(io::ErrorKind::InvalidData, error)))?
            {
                at += record.used;
                match (record.content, record.data) {
                    (Content::ApplicationData, data) => {
                        write_all(&self.backend, data).await.map_err(SideError::Backend)?;
                        bytes.add_to_backend(data.len() as u64);
                    }
                    // close_notify. RFC 8446 6.1.
                    (Content::Alert, [_, 0]) => return shut_down(&self.backend).map_err(SideError::Backend),
                    // The opener has the client's new keys already.
                    (Content::Handshake, _) if record.key_update.is_some() => {
                        if record.key_update == Some(KeyUpdate::Requested) {
                            self.update_sending().await.map_err(SideError::Client)?;
                        }
                    }
                    (content, _) => return Err(unexpected(&content)),
                }
            }
            wire.copy_within(at..filled, 0);
            filled -= at;
        }
    }

    /// Moves the content of the client's records to the backend without a copy.
    async fn splice_to_backend(
        &self,
        mut keys: DirectionKeys,
        bytes: ByteMeter<'_>,
        is_busy: &Cell<bool>,
    ) -> Result<(), SideError> {
        let mut pipe = SplicePipe::new().map_err(SideError::Client)?;
        loop {
            let filled = self.client.async_io(Interest::READABLE, || pipe.fill(&self.client, SPLICE_BYTES));
            match filled.await {
                Ok(0) => return Err(SideError::Client(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                // The next record has another type.
                Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                    if !self.take_control_record(&mut keys).await? {
                        return shut_down(&self.backend).map_err(SideError::Backend);
                    }
                }
                Err(error) => return Err(SideError::Client(error)),
            }
            is_busy.set(true);
            while pipe.held() > 0 {
                let drained = self.backend.async_io(Interest::WRITABLE, || pipe.drain(&self.backend)).await;
                let drained = drained.map_err(SideError::Backend)?;
                bytes.add_to_backend_by_kernel(drained as u64);
            }
        }
    }

    /// Takes a record that is no application data out of the kernel. Returns false for a close_notify.
    async fn take_control_record(&self, keys: &mut DirectionKeys) -> Result<bool, SideError> {
        let mut content = vec![0; MAX_CONTENT];
        let received = self
            .client
            .async_io(Interest::READABLE, || receive_record(&self.client, &mut content).map_err(io_error));
        let received = received.await.map_err(SideError::Client)?;
        let Some(ReceivedRecord { kind, len }) = received else {
            return Err(SideError::Client(io::ErrorKind::UnexpectedEof.into()));
        };
        match (kind, &content[..len]) {
            (TlsRecordKind::Alert, [_, 0]) => Ok(false),
            // KeyUpdate. RFC 8446 4.6.3.
            (TlsRecordKind::Handshake, [24, 0, 0, 1, is_requested @ (0 | 1)]) => {
                let next = keys.next_generation().map_err(SideError::Client)?;
                update_receiving(&self.client, next.for_kernel())
                    .map_err(|error| SideError::Client(io_error(error)))?;
                *keys = next;
                if *is_requested == 1 {
                    self.update_sending().await.map_err(SideError::Client)?;
                }
                Ok(true)
            }
            (kind, _) => Err(unexpected(&kind)),
        }
    }

    /// Sends a KeyUpdate to the client, and seals with the next keys.
    ///
    /// # Errors
    /// The version is 1.2, or the kernel takes no second key, as before Linux 6.14. The connection has to end then.
    async fn update_sending(&self) -> io::Result<()> {
        let next = match &*self.sending.keys.borrow() {
            Some(keys) => keys.next_generation()?,
            None => return Err(io::Error::other("the keys cannot be updated")),
        };
        let sent = self.client.async_io(Interest::WRITABLE, || {
            send_key_update(&self.client, next.for_kernel(), false).map_err(io_error)
        });
        sent.await?;
        *self.sending.keys.borrow_mut() = Some(next);
        Ok(())
    }
}

/// Hands the receiving direction over. If the kernel refuses it, the log says why.
fn is_received_by_kernel(client: &TcpStream, keys: &DirectionKeys) -> bool {
    let attached = attach_receiving(client, keys.for_kernel(), &[]);
    if let Err(error) = &attached {
        debug!(%error, "the records of a client are opened in user space");
    }
    attached.is_ok()
}

fn unexpected(content: &impl std::fmt::Debug) -> SideError {
    let text = format!("expected application data, found {content:?}");
    SideError::Client(io::Error::new(io::ErrorKind::InvalidData, text))
}

/// Returns the error of the system inside. An event loop waits and tries again if it is `WouldBlock`.
fn io_error(error: KernelTlsError) -> io::Error {
    match error {
        KernelTlsError::Refused(refusal) => io::Error::from_raw_os_error(refusal.errno),
        other => io::Error::other(other),
    }
}

impl From<SideError> for RelayEnd {
    fn from(error: SideError) -> Self {
        match error {
            SideError::Client(error) => Self::Client(error),
            SideError::Backend(error) => Self::Backend(error),
        }
    }
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = stream.async_io(Interest::WRITABLE, || stream.try_write(bytes)).await?;
        bytes = &bytes[written..];
    }
    Ok(())
}

fn shut_down(stream: &TcpStream) -> io::Result<()> {
    match rustix::net::shutdown(stream, rustix::net::Shutdown::Write) {
        // The peer has closed its socket already.
        Ok(()) | Err(rustix::io::Errno::NOTCONN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sends a close_notify by the kernel, and ends the stream.
fn close_by_kernel(client: &TcpStream) -> io::Result<()> {
    send_close_notify(client).map_err(io_error)?;
    shut_down(client)
}

#[cfg(test)]
mod tests;
