//! The relay of a connection whose records to the client are sealed by the kernel.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::Duration;

use oarlock::Accelerator;
use oarlock_io::IdleTimer;
use oarlock_io::kernel_tls::{
    KernelCipher, KernelKeys, KernelTlsError, KernelTlsVersion, SplicePipe, attach_sending, send_close_notify,
};
use oarlock_sockets::{Content, ExposedKeys, Keys, Opened, Opener, Suite};
use rustls::{ConnectionTrafficSecrets, ProtocolVersion, ServerConnection};
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::relay::{RelayEnd, RelayedBytes};

/// The bytes of one `splice`, which is the capacity of a pipe.
const SPLICE_BYTES: usize = 64 << 10;

/// The length of the buffer for records of the client: a full record, its header and its tag.
const WIRE_BYTES: usize = (16 << 10) + 256 + 5;

/// A connection whose records to the client are sealed by the kernel.
pub(crate) struct KernelRelay {
    client: TcpStream,
    backend: TcpStream,
    /// The opener of the client's records; None if the client has ended its stream.
    opener: Option<Opener>,
    close: fn(&TcpStream) -> io::Result<()>,
}

/// The side that failed.
enum SideError {
    Client(io::Error),
    Backend(io::Error),
}

impl KernelRelay {
    /// Hands the sending direction to the kernel. The connection must be between two records in both directions.
    ///
    /// # Errors
    /// The keys cannot be taken out, or the kernel refuses them. The connection cannot continue then.
    pub(crate) fn attach(
        client: TcpStream,
        connection: ServerConnection,
        backend: TcpStream,
        is_client_open: bool,
        accelerator: &Accelerator,
    ) -> io::Result<Self> {
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => KernelTlsVersion::Tls13,
            _ => KernelTlsVersion::Tls12,
        };
        let cipher_suite = connection.negotiated_cipher_suite().map(|suite| u16::from(suite.suite()));
        let suite = cipher_suite.and_then(|code| Suite::from_tls(code, false));
        let suite = suite.ok_or_else(|| io::Error::other("the kernel does not know the suite"))?;
        let secrets = connection.dangerous_extract_secrets().map_err(io::Error::other)?;
        let sending = kernel_keys(version, secrets.tx.0, &secrets.tx.1)?;
        let receiving = opener_keys(suite, secrets.rx.0, &secrets.rx.1)?;
        attach_sending(&client, &sending).map_err(io::Error::other)?;
        let opener = Opener::new(accelerator, receiving).map_err(io::Error::other)?;
        Ok(Self { client, backend, opener: is_client_open.then_some(opener), close: close_by_kernel })
    }

    /// Relays until both sides have ended. If one of them has failed, both get a reset.
    pub(crate) async fn run(mut self, max_idle: Duration, bytes: &RelayedBytes) -> RelayEnd {
        let opener = self.opener.take();
        let end = self.relay(opener, max_idle, bytes).await;
        if matches!(end, RelayEnd::Client(_) | RelayEnd::Backend(_)) {
            for socket in [&self.client, &self.backend] {
                // A failure leaves an ordinary end.
                let _ = socket.set_zero_linger();
            }
        }
        end
    }

    async fn relay(&self, opener: Option<Opener>, max_idle: Duration, bytes: &RelayedBytes) -> RelayEnd {
        let is_busy = Cell::new(false);
        let mut idle = IdleTimer::new(max_idle);
        let mut down = pin!(self.send_to_client(bytes, &is_busy));
        let mut up = pin!(self.send_to_backend(opener, bytes, &is_busy));
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
    async fn send_to_client(&self, bytes: &RelayedBytes, is_busy: &Cell<bool>) -> Result<(), SideError> {
        let mut pipe = SplicePipe::new().map_err(SideError::Client)?;
        loop {
            let filled = self.backend.async_io(Interest::READABLE, || pipe.fill(&self.backend, SPLICE_BYTES));
            if filled.await.map_err(SideError::Backend)? == 0 {
                break;
            }
            while pipe.held() > 0 {
                let drained = self.client.async_io(Interest::WRITABLE, || pipe.drain(&self.client)).await;
                bytes.to_clients_by_kernel.fetch_add(drained.map_err(SideError::Client)? as u64, Relaxed);
                is_busy.set(true);
            }
        }
        let closed = self.client.async_io(Interest::WRITABLE, || (self.close)(&self.client));
        closed.await.map_err(SideError::Client)
    }

    /// Opens the client's records and sends their content to the backend.
    async fn send_to_backend(
        &self,
        opener: Option<Opener>,
        bytes: &RelayedBytes,
        is_busy: &Cell<bool>,
    ) -> Result<(), SideError> {
        let Some(mut opener) = opener else { return Ok(()) };
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
                        bytes.to_backends.fetch_add(data.len() as u64, Relaxed);
                    }
                    // close_notify. RFC 8446 6.1.
                    (Content::Alert, [_, 0]) => return shut_down(&self.backend).map_err(SideError::Backend),
                    (content, _) => {
                        let text = format!("expected application data, found {content}");
                        return Err(SideError::Client(io::Error::new(io::ErrorKind::InvalidData, text)));
                    }
                }
            }
            wire.copy_within(at..filled, 0);
            filled -= at;
        }
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
    send_close_notify(client).map_err(|error| match error {
        KernelTlsError::Refused(refusal) => io::Error::from_raw_os_error(refusal.errno),
        other => io::Error::other(other),
    })?;
    shut_down(client)
}

fn parts(secrets: &ConnectionTrafficSecrets) -> io::Result<(KernelCipher, &[u8], &[u8])> {
    Ok(match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv } => {
            (KernelCipher::Aes128Gcm, key.as_ref(), iv.as_ref())
        }
        ConnectionTrafficSecrets::Aes256Gcm { key, iv } => {
            (KernelCipher::Aes256Gcm, key.as_ref(), iv.as_ref())
        }
        ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => {
            (KernelCipher::ChaCha20Poly1305, key.as_ref(), iv.as_ref())
        }
        _ => return Err(io::Error::other("the kernel does not know the suite")),
    })
}

fn kernel_keys(
    version: KernelTlsVersion,
    sequence: u64,
    secrets: &ConnectionTrafficSecrets,
) -> io::Result<KernelKeys> {
    let (cipher, key, iv) = parts(secrets)?;
    let iv = iv.as_array().ok_or_else(|| io::Error::other("the IV does not have 12 bytes"))?;
    KernelKeys::new(version, cipher, key, iv, sequence).map_err(io::Error::other)
}

fn opener_keys(suite: Suite, sequence: u64, secrets: &ConnectionTrafficSecrets) -> io::Result<Keys> {
    let (_, key, iv) = parts(secrets)?;
    // The kernel's form of an IV for AES-GCM in TLS 1.2 has the explicit part behind the fixed one.
    let iv = iv.get(..suite.iv_len()).ok_or_else(|| io::Error::other("the IV is too short"))?;
    Keys::new(suite, &ExposedKeys { key, mac_key: &[], iv, sequence }).map_err(io::Error::other)
}

#[cfg(test)]
mod tests;
