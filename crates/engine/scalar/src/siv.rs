//! AES-SIV with detached tags. RFC 5297.

use oarlock_core::{Direction, EngineFault, Status};
use zeroize::Zeroizing;

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::ffi::{AesEncrypt, is_equal};
use crate::mac::{CmacSubkeys, doubled};
use crate::op_error::OpError;
use crate::prepare::PrepareKey;

/// The bytes of a block.
const BLOCK: usize = 16;

/// Computes every record of the batch.
pub(crate) fn run(direction: Direction, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match direction {
        Direction::Encrypt => batch.each_with_key(seal),
        Direction::Decrypt => batch.each_with_key(open),
    }
}

/// The two keys. RFC 5297 2.6.
struct SivKeys {
    mac: CmacSubkeys<AesEncrypt, BLOCK>,
    /// The MAC of a block of zeros, with which every computation starts.
    start: Zeroizing<[u8; BLOCK]>,
    cipher: AesEncrypt,
}

impl PrepareKey for SivKeys {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        let (mac, cipher) = key.split_at(key.len() / 2);
        let mac = CmacSubkeys::prepare(mac)?;
        let start = mac.mac(&[0; BLOCK]);
        Ok(Self { mac, start, cipher: AesEncrypt::prepare(cipher)? })
    }
}

impl SivKeys {
    /// Returns the synthetic IV of a record: S2V of the associated data and the IV, if there are any, and the
    /// plaintext. RFC 5297 2.4 and 3.
    fn synthetic_iv(&self, aad: Option<&[u8]>, iv: &[u8], plaintext: &[u8]) -> Zeroizing<[u8; BLOCK]> {
        let iv = Some(iv).filter(|iv| !iv.is_empty());
        let mut sum = self.start.clone();
        for component in [aad, iv].into_iter().flatten() {
            sum = xored(&doubled(&sum), &self.mac.mac(component));
        }
        let Some(whole) = plaintext.len().checked_sub(BLOCK) else {
            // A short text is padded, and the sum is doubled once more.
            let mut last = doubled(&sum);
            for (byte, other) in last.iter_mut().zip(plaintext.iter().chain(&[0x80])) {
                *byte ^= other;
            }
            return self.mac.mac(&*last);
        };
        // The sum is added to the last block of bytes, which may lie across two blocks.
        let (blocks, rest) = plaintext.split_at(whole / BLOCK * BLOCK);
        let mut end = Zeroizing::new([0; 2 * BLOCK]);
        let end = &mut end[..rest.len()];
        end.copy_from_slice(rest);
        for (byte, other) in end[rest.len() - BLOCK..].iter_mut().zip(&*sum) {
            *byte ^= other;
        }
        self.mac.mac_of_two(blocks.as_chunks().0, end)
    }

    /// Encrypts or decrypts with the key stream of a synthetic IV. RFC 5297 2.5.
    fn crypt(&self, synthetic_iv: &[u8; BLOCK], input: &[u8], out: &mut [u8]) {
        let mut counter = *synthetic_iv;
        counter[8] &= 0x7F;
        counter[12] &= 0x7F;
        self.cipher.ctr(&mut counter, input, out);
    }
}

fn xored(one: &[u8; BLOCK], other: &[u8; BLOCK]) -> Zeroizing<[u8; BLOCK]> {
    Zeroizing::new(std::array::from_fn(|at| one[at] ^ other[at]))
}

fn seal(keys: &SivKeys, record: AcceptedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let aad = record.has_aad().then(|| record.aad());
    let synthetic_iv = keys.synthetic_iv(aad, record.iv(), record.input());
    keys.crypt(&synthetic_iv, record.input(), target.output_like_input(&record));
    target.write_tag(record.tag(), &synthetic_iv)
}

fn open(keys: &SivKeys, record: AcceptedRecord<'_>, target: &mut RecordTarget<'_>) -> Result<(), OpError> {
    let expected = record.expected_tag().first_chunk().ok_or(Status::BadLength)?;
    let output = target.output_like_input(&record);
    keys.crypt(expected, record.input(), output);
    let aad = record.has_aad().then(|| record.aad());
    // The tag of a forged record is made here too. It is erased, and so is the plaintext.
    let is_valid = |aad: Option<&[u8]>, plaintext: &[u8]| {
        is_equal(&*keys.synthetic_iv(aad, record.iv(), plaintext), expected)
    };
    // Versions before 0.1 took no associated data for an empty string of it.
    let plaintext: &[u8] = output;
    if is_valid(aad, plaintext) || (aad.is_none() && is_valid(Some(&[]), plaintext)) {
        return Ok(());
    }
    Err(Status::Rejected.into())
}
