//! A cipher and an HMAC over one record, in the three orders of TLS, SSH and ESP.

use oarlock_core::{
    BlockCipher, ChainOrder, CipherMode, CipherSpec, Direction, EngineFault, MacAlg, Status, mte_sealed_len,
};
use oarlock_engine_kit::MteOpening;
use oarlock_engine_kit::hash::{HashState, HmacKey, Sha1, Sha256, Sha512};
use zeroize::Zeroizing;

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::ffi::{AesDecrypt, AesEncrypt, TdesKey, is_equal};
use crate::op_error::OpError;
use crate::prepare::PrepareKey;

/// Computes every record of the batch.
pub(crate) fn run(
    cipher: CipherSpec,
    mac: MacAlg,
    order: ChainOrder,
    direction: Direction,
    batch: RecordBatch<'_, '_>,
) -> Result<(), EngineFault> {
    let shape = ChainShape { cipher: cipher.alg, mac, order, direction };
    match (cipher.alg, cipher.mode, direction) {
        (BlockCipher::Aes128 | BlockCipher::Aes256, CipherMode::Cbc, Direction::Encrypt) => {
            shape.with_cipher(batch, AesEncrypt::cbc)
        }
        (BlockCipher::Aes128 | BlockCipher::Aes256, CipherMode::Cbc, Direction::Decrypt) => {
            shape.with_cipher(batch, AesDecrypt::cbc)
        }
        (BlockCipher::Aes128 | BlockCipher::Aes256, CipherMode::Ctr, _) => {
            shape.with_cipher(batch, AesEncrypt::ctr)
        }
        (BlockCipher::Tdes3, CipherMode::Cbc, Direction::Encrypt) => {
            shape.with_cipher(batch, TdesKey::encrypt_cbc)
        }
        (BlockCipher::Tdes3, CipherMode::Cbc, Direction::Decrypt) => {
            shape.with_cipher(batch, TdesKey::decrypt_cbc)
        }
        _ => Err(batch.refused()),
    }
}

/// The parts of a chain.
#[derive(Clone, Copy)]
struct ChainShape {
    cipher: BlockCipher,
    mac: MacAlg,
    order: ChainOrder,
    direction: Direction,
}

/// The longest end of a TLS record: a part of a block, a MAC and a padding.
const MAX_END: usize = 16 + MAX_TAG + 16;

/// The longest tag.
const MAX_TAG: usize = 64;

/// The longest block of a hash.
const MAX_BLOCK: usize = 128;

impl ChainShape {
    fn with_cipher<K: PrepareKey, const N: usize>(
        self,
        batch: RecordBatch<'_, '_>,
        crypt: impl Fn(&K, &mut [u8; N], &[u8], &mut [u8]),
    ) -> Result<(), EngineFault> {
        match self.mac {
            MacAlg::HmacSha1 => self.with_mac::<K, Sha1, N>(batch, crypt),
            MacAlg::HmacSha256 => self.with_mac::<K, Sha256, N>(batch, crypt),
            MacAlg::HmacSha512 => self.with_mac::<K, Sha512, N>(batch, crypt),
            _ => Err(batch.refused()),
        }
    }

    fn with_mac<K: PrepareKey, H: HashState, const N: usize>(
        self,
        batch: RecordBatch<'_, '_>,
        crypt: impl Fn(&K, &mut [u8; N], &[u8], &mut [u8]),
    ) -> Result<(), EngineFault> {
        use Direction::{Decrypt, Encrypt};
        batch.each_with_two_keys(|key: &K, mac: &HmacKey<H>, record, target| {
            let mut chain = *record.start::<N>()?;
            let crypt = |input: &[u8], out: &mut [u8]| crypt(key, &mut chain, input, out);
            match (self.order, self.direction) {
                (ChainOrder::MacThenEncrypt, Encrypt) => self.seal_tls(mac, record, target, crypt),
                (ChainOrder::MacThenEncrypt, Decrypt) => self.open_tls(mac, record, target, crypt),
                (order, Encrypt) => seal(order, mac, record, target, crypt),
                (order, Decrypt) => open(order, mac, record, target, crypt),
            }
        })
    }

    /// Encrypts fragment, MAC and the shortest padding. RFC 5246 6.2.3.2.
    fn seal_tls<H: HashState>(
        self,
        mac: &HmacKey<H>,
        record: AcceptedRecord<'_>,
        target: &mut RecordTarget<'_>,
        mut crypt: impl FnMut(&[u8], &mut [u8]),
    ) -> Result<(), OpError> {
        let fragment = record.input();
        let len = mte_sealed_len(self.cipher, self.mac, fragment.len());
        let output = target.output(record.output(), len)?;
        let output = output.get_mut(..len).ok_or(Status::Malformed)?;
        let mut hash = mac.start();
        hash.update(record.aad());
        // unreachable past 2^16: the record was accepted
        hash.update(&(fragment.len() as u16).to_be_bytes());
        hash.update(fragment);
        // The blocks of the fragment are encrypted where they are. The end is put together first.
        let whole = fragment.len() - fragment.len() % self.cipher.block_len();
        let mut end = Zeroizing::new([0; MAX_END]);
        let end = &mut end[..len - whole];
        let (rest, after) = end.split_at_mut(fragment.len() - whole);
        rest.copy_from_slice(&fragment[whole..]);
        let (tag, padding) = after.split_at_mut(H::OUTPUT);
        mac.finish(hash, tag);
        padding.fill(padding.len() as u8 - 1);
        let (blocks, last) = output.split_at_mut(whole);
        crypt(&fragment[..whole], blocks);
        crypt(end, last);
        Ok(())
    }

    /// Decrypts, and checks padding and MAC together in a time that depends on the length of the record only.
    fn open_tls<H: HashState>(
        self,
        mac: &HmacKey<H>,
        record: AcceptedRecord<'_>,
        target: &mut RecordTarget<'_>,
        mut crypt: impl FnMut(&[u8], &mut [u8]),
    ) -> Result<(), OpError> {
        let output = target.output_like_input(&record);
        crypt(record.input(), output);
        let opening = MteOpening::new(output, record.aad(), self.mac).ok_or(Status::BadLength)?;
        let tag = tag_of_hidden_length(mac, &opening, output);
        if opening.accepts(output, &tag[..H::OUTPUT]) == 0 { Err(Status::Rejected.into()) } else { Ok(()) }
    }
}

/// Computes the MAC of a TLS record whose length is secret.
fn tag_of_hidden_length<H: HashState>(
    mac: &HmacKey<H>,
    opening: &MteOpening,
    opened: &[u8],
) -> Zeroizing<[u8; MAX_TAG]> {
    let mut block = Zeroizing::new([0; MAX_BLOCK]);
    let block = &mut block[..H::BLOCK];
    // The blocks that are whole under every padding.
    let first = opening.whole_blocks(opened.len());
    let mut hash = mac.start();
    if first > 0 {
        hash.update(opening.header());
        hash.update(&opened[..first * H::BLOCK - opening.header().len()]);
    }
    let (mut state, mut next) = (Zeroizing::new([0; MAX_TAG]), Zeroizing::new([0; MAX_TAG]));
    let mut digest = Zeroizing::new([0; MAX_TAG]);
    hash.chain(&mut state[..H::STATE]);
    for index in first..opening.max_blocks(opened.len()) {
        let is_last = opening.fill_block(opened, index, block);
        H::compress(&state[..H::STATE], block, &mut next[..H::STATE]);
        std::mem::swap(&mut state, &mut next);
        digest.iter_mut().zip(&state[..]).for_each(|(to, from)| *to |= from & is_last);
    }
    let mut tag = Zeroizing::new([0; MAX_TAG]);
    mac.finish_digest(&digest[..H::OUTPUT], &mut tag[..H::OUTPUT]);
    tag
}

/// Encrypts, and makes a detached tag over the associated data and the ciphertext or the plaintext.
fn seal<H: HashState>(
    order: ChainOrder,
    mac: &HmacKey<H>,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
    mut crypt: impl FnMut(&[u8], &mut [u8]),
) -> Result<(), OpError> {
    let output = target.output_like_input(&record);
    crypt(record.input(), output);
    let covered = if order == ChainOrder::EncryptThenMac { output } else { record.input() };
    let tag = detached_tag(mac, record.aad(), covered);
    let tag: &[u8; MAX_TAG] = &tag;
    target.write_tag(record.tag(), tag)
}

/// Compares the detached tag, before the decryption if it covers the ciphertext.
fn open<H: HashState>(
    order: ChainOrder,
    mac: &HmacKey<H>,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
    mut crypt: impl FnMut(&[u8], &mut [u8]),
) -> Result<(), OpError> {
    let is_valid = |covered: &[u8]| {
        let (tag, expected) = (detached_tag(mac, record.aad(), covered), record.expected_tag());
        tag.get(..expected.len()).is_some_and(|tag| is_equal(tag, expected))
    };
    if order == ChainOrder::EncryptThenMac && !is_valid(record.input()) {
        return Err(Status::Rejected.into());
    }
    let output = target.output_like_input(&record);
    crypt(record.input(), output);
    // The caller wipes the output if the tag is wrong.
    if order == ChainOrder::EncryptAndMac && !is_valid(output) {
        return Err(Status::Rejected.into());
    }
    Ok(())
}

/// Computes a tag over two parts. Bytes behind the tag are zero.
fn detached_tag<H: HashState>(mac: &HmacKey<H>, aad: &[u8], covered: &[u8]) -> Zeroizing<[u8; MAX_TAG]> {
    let mut hash = mac.start();
    hash.update(aad);
    hash.update(covered);
    let mut tag = Zeroizing::new([0; MAX_TAG]);
    mac.finish(hash, &mut tag[..H::OUTPUT]);
    tag
}
