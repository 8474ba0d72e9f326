//! The numbers that change from record to record: sequence numbers and IVs.

use oarlock::{AeadAlg, CipherMode, SecretBytes};

use super::ShortBytes;
use crate::keys::Keys;
use crate::limits::KeyUsage;
use crate::suite::{Protocol, RecordTransform, Suite};

/// The numbers of the next record of one direction.
pub(crate) struct RecordNumbers {
    pub(crate) suite: Suite,
    pub(crate) sequence: u64,
    pub(crate) usage: KeyUsage,
    iv: IvState,
}

enum IvState {
    /// TLS: the part of the nonce that comes from the key exchange.
    Fixed(SecretBytes),
    /// AES-CTR in SSH: the counter block of the next packet. RFC 4344 section 4.
    Counter(u128),
    /// AES-GCM in SSH: a fixed field and an invocation counter. RFC 5647 7.1.
    Invocation([u8; 4], u64),
    /// CBC in SSH: the last block of the packet before, or None until that packet is sealed. RFC 4253 6.3.
    Chained(Option<ShortBytes>),
    /// `chacha20-poly1305@openssh.com`, whose nonce is the sequence number.
    Sequence,
}

impl RecordNumbers {
    /// Starts at the first record of `keys`. `sequence` is the number that the connection has reached.
    pub(crate) fn new(keys: &Keys, sequence: u64, usage: fn(Suite, u64) -> KeyUsage) -> Self {
        let suite = keys.suite;
        let sequence = keys.sequence.unwrap_or(sequence);
        // A key of TLS starts at 0, so the number of the next record counts the records of the key. SSH counts on.
        let records = if suite.protocol() == Protocol::Ssh { 0 } else { sequence };
        Self { suite, sequence, usage: usage(suite, records), iv: IvState::from_keys(keys) }
    }

    /// Counts a record of SSH: its numbers follow the packet, TLS has only the sequence.
    pub(crate) fn advance(&mut self, body_len: usize) {
        self.sequence += 1;
        match &mut self.iv {
            IvState::Counter(counter) => *counter = counter.wrapping_add(body_len.div_ceil(16) as u128),
            IvState::Invocation(_, counter) => *counter = counter.wrapping_add(1),
            IvState::Chained(iv) => *iv = None,
            IvState::Fixed(_) | IvState::Sequence => {}
        }
    }

    /// Returns the nonce of a TLS AEAD: the fixed part before the explicit one, or mixed with the sequence number. RFC
    /// 5288 section 3, RFC 7905 section 2, RFC 8446 5.3.
    pub(crate) fn tls_nonce(&self, explicit: &[u8]) -> ShortBytes {
        let IvState::Fixed(fixed) = &self.iv else { return ShortBytes::new() };
        let mut nonce = ShortBytes::from_slice(fixed.expose());
        if explicit.is_empty() {
            let sequence = self.sequence.to_be_bytes();
            let start = nonce.len().saturating_sub(sequence.len());
            nonce[start..].iter_mut().zip(sequence).for_each(|(byte, number)| *byte ^= number);
        } else {
            nonce.extend_from_slice(explicit);
        }
        nonce
    }

    /// Returns the IV of the next SSH packet. It is None if that is the end of a packet that is not sealed.
    pub(crate) fn ssh_iv(&self) -> Option<ShortBytes> {
        Some(match &self.iv {
            IvState::Counter(counter) => ShortBytes::from_slice(&counter.to_be_bytes()),
            IvState::Invocation(fixed, counter) => {
                let mut iv = ShortBytes::from_slice(fixed);
                iv.extend_from_slice(&counter.to_be_bytes());
                iv
            }
            IvState::Sequence => ShortBytes::from_slice(&u64::from(self.packet_number()).to_be_bytes()),
            IvState::Chained(iv) => return iv.clone(),
            IvState::Fixed(_) => ShortBytes::new(),
        })
    }

    /// Keeps the last block of a ciphertext for the next packet, if the suite chains them.
    pub(crate) fn keep_iv(&mut self, ciphertext: &[u8]) {
        if let (IvState::Chained(iv), RecordTransform::Chain { cipher, .. }) =
            (&mut self.iv, self.suite.transform())
        {
            let start = ciphertext.len().saturating_sub(cipher.alg.block_len());
            *iv = Some(ShortBytes::from_slice(&ciphertext[start..]));
        }
    }

    /// Returns the IV with which the next record starts, as the key exchange would have given it. It is None if that is
    /// the end of a record that is not sealed.
    pub(crate) fn current_iv(&self) -> Option<SecretBytes> {
        match &self.iv {
            IvState::Fixed(fixed) => Some(fixed.clone()),
            IvState::Sequence => Some(SecretBytes::default()),
            _ => self.ssh_iv().map(|iv| SecretBytes::from(&iv[..])),
        }
    }

    /// Returns the sequence number in 32 bits. RFC 4253 6.4 lets it wrap; [`KeyUsage`] ends each key long before.
    pub(crate) fn packet_number(&self) -> u32 {
        (self.sequence & u64::from(u32::MAX)) as u32
    }
}

impl IvState {
    fn from_keys(keys: &Keys) -> Self {
        let iv = keys.iv.expose();
        match (keys.suite.protocol(), keys.suite.transform()) {
            (Protocol::Ssh, RecordTransform::Aead(AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm)) => {
                let (fixed, counter) = iv.split_at(iv.len().min(4));
                Self::Invocation(to_array(fixed), u64::from_be_bytes(to_array(counter)))
            }
            (Protocol::Ssh, RecordTransform::Aead(_)) => Self::Sequence,
            (Protocol::Ssh, RecordTransform::Chain { cipher, .. }) if cipher.mode == CipherMode::Ctr => {
                Self::Counter(u128::from_be_bytes(to_array(iv)))
            }
            (Protocol::Ssh, RecordTransform::Chain { .. }) => Self::Chained(Some(ShortBytes::from_slice(iv))),
            _ => Self::Fixed(keys.iv.clone()),
        }
    }
}

/// Returns the bytes as an array. `Keys` has checked their number, so nothing is cut off or filled up.
fn to_array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    array
}
