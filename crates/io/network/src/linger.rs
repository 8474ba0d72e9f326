//! The end of a connection whose peer is still to read what was sent last.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// The maximum time that a peer has to read the last bytes.
const MAX_LINGER: Duration = Duration::from_secs(2);

/// The maximum number of bytes of the peer that are read meanwhile.
const MAX_LINGER_BYTES: usize = 64 << 10;

/// Ends the own side of a stream, and waits until the peer has ended its side too, at most 2 s. What the peer sends
/// meanwhile is read and dropped, at most 64 KiB.
///
/// Closing a TCP socket with unread bytes of the peer resets the connection. The peer then loses what was sent last,
/// such as the alert that says why it was refused.
pub async fn linger<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) {
    let reading = async {
        // On the heap, so that a service does not keep it for each of its connections.
        let mut rest = vec![0; 1024];
        let mut left = MAX_LINGER_BYTES;
        if stream.shutdown().await.is_ok() {
            while let Ok(read @ 1..) = stream.read(&mut rest).await
                && left > read
            {
                left -= read;
            }
        }
    };
    // The peer has had its time.
    let _ = timeout(MAX_LINGER, reading).await;
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_the_peer_but_neither_for_ever_nor_for_all_it_sends() {
        let (mut socket, mut peer) = duplex(1 << 20);
        peer.write_all(b"still writing").await.unwrap();
        let (mut read, began) = (Vec::new(), Instant::now());
        let ((), ()) = tokio::join!(linger(&mut socket), async {
            peer.read_to_end(&mut read).await.unwrap();
            peer.shutdown().await.unwrap();
        });
        assert_eq!((read, began.elapsed()), (Vec::new(), Duration::ZERO));
        let (mut socket, _silent) = duplex(1 << 20);
        linger(&mut socket).await;
        assert!(began.elapsed() >= MAX_LINGER);
        let (began, (mut socket, mut busy)) = (Instant::now(), duplex(1 << 20));
        busy.write_all(&[0; 1 << 18]).await.unwrap();
        linger(&mut socket).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
