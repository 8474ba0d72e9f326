//! AWS-LC's own functions for records, with keys that are prepared once.
//!
//! The scalar engine calls the same library, but it accepts and releases each record too. For a record of 48 bytes that
//! takes nearly as long as AWS-LC itself, so the peer calls the functions directly.

use std::ffi::{CStr, c_int};
use std::ptr::{NonNull, null, null_mut};

use aws_lc_sys as sys;

use super::{HEADER_LEN, TAG_LEN, check_output_len, record_len};
use crate::peer::PeerError;
use crate::peer::prepared::{ChainExtras, at, longest_input, padded_inputs};
use crate::peer::task::{CbcCipher, ChainHash, PeerAlgorithm, PeerTask, fault};

const AES_BLOCK_LEN: usize = 16;
const DES_BLOCK_LEN: usize = 8;

/// Returns name and version.
pub(crate) fn version() -> String {
    let number = CStr::from_bytes_until_nul(sys::AWSLC_VERSION_NUMBER_STRING).unwrap_or_default();
    format!("AWS-LC {}", number.to_string_lossy())
}

fn unavailable(algorithm: &'static str, reason: &str) -> PeerError {
    PeerError::Unavailable { library: version(), algorithm, reason: reason.into() }
}

fn expect_one(done: c_int, call: &'static str) -> Result<(), PeerError> {
    if done == 1 {
        return Ok(());
    }
    // SAFETY: takes nothing, and works on this thread's own queue.
    let code = unsafe { sys::ERR_get_error() };
    // SAFETY: as above; later failures must not find older entries.
    unsafe { sys::ERR_clear_error() };
    Err(PeerError::Failed { library: version(), call, reason: format!("error {code:#010x}") })
}

/// The contexts of one algorithm.
pub(in crate::peer) enum AwsLcContexts {
    AesCbc(AwsLcKeys<AwsLcAesKey>),
    AesCtr(AwsLcKeys<AwsLcAesKey>),
    DesCbc(AwsLcKeys<AwsLcDesKey>),
    TdesCbc(AwsLcKeys<[AwsLcDesKey; 3]>),
    Aead(AwsLcKeys<AwsLcAeadKey>),
    /// With a buffer for the ciphertext, whose last block is the MAC, as below.
    Cmac(AwsLcKeys<AwsLcCmacKey>, Vec<u8>),
    DesMac(AwsLcKeys<AwsLcDesKey>, Vec<u8>),
    Sha1(sys::SHA_CTX),
    Sha224(sys::SHA256_CTX),
    Sha256(sys::SHA256_CTX),
    Sha512(sys::SHA512_CTX),
    /// One context per item, as a connection has one, and the records with room for MAC and padding.
    Stitched(Vec<AwsLcStitchedCipher>, Vec<Vec<u8>>),
}

impl AwsLcContexts {
    /// Prepares the keys of a task.
    pub(in crate::peer) fn new(task: &PeerTask) -> Result<Self, PeerError> {
        let is_long = task.key(0).len() == 32;
        let aead = |[short, long]: [AwsLcAead; 2]| if is_long { long } else { short };
        let aeads = |aead| Ok(Self::Aead(AwsLcKeys::new(task, AwsLcAeadKey::of(aead))?));
        Ok(match task.algorithm {
            PeerAlgorithm::Cbc(CbcCipher::Aes) => {
                Self::AesCbc(AwsLcKeys::new(task, Box::new(AwsLcAesKey::new))?)
            }
            PeerAlgorithm::Cbc(CbcCipher::Des) => {
                Self::DesCbc(AwsLcKeys::new(task, Box::new(AwsLcDesKey::new))?)
            }
            PeerAlgorithm::Cbc(CbcCipher::Tdes) => {
                Self::TdesCbc(AwsLcKeys::new(task, Box::new(AwsLcDesKey::three))?)
            }
            PeerAlgorithm::AesCtr => Self::AesCtr(AwsLcKeys::new(task, Box::new(AwsLcAesKey::new))?),
            PeerAlgorithm::AesGcm => {
                return aeads(aead([sys::EVP_aead_aes_128_gcm, sys::EVP_aead_aes_256_gcm]));
            }
            PeerAlgorithm::AesGcmSiv => {
                return aeads(aead([sys::EVP_aead_aes_128_gcm_siv, sys::EVP_aead_aes_256_gcm_siv]));
            }
            PeerAlgorithm::ChaCha20Poly1305 => return aeads(aead([sys::EVP_aead_chacha20_poly1305; 2])),
            PeerAlgorithm::AesCmac => Self::Cmac(
                AwsLcKeys::new(task, Box::new(AwsLcCmacKey::new))?,
                vec![0; longest_input(task) + AES_BLOCK_LEN],
            ),
            PeerAlgorithm::DesMac => {
                Self::DesMac(AwsLcKeys::new(task, Box::new(AwsLcDesKey::new))?, vec![0; longest_input(task)])
            }
            PeerAlgorithm::Sha1 => Self::Sha1(sys::SHA_CTX::default()),
            PeerAlgorithm::Sha224 => Self::Sha224(sys::SHA256_CTX::default()),
            PeerAlgorithm::Sha256 => Self::Sha256(sys::SHA256_CTX::default()),
            PeerAlgorithm::Sha512 => Self::Sha512(sys::SHA512_CTX::default()),
            PeerAlgorithm::Chain(CbcCipher::Aes, hash) => Self::stitched(task, hash, is_long)?,
            _ => return Err(unavailable("kept contexts for it", "the scalar engine calls it as well")),
        })
    }

    fn stitched(task: &PeerTask, hash: ChainHash, is_long: bool) -> Result<Self, PeerError> {
        // SAFETY: these functions take nothing and return static tables, or null without AES instructions.
        let method = unsafe {
            match (hash, is_long) {
                (ChainHash::Sha1, false) => sys::EVP_aes_128_cbc_hmac_sha1(),
                (ChainHash::Sha1, true) => sys::EVP_aes_256_cbc_hmac_sha1(),
                (ChainHash::Sha256, false) => sys::EVP_aes_128_cbc_hmac_sha256(),
                (ChainHash::Sha256, true) => sys::EVP_aes_256_cbc_hmac_sha256(),
            }
        };
        if method.is_null() {
            return Err(unavailable("AES-CBC and HMAC in one", "this processor has no AES instructions"));
        }
        let context = |item: usize| {
            let ChainExtras { mac_key, .. } = ChainExtras::from_bytes(task.extras.get(item), AES_BLOCK_LEN)?;
            AwsLcStitchedCipher::new(method, task.key(item), mac_key)
        };
        let contexts = (0..task.len()).map(context).collect::<Result<_, _>>()?;
        Ok(Self::Stitched(contexts, padded_inputs(task, hash)))
    }

    /// Returns the length of the longest result.
    pub(in crate::peer) fn output_len(&self, task: &PeerTask) -> usize {
        match self {
            Self::AesCbc(_) | Self::AesCtr(_) | Self::DesCbc(_) | Self::TdesCbc(_) => longest_input(task),
            Self::Aead(_) => longest_input(task) + TAG_LEN,
            Self::Cmac(..) => AES_BLOCK_LEN,
            Self::DesMac(..) => DES_BLOCK_LEN,
            Self::Sha1(_) => 20,
            Self::Sha224(_) => 28,
            Self::Sha256(_) => 32,
            Self::Sha512(_) => 64,
            Self::Stitched(_, records) => records.iter().map(Vec::len).max().unwrap_or(0),
        }
    }

    /// Computes `item`, writes its result to `out`, and returns the result's length.
    #[inline]
    pub(in crate::peer) fn run(
        &mut self,
        task: &PeerTask,
        item: usize,
        out: &mut [u8],
    ) -> Result<usize, PeerError> {
        let (input, extra) = (task.inputs.get(item), task.extras.get(item));
        match self {
            Self::AesCbc(keys) => keys.with(task, item, |key| key.cbc(extra, input, out)),
            Self::AesCtr(keys) => keys.with(task, item, |key| key.ctr(extra, input, out)),
            Self::DesCbc(keys) => keys.with(task, item, |key| key.cbc(extra, input, out)),
            Self::TdesCbc(keys) => {
                keys.with(task, item, |key| AwsLcDesKey::cbc_of_three(key, extra, input, out))
            }
            Self::Aead(keys) => keys.with(task, item, |key| key.seal(extra, input, out)),
            Self::Cmac(keys, scratch) => keys.with(task, item, |key| key.mac(input, scratch, out)),
            Self::DesMac(keys, scratch) => keys.with(task, item, |key| key.mac(input, scratch, out)),
            Self::Sha1(context) => {
                digest!(context, input, out, sys::SHA1_Init, sys::SHA1_Update, sys::SHA1_Final, 20)
            }
            Self::Sha224(context) => {
                digest!(context, input, out, sys::SHA224_Init, sys::SHA224_Update, sys::SHA224_Final, 28)
            }
            Self::Sha256(context) => {
                digest!(context, input, out, sys::SHA256_Init, sys::SHA256_Update, sys::SHA256_Final, 32)
            }
            Self::Sha512(context) => {
                digest!(context, input, out, sys::SHA512_Init, sys::SHA512_Update, sys::SHA512_Final, 64)
            }
            Self::Stitched(contexts, records) => {
                let extras = ChainExtras::from_bytes(extra, AES_BLOCK_LEN)?;
                at(contexts, item)?.run(extras.iv, extras.header, input.len(), at(records, item)?, out)
            }
        }
    }
}

/// Hashes a message with the three functions of a hash.
macro_rules! digest {
    ($context:expr, $input:expr, $out:expr, $init:path, $update:path, $finish:path, $len:literal) => {{
        check_output_len($out.len(), $len)?;
        let context: *mut _ = $context;
        // SAFETY: the context is live, the message's length is passed, and `out` holds a digest.
        let done = unsafe {
            $init(context)
                .min($update(context, $input.as_ptr().cast(), $input.len()))
                .min($finish($out.as_mut_ptr(), context))
        };
        expect_one(done, stringify!($finish)).map(|()| $len)
    }};
}
use digest;

/// The keys of a task: prepared once if they recur, or else for each item.
pub(in crate::peer) struct AwsLcKeys<K> {
    prepare: PrepareAwsLcKey<K>,
    kept: Option<Vec<K>>,
}

type PrepareAwsLcKey<K> = Box<dyn Fn(&[u8]) -> Result<K, PeerError> + Send>;

impl<K> AwsLcKeys<K> {
    fn new(task: &PeerTask, prepare: PrepareAwsLcKey<K>) -> Result<Self, PeerError> {
        let prepared = || task.keys.iter().map(&prepare).collect::<Result<Vec<K>, PeerError>>();
        let kept = task.has_recurring_keys().then(prepared).transpose()?;
        Ok(Self { prepare, kept })
    }

    #[inline]
    fn with(
        &mut self,
        task: &PeerTask,
        item: usize,
        run: impl FnOnce(&K) -> Result<usize, PeerError>,
    ) -> Result<usize, PeerError> {
        match &mut self.kept {
            Some(keys) => run(at(keys, task.key_index(item))?),
            None => run(&(self.prepare)(task.key(item))?),
        }
    }
}

/// Returns a copy of an IV, which the functions change.
fn copy_of<const N: usize>(iv: &[u8]) -> Result<[u8; N], PeerError> {
    iv.try_into().map_err(|_| fault(&format!("an IV of {N} bytes"), iv.len()))
}

/// Checks that a result fits, and that the input consists of blocks.
fn check_blocks(input: &[u8], out: &[u8], block_len: usize) -> Result<(), PeerError> {
    if !input.len().is_multiple_of(block_len) {
        return Err(fault(&format!("blocks of {block_len} bytes"), input.len()));
    }
    check_output_len(out.len(), input.len())
}

/// An expanded AES key for encryption.
pub(in crate::peer) struct AwsLcAesKey(sys::AES_KEY);

impl AwsLcAesKey {
    fn new(key: &[u8]) -> Result<Self, PeerError> {
        let mut expanded = Self(sys::AES_KEY { rd_key: [0; 60], rounds: 0 });
        let bits = u32::try_from(8 * key.len()).unwrap_or(0);
        // SAFETY: `key` is readable for its length; the function refuses lengths that are not AES keys.
        let failed = unsafe { sys::AES_set_encrypt_key(key.as_ptr(), bits, &raw mut expanded.0) };
        expect_one(c_int::from(failed == 0), "AES_set_encrypt_key").map(|()| expanded)
    }

    #[inline]
    fn cbc(&self, iv: &[u8], input: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let mut chain = copy_of::<AES_BLOCK_LEN>(iv)?;
        check_blocks(input, out, AES_BLOCK_LEN)?;
        let (from, to, key) = (input.as_ptr(), out.as_mut_ptr(), &raw const self.0);
        // SAFETY: the input is whole blocks, `out` holds as much, and they do not overlap; `chain` is one block.
        unsafe { sys::AES_cbc_encrypt(from, to, input.len(), key, chain.as_mut_ptr(), sys::AES_ENCRYPT) };
        Ok(input.len())
    }

    #[inline]
    fn ctr(&self, counter: &[u8], input: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let mut counter = copy_of::<AES_BLOCK_LEN>(counter)?;
        check_output_len(out.len(), input.len())?;
        let (mut stream, mut used) = ([0; AES_BLOCK_LEN], 0);
        let (from, to, key) = (input.as_ptr(), out.as_mut_ptr(), &raw const self.0);
        let (counter, stream) = (counter.as_mut_ptr(), stream.as_mut_ptr());
        // SAFETY: `out` holds as much as the input, and they do not overlap; counter and key stream are one block each.
        unsafe { sys::AES_ctr128_encrypt(from, to, input.len(), key, counter, stream, &raw mut used) };
        Ok(input.len())
    }

    fn block(&self, block: &mut [u8; AES_BLOCK_LEN]) {
        // SAFETY: one block, in place, which the function allows.
        unsafe { sys::AES_encrypt(block.as_ptr(), block.as_mut_ptr(), &raw const self.0) }
    }
}

impl Drop for AwsLcAesKey {
    fn drop(&mut self) {
        // SAFETY: plain integers, for which all zeros is a value.
        unsafe { sys::OPENSSL_cleanse((&raw mut self.0).cast(), size_of::<sys::AES_KEY>()) }
    }
}

/// An AES key and the two subkeys of CMAC. NIST SP 800-38B 6.1.
pub(in crate::peer) struct AwsLcCmacKey {
    key: AwsLcAesKey,
    subkeys: [[u8; AES_BLOCK_LEN]; 2],
}

impl AwsLcCmacKey {
    fn new(key: &[u8]) -> Result<Self, PeerError> {
        let key = AwsLcAesKey::new(key)?;
        let mut block = [0; AES_BLOCK_LEN];
        key.block(&mut block);
        // Multiplication by x in GF(2^128).
        let doubled = |value: u128| value << 1 ^ if value >> 127 == 1 { 0x87 } else { 0 };
        let first = doubled(u128::from_be_bytes(block));
        Ok(Self { key, subkeys: [first.to_be_bytes(), doubled(first).to_be_bytes()] })
    }

    /// Encrypts the message in CBC mode in one call, its last block padded and under a subkey. NIST SP 800-38B 6.2.
    #[inline]
    fn mac(&self, message: &[u8], scratch: &mut [u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let whole = message.len().saturating_sub(1) / AES_BLOCK_LEN * AES_BLOCK_LEN;
        let found = scratch.len();
        let (Some(text), Some(out)) = (scratch.get_mut(..whole + AES_BLOCK_LEN), out.first_chunk_mut())
        else {
            return Err(fault(&format!("space for {} bytes", whole + AES_BLOCK_LEN), found));
        };
        let (blocks, last) = text.split_at_mut(whole);
        let (from, rest) = message.split_at(whole);
        blocks.copy_from_slice(from);
        last.copy_from_slice(&self.subkeys[usize::from(rest.len() != AES_BLOCK_LEN)]);
        last.iter_mut().zip(rest).for_each(|(to, from)| *to ^= from);
        if let Some(padding) = last.get_mut(rest.len()) {
            *padding ^= 0x80;
        }
        let mut chain = [0; AES_BLOCK_LEN];
        let (text, len, key) = (text.as_mut_ptr(), text.len(), &raw const self.key.0);
        // SAFETY: the text is whole blocks and encrypted in place, which the function allows; `chain` is one block.
        unsafe { sys::AES_cbc_encrypt(text, text, len, key, chain.as_mut_ptr(), sys::AES_ENCRYPT) };
        // The function leaves the last block of the ciphertext in the place of the IV.
        *out = chain;
        Ok(AES_BLOCK_LEN)
    }
}

impl Drop for AwsLcCmacKey {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.subkeys);
    }
}

/// A DES key schedule.
pub(in crate::peer) struct AwsLcDesKey(sys::DES_key_schedule);

impl AwsLcDesKey {
    fn new(key: &[u8]) -> Result<Self, PeerError> {
        let key: [u8; DES_BLOCK_LEN] = copy_of(key)?;
        let mut schedule = Self(sys::DES_key_schedule::default());
        // SAFETY: one key is read, and an owned schedule is written.
        unsafe { sys::DES_set_key_unchecked(key.as_ptr().cast(), &raw mut schedule.0) };
        Ok(schedule)
    }

    fn three(key: &[u8]) -> Result<[Self; 3], PeerError> {
        let ([first, second, third], []) = key.as_chunks::<DES_BLOCK_LEN>() else {
            return Err(fault("a key of 24 bytes", key.len()));
        };
        Ok([Self::new(first)?, Self::new(second)?, Self::new(third)?])
    }

    #[inline]
    fn cbc(&self, iv: &[u8], input: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let mut chain = copy_of::<DES_BLOCK_LEN>(iv)?;
        check_blocks(input, out, DES_BLOCK_LEN)?;
        let (from, to, key) = (input.as_ptr(), out.as_mut_ptr(), &raw const self.0);
        let chain = chain.as_mut_ptr().cast();
        // SAFETY: the input is whole blocks, `out` holds as much, and they do not overlap; `chain` is one block.
        unsafe { sys::DES_ncbc_encrypt(from, to, input.len(), key, chain, sys::DES_ENCRYPT) };
        Ok(input.len())
    }

    #[inline]
    fn cbc_of_three(keys: &[Self; 3], iv: &[u8], input: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let mut chain = copy_of::<DES_BLOCK_LEN>(iv)?;
        check_blocks(input, out, DES_BLOCK_LEN)?;
        let (from, to, chain) = (input.as_ptr(), out.as_mut_ptr(), chain.as_mut_ptr().cast());
        let [first, second, third] = keys.each_ref().map(|key| &raw const key.0);
        // SAFETY: the input is whole blocks, `out` holds as much, and they do not overlap; `chain` is one block.
        unsafe {
            let direction = sys::DES_ENCRYPT;
            sys::DES_ede3_cbc_encrypt(from, to, input.len(), first, second, third, chain, direction);
        }
        Ok(input.len())
    }

    /// ISO 9797-1 algorithm 1: the last block of a CBC encryption under a zero IV.
    #[inline]
    fn mac(&self, input: &[u8], scratch: &mut [u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let len = self.cbc(&[0; DES_BLOCK_LEN], input, scratch)?;
        let code = scratch.get(..len).and_then(<[u8]>::last_chunk::<DES_BLOCK_LEN>);
        let (Some(code), Some(out)) = (code, out.first_chunk_mut()) else {
            return Err(fault("a block, and space for one", len));
        };
        *out = *code;
        Ok(DES_BLOCK_LEN)
    }
}

impl Drop for AwsLcDesKey {
    fn drop(&mut self) {
        // SAFETY: plain integers, for which all zeros is a value.
        unsafe { sys::OPENSSL_cleanse((&raw mut self.0).cast(), size_of::<sys::DES_key_schedule>()) }
    }
}

/// A function that returns the static table of an AEAD.
type AwsLcAead = unsafe extern "C" fn() -> *const sys::EVP_AEAD;

/// The key of an AEAD.
pub(in crate::peer) struct AwsLcAeadKey(NonNull<sys::EVP_AEAD_CTX>);

// SAFETY: nothing ties a context to the thread that made it.
unsafe impl Send for AwsLcAeadKey {}

impl AwsLcAeadKey {
    /// Returns what prepares a key of an algorithm.
    fn of(aead: AwsLcAead) -> PrepareAwsLcKey<Self> {
        Box::new(move |key| Self::new(aead, key))
    }

    fn new(aead: AwsLcAead, key: &[u8]) -> Result<Self, PeerError> {
        // SAFETY: `aead` takes nothing; `key` is readable for its length, which is checked against the algorithm.
        let context = unsafe { sys::EVP_AEAD_CTX_new(aead(), key.as_ptr(), key.len(), TAG_LEN) };
        match NonNull::new(context) {
            Some(context) => Ok(Self(context)),
            None => Err(expect_one(0, "EVP_AEAD_CTX_new").err().unwrap_or_else(|| fault("a key", key.len()))),
        }
    }

    /// Writes ciphertext and tag.
    #[inline]
    fn seal(&self, iv: &[u8], input: &[u8], out: &mut [u8]) -> Result<usize, PeerError> {
        let mut len = 0;
        // SAFETY: every length is passed; input and output do not overlap; there is no associated data.
        let done = unsafe {
            sys::EVP_AEAD_CTX_seal(
                self.0.as_ptr(),
                out.as_mut_ptr(),
                &raw mut len,
                out.len(),
                iv.as_ptr(),
                iv.len(),
                input.as_ptr(),
                input.len(),
                null(),
                0,
            )
        };
        expect_one(done, "EVP_AEAD_CTX_seal").map(|()| len)
    }
}

impl Drop for AwsLcAeadKey {
    fn drop(&mut self) {
        // SAFETY: owned, freed once; the function cleanses what it frees.
        unsafe { sys::EVP_AEAD_CTX_free(self.0.as_ptr()) }
    }
}

/// A cipher and an HMAC in one loop of assembly, for the TLS records of a connection.
pub(in crate::peer) struct AwsLcStitchedCipher(NonNull<sys::EVP_CIPHER_CTX>);

// SAFETY: nothing ties a context to the thread that made it.
unsafe impl Send for AwsLcStitchedCipher {}

impl AwsLcStitchedCipher {
    fn new(method: *const sys::EVP_CIPHER, key: &[u8], mac_key: &[u8]) -> Result<Self, PeerError> {
        // SAFETY: takes nothing; null is handled.
        let context = NonNull::new(unsafe { sys::EVP_CIPHER_CTX_new() }).map(Self);
        let context = context.ok_or_else(|| fault("memory for a context", "none"))?;
        // SAFETY: the method is a static table.
        let key_len = unsafe { sys::EVP_CIPHER_key_length(method) } as usize;
        if key.len() != key_len {
            return Err(fault(&format!("a key of {key_len} bytes"), key.len()));
        }
        let raw = context.0.as_ptr();
        // SAFETY: the key has the length of the method, and no IV is set yet.
        let done = unsafe { sys::EVP_EncryptInit_ex(raw, method, null_mut(), key.as_ptr(), null()) };
        expect_one(done, "EVP_EncryptInit_ex")?;
        let mac_len = c_int::try_from(mac_key.len()).unwrap_or(0);
        // SAFETY: the key's length is passed, and the control only reads it.
        let done = unsafe {
            let from = mac_key.as_ptr().cast_mut().cast();
            sys::EVP_CIPHER_CTX_ctrl(raw, sys::EVP_CTRL_AEAD_SET_MAC_KEY, mac_len, from)
        };
        expect_one(done, "EVP_CTRL_AEAD_SET_MAC_KEY").map(|()| context)
    }

    /// Encrypts a record of `len` bytes, which begins `record`. The record ends with room for MAC and padding.
    fn run(
        &mut self,
        iv: &[u8],
        header: &[u8; HEADER_LEN],
        len: usize,
        record: &[u8],
        out: &mut [u8],
    ) -> Result<usize, PeerError> {
        let iv: [u8; AES_BLOCK_LEN] = copy_of(iv)?;
        check_output_len(out.len(), record.len())?;
        let mut aad = [0; HEADER_LEN + 2];
        aad[..HEADER_LEN].copy_from_slice(header);
        aad[HEADER_LEN..].copy_from_slice(&record_len(len)?);
        let context = self.0.as_ptr();
        // SAFETY: the context has its method and key, and the IV has the length of the method.
        let done = unsafe { sys::EVP_EncryptInit_ex(context, null(), null_mut(), null(), iv.as_ptr()) };
        expect_one(done, "EVP_EncryptInit_ex")?;
        // SAFETY: the length of the header is passed.
        let added = unsafe {
            let (what, header_len) = (sys::EVP_CTRL_AEAD_TLS1_AAD, aad.len() as c_int);
            sys::EVP_CIPHER_CTX_ctrl(context, what, header_len, aad.as_mut_ptr().cast())
        };
        // The control returns how many bytes MAC and padding add to a record with this header.
        if usize::try_from(added).ok().and_then(|added| len.checked_add(added)) != Some(record.len()) {
            return Err(fault(&format!("{} bytes for MAC and padding", record.len() - len), added));
        }
        // SAFETY: the record's length is passed, it was just found to be the one for this header, and `out` holds as
        // much.
        let done = unsafe { sys::EVP_Cipher(context, out.as_mut_ptr(), record.as_ptr(), record.len()) };
        expect_one(done, "EVP_Cipher").map(|()| record.len())
    }
}

impl Drop for AwsLcStitchedCipher {
    fn drop(&mut self) {
        // SAFETY: owned, freed once; the function cleanses what it frees.
        unsafe { sys::EVP_CIPHER_CTX_free(self.0.as_ptr()) }
    }
}
