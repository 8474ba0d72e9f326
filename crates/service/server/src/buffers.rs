//! The sizes of buffers that every connection has, and the bytes that every client may hold.
//!
//! The bound of the server's memory is a sum of these numbers. So the code that allocates the buffers and the code that
//! adds them up read them from one place.

/// The bytes that a client may hold although all clients together hold the maximum. Clients with small requests are
/// served in spite of other clients.
pub(crate) const GUARANTEED_BYTES: usize = 64 << 10;

/// The bytes that a connection needs for TLS and its state.
pub(crate) const CONNECTION_BYTES: usize = 64 << 10;

/// The bytes that a client may send on an HTTP/2 connection before the server has read them.
pub(crate) const WINDOW_BYTES: u32 = 256 << 10;

/// The bytes of an answer that wait for the socket after its call has ended, per call.
pub(crate) const SEND_BUFFER_BYTES: usize = 16 << 10;
