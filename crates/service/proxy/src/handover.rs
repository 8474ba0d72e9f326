//! The relay of a connection, with the hand-over to the kernel of a transfer that lasts.

use std::io;
use std::time::Duration;

use oarlock_kernel_tls::prepare;
use tracing::debug;

use crate::bytes::ByteMeter;
use crate::counters::count;
use crate::kernel::{HandOver, KernelRelay, TransferPath, UserReason};
use crate::relay::{ByteRelay, RelayEnd};
use crate::state::ProxyShared;
use crate::stream::{RelayStream, SocketStream};
use crate::term::ConnectionTerm;

/// Relays a connection to its end.
pub(crate) async fn relay_connection(
    mut client: RelayStream,
    mut backend: RelayStream,
    (max_idle, mut term): (Duration, ConnectionTerm),
    bytes: ByteMeter<'_>,
    shared: &ProxyShared,
) -> RelayEnd {
    let kernel = &shared.kernel;
    let mut relay = ByteRelay::new(max_idle);
    let mut pause_at = if can_be_handed_over(&client, &backend) { kernel.after_bytes } else { u64::MAX };
    loop {
        let end = tokio::select! {
            end = relay.run(&mut client, &mut backend, pause_at, bytes) => end,
            () = term.over() => RelayEnd::Certificate,
        };
        if !matches!(end, RelayEnd::Paused) {
            return finish(end, client, backend).await;
        }
        let moved = relay.sent_to_client();
        pause_at = match choose_path(&client, moved, shared) {
            TransferPath::Kernel => {
                return hand_over(client, backend, &relay, (max_idle, term), bytes, shared).await;
            }
            // The rest of the record arrives soon, so the next bytes decide again.
            TransferPath::User(UserReason::Record) => moved + 1,
            TransferPath::User(reason) => {
                shared.counters.long_transfer(reason);
                // A longer transfer may be worth it. Other reasons do not change.
                if reason == UserReason::Short { moved.saturating_mul(2) } else { u64::MAX }
            }
        };
    }
}

/// Returns true if a client with TLS and a plain backend are both connected over TCP.
fn can_be_handed_over(client: &RelayStream, backend: &RelayStream) -> bool {
    matches!(client, RelayStream::Accepted(_))
        && matches!(client.socket(), SocketStream::Tcp(_))
        && matches!(backend, RelayStream::Plain(SocketStream::Tcp(_)))
}

fn choose_path(client: &RelayStream, moved: u64, shared: &ProxyShared) -> TransferPath {
    let RelayStream::Accepted(tls) = client else { return TransferPath::User(UserReason::Sockets) };
    let (stream, connection) = tls.get_ref();
    let suite = connection.negotiated_cipher_suite().map_or(0, |suite| suite.suite().into());
    match shared.kernel.choose(suite, moved) {
        TransferPath::Kernel if !stream.received.is_between_records() => {
            TransferPath::User(UserReason::Record)
        }
        TransferPath::Kernel if !is_prepared(&stream.socket) => TransferPath::User(UserReason::Refused),
        path => path,
    }
}

fn is_prepared(client: &SocketStream) -> bool {
    let SocketStream::Tcp(client) = client else { return false };
    let prepared = prepare(client);
    if let Err(error) = &prepared {
        debug!(%error, "a connection stays in user space");
    }
    prepared.is_ok()
}

/// Hands the connection over, and relays the rest.
async fn hand_over(
    client: RelayStream,
    backend: RelayStream,
    relay: &ByteRelay,
    limits: (Duration, ConnectionTerm),
    bytes: ByteMeter<'_>,
    shared: &ProxyShared,
) -> RelayEnd {
    let unfit = || RelayEnd::Client(io::Error::other("the sockets cannot be handed to the kernel"));
    let (RelayStream::Accepted(tls), RelayStream::Plain(SocketStream::Tcp(backend))) = (client, backend)
    else {
        return unfit();
    };
    let (stream, connection) = tls.into_inner();
    let SocketStream::Tcp(client) = stream.socket else { return unfit() };
    let hand_over = HandOver {
        client,
        connection,
        secrets: stream.secrets.as_deref(),
        backend,
        is_client_open: relay.is_client_open(),
        receives: shared.kernel.receives,
    };
    match KernelRelay::attach(hand_over, &shared.accelerator) {
        Ok(kernel) => {
            count(&shared.counters.handed_over);
            kernel.run(limits, bytes).await
        }
        Err(error) => {
            shared.counters.long_transfer(UserReason::Refused);
            debug!(%error, "a connection could not be handed to the kernel");
            RelayEnd::Client(error)
        }
    }
}

/// Ends both sockets. If one side has failed, or may not go on, both get a reset: an ordinary end would look like a
/// complete stream. A side that broke the protocol got an alert, which a reset could overtake.
async fn finish(end: RelayEnd, client: RelayStream, backend: RelayStream) -> RelayEnd {
    let (error, failed, other) = match &end {
        RelayEnd::Client(error) => (error, client, backend),
        RelayEnd::Backend(error) => (error, backend, client),
        RelayEnd::Complete | RelayEnd::Paused | RelayEnd::Idle => return end,
        RelayEnd::Certificate => {
            client.socket().reset_at_end();
            backend.socket().reset_at_end();
            return end;
        }
    };
    other.socket().reset_at_end();
    drop(other);
    if has_sent_alert(error) {
        // In a box, so that the relay of a connection does not keep memory for it.
        Box::pin(failed.end_after_alert()).await;
    } else {
        failed.socket().reset_at_end();
    }
    end
}

/// Returns true for an error of the protocol that the peer was told by an alert.
fn has_sent_alert(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    inner.is_some_and(|error| !matches!(error, rustls::Error::AlertReceived(_)))
}
