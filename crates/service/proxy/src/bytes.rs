//! The bytes that were relayed: of all connections, and of each one.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The bytes of all connections, by direction and by the path of their records.
#[derive(Debug, Default)]
pub(crate) struct RelayedBytes {
    /// From clients to backends.
    pub(crate) to_backends: AtomicU64,
    /// From clients to backends, with records that the kernel opened.
    pub(crate) to_backends_by_kernel: AtomicU64,
    /// From backends to clients, with records of this process.
    pub(crate) to_clients: AtomicU64,
    /// From backends to clients, with records of the kernel.
    pub(crate) to_clients_by_kernel: AtomicU64,
}

/// The bytes of one connection, by any path.
#[derive(Debug, Default)]
pub(crate) struct ConnectionBytes {
    pub(crate) to_backend: AtomicU64,
    pub(crate) to_client: AtomicU64,
}

/// Counts the bytes of a connection, in its own count and in that of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteMeter<'c> {
    pub(crate) all: &'c RelayedBytes,
    pub(crate) connection: &'c ConnectionBytes,
}

impl ByteMeter<'_> {
    pub(crate) fn add_to_backend(self, bytes: u64) {
        add(&self.all.to_backends, &self.connection.to_backend, bytes);
    }

    pub(crate) fn add_to_backend_by_kernel(self, bytes: u64) {
        add(&self.all.to_backends_by_kernel, &self.connection.to_backend, bytes);
    }

    pub(crate) fn add_to_client(self, bytes: u64) {
        add(&self.all.to_clients, &self.connection.to_client, bytes);
    }

    pub(crate) fn add_to_client_by_kernel(self, bytes: u64) {
        add(&self.all.to_clients_by_kernel, &self.connection.to_client, bytes);
    }
}

fn add(all: &AtomicU64, connection: &AtomicU64, bytes: u64) {
    // All threads share the counter, so a call that moved nothing leaves it alone.
    if bytes > 0 {
        all.fetch_add(bytes, Relaxed);
        // Only one thread serves a connection.
        connection.store(connection.load(Relaxed) + bytes, Relaxed);
    }
}
