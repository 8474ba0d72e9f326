//! Message authentication codes: CBC-MACs over DES, CMAC, HMAC.

use oarlock_core::{EngineFault, MacAlg, MacPadding};
use oarlock_engine_kit::hash::{HashState, HmacKey, Sha1, Sha224, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::ffi::{AesEncrypt, DesKey, TdesKey};
use crate::op_error::OpError;
use crate::prepare::PrepareKey;

/// Computes every record of the batch.
pub(crate) fn run(alg: MacAlg, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    match alg {
        MacAlg::DesMac(padding) => cbc_mac::<DesKey>(padding, batch),
        MacAlg::RetailMac(padding) => cbc_mac::<TdesKey>(padding, batch),
        MacAlg::Tdes2Cmac | MacAlg::Tdes3Cmac => cmac::<TdesKey, 8>(batch),
        MacAlg::Aes128Cmac | MacAlg::Aes256Cmac => cmac::<AesEncrypt, 16>(batch),
        MacAlg::HmacSha1 => batch.each_with_key(hmac::<Sha1>),
        MacAlg::HmacSha224 => batch.each_with_key(hmac::<Sha224>),
        MacAlg::HmacSha256 => batch.each_with_key(hmac::<Sha256>),
        MacAlg::HmacSha384 => batch.each_with_key(hmac::<Sha384>),
        MacAlg::HmacSha512 => batch.each_with_key(hmac::<Sha512>),
        _ => Err(batch.refused()),
    }
}

/// A block cipher that encrypts one block in place.
pub(crate) trait BlockEncrypt<const N: usize> {
    fn encrypt(&self, block: &mut [u8; N]);
}

impl BlockEncrypt<16> for AesEncrypt {
    fn encrypt(&self, block: &mut [u8; 16]) {
        self.block(block);
    }
}

impl BlockEncrypt<8> for TdesKey {
    fn encrypt(&self, block: &mut [u8; 8]) {
        self.encrypt_block(block);
    }
}

/// The steps of a DES MAC: one for all blocks but the last, one for the last.
trait CbcMacSteps {
    fn chain(&self, state: &mut [u8; 8]);
    fn last(&self, state: &mut [u8; 8]);
}

/// The steps of ISO/IEC 9797-1 algorithm 1.
impl CbcMacSteps for DesKey {
    fn chain(&self, state: &mut [u8; 8]) {
        self.encrypt_block(state);
    }

    fn last(&self, state: &mut [u8; 8]) {
        self.encrypt_block(state);
    }
}

/// The steps of ISO/IEC 9797-1 algorithm 3 with K and K'. On the last block, E_K(D_K'(E_K(x))) is triple DES under
/// K, K', K.
impl CbcMacSteps for TdesKey {
    fn chain(&self, state: &mut [u8; 8]) {
        self.first().encrypt_block(state);
    }

    fn last(&self, state: &mut [u8; 8]) {
        self.encrypt_block(state);
    }
}

fn cbc_mac<K: CbcMacSteps + PrepareKey>(
    padding: MacPadding,
    batch: RecordBatch<'_, '_>,
) -> Result<(), EngineFault> {
    // One for all records, so that it is erased once.
    let mut state = Zeroizing::new([0; 8]);
    batch.each_with_key(|key: &K, record, target| {
        let (blocks, last) = padded(padding, record.input());
        *state = [0; 8];
        for block in blocks.as_chunks().0 {
            xor(&mut state, block);
            key.chain(&mut state);
        }
        xor(&mut state, &last);
        key.last(&mut state);
        target.write(record.output(), &state)
    })
}

/// Splits a message into all padded blocks but the last, and the last. ISO/IEC 9797-1 6.3.
fn padded(padding: MacPadding, message: &[u8]) -> (&[u8], [u8; 8]) {
    let split = match padding {
        MacPadding::Zeros => message.len().saturating_sub(1) / 8 * 8,
        MacPadding::OneThenZeros => message.len() / 8 * 8,
    };
    let (blocks, rest) = message.split_at(split);
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    if padding == MacPadding::OneThenZeros {
        last[rest.len()] = 0x80;
    }
    (blocks, last)
}

/// A CMAC key: the cipher and the two subkeys.
pub(crate) struct CmacSubkeys<K, const N: usize> {
    cipher: K,
    k1: Zeroizing<[u8; N]>,
    k2: Zeroizing<[u8; N]>,
}

impl<K: PrepareKey + BlockEncrypt<N>, const N: usize> PrepareKey for CmacSubkeys<K, N> {
    /// Derives the subkeys. NIST SP 800-38B 6.1.
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        let cipher = K::prepare(key)?;
        let mut l = Zeroizing::new([0; N]);
        cipher.encrypt(&mut l);
        let k1 = doubled(&l);
        let k2 = doubled(&k1);
        Ok(Self { cipher, k1, k2 })
    }
}

impl<K: BlockEncrypt<N>, const N: usize> CmacSubkeys<K, N> {
    /// Returns the MAC of a message. NIST SP 800-38B 6.2.
    pub(crate) fn mac(&self, message: &[u8]) -> Zeroizing<[u8; N]> {
        self.mac_of_two(&[], message)
    }

    /// Returns the MAC of blocks and the bytes behind them, of which there is at least one if there are blocks.
    pub(crate) fn mac_of_two(&self, blocks: &[[u8; N]], message: &[u8]) -> Zeroizing<[u8; N]> {
        let mut state = Zeroizing::new([0; N]);
        self.absorb(&mut state, blocks);
        self.finish(&mut state, message);
        state
    }

    #[inline(always)]
    fn absorb(&self, state: &mut [u8; N], blocks: &[[u8; N]]) {
        for block in blocks {
            xor(state, block);
            self.cipher.encrypt(state);
        }
    }

    /// Absorbs the rest of a message, with its padding and its subkey.
    #[inline(always)]
    fn finish(&self, state: &mut [u8; N], message: &[u8]) {
        let (blocks, rest) = message.split_at(message.len().saturating_sub(1) / N * N);
        self.absorb(state, blocks.as_chunks().0);
        match rest.first_chunk() {
            Some(last) => xor_last(state, last, &self.k1),
            None => {
                let mut last = Zeroizing::new([0; N]);
                last[..rest.len()].copy_from_slice(rest);
                last[rest.len()] = 0x80;
                xor_last(state, &last, &self.k2);
            }
        }
        self.cipher.encrypt(state);
    }
}

/// Multiplies by x in GF(2^64) or GF(2^128). NIST SP 800-38B 5.3.
pub(crate) fn doubled<const N: usize>(value: &[u8; N]) -> Zeroizing<[u8; N]> {
    let polynomial = if N == 8 { 0x1b } else { 0x87 };
    let mut out = Zeroizing::new([0; N]);
    let mut carry = 0;
    for (to, from) in out.iter_mut().rev().zip(value.iter().rev()) {
        *to = from << 1 | carry;
        carry = from >> 7;
    }
    // The carry is secret, so the polynomial is selected by a mask.
    out[N - 1] ^= polynomial & 0_u8.wrapping_sub(carry);
    out
}

/// Computes the CMAC of every record. NIST SP 800-38B 6.2.
fn cmac<K: PrepareKey + BlockEncrypt<N>, const N: usize>(
    batch: RecordBatch<'_, '_>,
) -> Result<(), EngineFault> {
    // One for all records, so that it is erased once.
    let mut state = Zeroizing::new([0; N]);
    batch.each_with_key(
        #[inline(always)]
        |key: &CmacSubkeys<K, N>, record, target| {
            *state = [0; N];
            key.finish(&mut state, record.input());
            target.write(record.output(), &state)
        },
    )
}

impl<H: HashState> PrepareKey for HmacKey<H> {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        Ok(Self::new(key))
    }
}

#[inline(always)]
fn hmac<H: HashState>(
    key: &HmacKey<H>,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let mut mac = key.start();
    mac.update(record.input());
    key.finish(mac, target.output(record.output(), H::OUTPUT)?);
    Ok(())
}

/// XORs a whole block.
#[inline(always)]
fn xor<const N: usize>(state: &mut [u8; N], block: &[u8; N]) {
    *state = std::array::from_fn(|at| state[at] ^ block[at]);
}

/// XORs the last block and a subkey. A function of its own, because the compiler then uses one vector. Inlined, it
/// splits the block, and the cipher waits for many small stores.
#[inline(never)]
fn xor_last<const N: usize>(state: &mut [u8; N], last: &[u8; N], subkey: &[u8; N]) {
    *state = std::array::from_fn(|at| state[at] ^ last[at] ^ subkey[at]);
}
