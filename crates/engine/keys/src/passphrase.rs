//! Passphrases, and limits on the work to try one.

use oarlock_core::SecretBytes;

/// A passphrase, with limits on the work to try it. It is zeroized on drop and never printed.
#[derive(Clone, Debug)]
pub struct Passphrase {
    bytes: SecretBytes,
    limits: WorkLimits,
}

/// Limits on the key derivation of an encrypted private key. A file that requires more is rejected before any work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLimits {
    /// The number of PBKDF2 iterations.
    pub pbkdf2_iterations: u32,
    /// The memory of scrypt, `128 * N * r` bytes. RFC 7914 section 6.
    pub scrypt_memory_bytes: u64,
    /// The work of scrypt, `128 * N * r * p` bytes written and read.
    pub scrypt_work_bytes: u64,
}

/// The defaults are ten million iterations, 256 MiB and 1 GiB. These limits are far above the values that programs
/// write, and such a derivation takes a few seconds.
impl Default for WorkLimits {
    fn default() -> Self {
        Self { pbkdf2_iterations: 10_000_000, scrypt_memory_bytes: 256 << 20, scrypt_work_bytes: 1 << 30 }
    }
}

impl Passphrase {
    /// Makes a passphrase of any bytes, with the default limits. Other programs expect UTF-8.
    #[must_use]
    pub fn new(bytes: impl Into<SecretBytes>) -> Self {
        Self { bytes: bytes.into(), limits: WorkLimits::default() }
    }

    /// Returns the same passphrase with other limits.
    #[must_use]
    pub fn with_limits(self, limits: WorkLimits) -> Self {
        Self { limits, ..self }
    }

    pub(crate) fn expose(&self) -> &[u8] {
        self.bytes.expose()
    }

    pub(crate) fn limits(&self) -> WorkLimits {
        self.limits
    }
}
