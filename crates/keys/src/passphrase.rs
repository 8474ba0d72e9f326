//! Passphrases, and how much work may be spent to try one.

use oarlock_core::SecretBytes;

/// A passphrase with the bounds of the work that trying it may cost. Zeroized on drop, never printed.
#[derive(Clone, Debug)]
pub struct Passphrase {
    bytes: SecretBytes,
    limits: WorkLimits,
}

/// Bounds on the key derivation that an encrypted private key asks for; what asks for more is refused unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLimits {
    /// PBKDF2 iterations.
    pub pbkdf2_iterations: u32,
    /// scrypt memory, `128 * N * r` bytes. RFC 7914 section 6.
    pub scrypt_memory_bytes: u64,
    /// scrypt work, `128 * N * r * p` bytes written and read.
    pub scrypt_work_bytes: u64,
}

/// Ten million iterations, 256 MiB and 1 GiB. This is well above the values that tools write, and takes some seconds
/// at most.
impl Default for WorkLimits {
    fn default() -> Self {
        Self { pbkdf2_iterations: 10_000_000, scrypt_memory_bytes: 256 << 20, scrypt_work_bytes: 1 << 30 }
    }
}

impl Passphrase {
    /// A passphrase of any bytes (UTF-8 for what other tools shall read), with the default limits.
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
