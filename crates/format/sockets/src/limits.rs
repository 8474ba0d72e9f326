//! Limits of the use of one key.

use crate::suite::{Protocol, RecordTransform, Suite};
use oarlock::AeadAlg;

/// 2^24.5 rounded down. RFC 8446 5.5.
pub(crate) const MAX_GCM_RECORDS: u64 = 23_726_566;
/// RFC 4344 3.1: half of the sequence numbers of SSH.
const MAX_SSH_PACKETS: u64 = 1 << 31;
/// RFC 4344 3.2 for blocks of 64 bits; the attack Sweet32 needs some tens of gigabytes.
const MAX_BYTES_OF_SHORT_BLOCKS: u64 = 1 << 30;
/// RFC 4344 3.2 for blocks of 128 bits: 2^32 blocks.
const MAX_BYTES_OF_AES_IN_SSH: u64 = 1 << 36;

/// The use of one key so far, and its limits.
#[derive(Clone, Debug)]
pub(crate) struct KeyUsage {
    records: u64,
    bytes: u64,
    max_records: u64,
    max_bytes: u64,
    records_limit: &'static str,
    bytes_limit: &'static str,
}

impl KeyUsage {
    /// Returns the limits of the side that seals. `records` is the number of records that the key has protected.
    pub(crate) fn of_sealer(suite: Suite, records: u64) -> Self {
        let (max_records, records_limit) = match (suite.protocol(), suite.transform()) {
            (Protocol::Ssh, _) => (MAX_SSH_PACKETS, "2^31 packets"),
            (_, RecordTransform::Aead(AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm)) => {
                (MAX_GCM_RECORDS, "2^24.5 records")
            }
            // The last number is never used, so that no counter wraps. RFC 8446 5.3.
            _ => (u64::MAX, "2^64 - 1 records"),
        };
        let is_chacha = matches!(
            suite.transform(),
            RecordTransform::Aead(AeadAlg::ChaCha20Poly1305 | AeadAlg::ChaCha20Poly1305Ssh)
        );
        let (max_bytes, bytes_limit) = match suite.protocol() {
            _ if suite.has_short_blocks() => {
                (MAX_BYTES_OF_SHORT_BLOCKS, "1 GiB under a cipher with 64-bit blocks")
            }
            Protocol::Ssh if !is_chacha => (MAX_BYTES_OF_AES_IN_SSH, "64 GiB"),
            _ => (u64::MAX, "2^64 - 1 bytes"),
        };
        Self { records, bytes: 0, max_records, max_bytes, records_limit, bytes_limit }
    }

    /// Returns the limits of the side that opens. They are an eighth higher, because a peer that starts a key exchange
    /// at its limit still sends the messages of the exchange under the old key.
    pub(crate) fn of_opener(suite: Suite, records: u64) -> Self {
        let mut usage = Self::of_sealer(suite, records);
        usage.max_records = usage.max_records.saturating_add(usage.max_records / 8);
        usage.max_bytes = usage.max_bytes.saturating_add(usage.max_bytes / 8);
        usage
    }

    /// Counts a record, or returns the limit that it would exceed.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), &'static str> {
        // The number of records comes first: `+ 1` below then cannot overflow.
        if self.records >= self.max_records {
            return Err(self.records_limit);
        }
        let bytes = self.bytes.saturating_add(bytes as u64);
        if bytes > self.max_bytes {
            return Err(self.bytes_limit);
        }
        self.records += 1;
        self.bytes = bytes;
        Ok(())
    }

    /// True if seven eighths of a limit are used.
    pub(crate) fn is_nearly_used_up(&self) -> bool {
        let is_near = |used: u64, max: u64| used >= max - max / 8;
        is_near(self.records, self.max_records) || is_near(self.bytes, self.max_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_gcm_is_the_power_of_the_standard() {
        let square = u128::from(MAX_GCM_RECORDS) * u128::from(MAX_GCM_RECORDS);
        assert!(square <= 1 << 49, "2^24.5 squared is 2^49");
        assert!((u128::from(MAX_GCM_RECORDS) + 1).pow(2) > 1 << 49);
    }

    #[test]
    fn records_and_bytes_end_exactly_at_their_limits() {
        let mut usage = KeyUsage::of_sealer(Suite::TLS13_AES_128_GCM, MAX_GCM_RECORDS - 1);
        assert!(usage.is_nearly_used_up());
        assert_eq!(usage.count(1), Ok(()));
        assert_eq!(usage.count(1), Err("2^24.5 records"));

        let mut usage = KeyUsage::of_sealer(Suite::SSH_3DES_CBC_SHA1, 0);
        assert_eq!(usage.count(1 << 29), Ok(()));
        assert!(!usage.is_nearly_used_up());
        assert_eq!(usage.count(1 << 29), Ok(()));
        assert_eq!(usage.count(8), Err("1 GiB under a cipher with 64-bit blocks"));

        let mut usage = KeyUsage::of_sealer(Suite::TLS13_CHACHA20_POLY1305, u64::MAX - 1);
        assert_eq!(usage.count(1), Ok(()));
        assert_eq!(usage.count(1), Err("2^64 - 1 records"));
    }

    #[test]
    fn a_peer_may_finish_its_key_exchange_under_the_old_key() {
        let mut usage = KeyUsage::of_opener(Suite::SSH_3DES_CBC_SHA1, 0);
        assert_eq!(usage.count((1 << 30) + (1 << 27)), Ok(()));
        assert!(usage.count(1).is_err());
    }
}
