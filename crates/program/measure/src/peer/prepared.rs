//! A task set up in a peer: keys are parsed and contexts made, so that a run does only what a user waits for.

use std::ffi::CStr;

use super::libcrypto::aws_lc::{self, AwsLcContexts};
use super::libcrypto::{
    HEADER_LEN, MessageContext, PeerCipher, PeerDigest, PeerKey, PeerMac, PkeyContext, StitchedCipher,
    TAG_LEN, record_len,
};
use super::task::{CbcCipher, ChainHash, PeerAlgorithm, PeerTask, fault};
use super::{Libcrypto, PeerError};

/// The length of a DES block in bytes.
const DES_BLOCK_LEN: usize = 8;
/// The length of an AES block in bytes.
const AES_BLOCK_LEN: usize = 16;
/// The bytes of the longest MAC of a chain.
const LONGEST_TAG: usize = 32;
/// The most bytes around a record: its header, MAC and padding.
const MAX_ADDED: usize = HEADER_LEN + 2 + LONGEST_TAG + DES_BLOCK_LEN;
const SHA256_LEN: usize = 32;
const SHA512_LEN: usize = 64;
const ML_KEM_SECRET_LEN: usize = 32;

impl Libcrypto {
    /// Parses the task's keys and makes its contexts: one per key, because `openssl speed` reuses its contexts too;
    /// for agreements one per item, because a context holds its peer.
    pub(crate) fn prepare(&self, task: PeerTask) -> Result<PreparedTask, PeerError> {
        task.validate()?;
        let contexts = AlgorithmContexts::new(self, &task)?;
        let stride = contexts.output_len(&task);
        Ok(PreparedTask::new(self.version(), TaskContexts::Libcrypto(contexts), stride, task))
    }
}

/// Sets a task of records up in AWS-LC, with its keys prepared once.
///
/// # Errors
/// [`PeerError::Unavailable`] if this module has no function for the task's algorithm, and what AWS-LC rejects.
pub(crate) fn prepare_aws_lc(task: PeerTask) -> Result<PreparedTask, PeerError> {
    task.validate()?;
    let contexts = AwsLcContexts::new(&task)?;
    let stride = contexts.output_len(&task);
    Ok(PreparedTask::new(&aws_lc::version(), TaskContexts::AwsLc(contexts), stride, task))
}

/// A task ready to be timed. It belongs to one thread at a time; prepare one for each thread.
pub(crate) struct PreparedTask {
    /// Name and version of the library.
    library: String,
    task: PeerTask,
    contexts: TaskContexts,
    /// The results: `stride` bytes per item, so that they are not all written to one warm cache line.
    outputs: Vec<u8>,
    output_lens: Vec<usize>,
    stride: usize,
    next: usize,
}

impl std::fmt::Debug for PreparedTask {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("PreparedTask")
            .field("library", &self.library)
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

/// The contexts of a task in one library.
enum TaskContexts {
    Libcrypto(AlgorithmContexts),
    AwsLc(AwsLcContexts),
}

impl PreparedTask {
    fn new(library: &str, contexts: TaskContexts, stride: usize, task: PeerTask) -> Self {
        let outputs = vec![0; stride * task.len()];
        let output_lens = vec![0; task.len()];
        Self { library: library.to_owned(), contexts, outputs, output_lens, stride, next: 0, task }
    }

    /// The number of items in a round.
    pub(crate) fn items(&self) -> usize {
        self.task.len()
    }

    /// Computes the next item, from the caller's bytes to the encoded result. The first follows the last.
    pub(crate) fn run_once(&mut self) -> Result<(), PeerError> {
        let item = self.next;
        let start = item * self.stride;
        let out = self.outputs.get_mut(start..start + self.stride).unwrap_or_default();
        let len = match &mut self.contexts {
            TaskContexts::Libcrypto(contexts) => contexts.run(&self.task, item, out)?,
            TaskContexts::AwsLc(contexts) => contexts.run(&self.task, item, out)?,
        };
        if let Some(kept) = self.output_lens.get_mut(item) {
            *kept = len;
        }
        self.next = if item + 1 == self.task.len() { 0 } else { item + 1 };
        Ok(())
    }

    /// Calls [`run_once`](Self::run_once) `count` times.
    pub(crate) fn run(&mut self, count: usize) -> Result<(), PeerError> {
        (0..count).try_for_each(|_| self.run_once())
    }

    /// Returns the latest result of `item`: signature, secret, ciphertext (with tag), digest or MAC; for a
    /// verification one byte, 1 if the signature was accepted and 0 if it was rejected. Empty before its first run.
    pub(crate) fn output(&self, item: usize) -> &[u8] {
        let start = item * self.stride;
        let len = self.output_lens.get(item).copied().unwrap_or(0);
        self.outputs.get(start..start + len).unwrap_or_default()
    }

    /// Runs one whole round and gives each result to `is_right`. The first result that it rejects is an error.
    pub(crate) fn check_all(
        &mut self,
        mut is_right: impl FnMut(usize, &[u8]) -> bool,
    ) -> Result<(), PeerError> {
        self.next = 0;
        self.run(self.items())?;
        match (0..self.items()).find(|&item| !is_right(item, self.output(item))) {
            Some(item) => Err(PeerError::Differs { library: self.library.clone(), item }),
            None => Ok(()),
        }
    }
}

/// The contexts of one algorithm.
enum AlgorithmContexts {
    /// One context per key.
    Sign(Vec<PkeyContext>, usize),
    Verify(Vec<PkeyContext>),
    MessageSign(Vec<MessageContext>, usize),
    MessageVerify(Vec<MessageContext>),
    /// One context per item.
    Derive(Vec<PkeyContext>, usize),
    /// One context per key.
    Encapsulate(Vec<PkeyContext>, usize),
    Decapsulate(Vec<PkeyContext>),
    Cbc(PeerCiphers),
    Gcm(PeerCiphers),
    Digest(PeerDigest),
    /// With a buffer for the ciphertext, whose last block is the MAC.
    DesMac(PeerCiphers, Vec<u8>),
    /// With the length of a MAC.
    Mac(PeerMacs, usize),
    /// One context per item, as a connection has one, and the records with room for MAC and padding.
    Stitched(Vec<StitchedCipher>, Vec<Vec<u8>>),
    /// HMAC, and then the cipher, with a buffer for both.
    Chain(PeerMac, PeerCiphers, ChainHash, Vec<u8>),
}

impl AlgorithmContexts {
    fn new(library: &Libcrypto, task: &PeerTask) -> Result<Self, PeerError> {
        // It decides the cipher, which then refuses keys of another length.
        let first_key_len = task.key(0).len();
        let ciphers = |[short, long]: [&'static CStr; 2]| {
            PeerCiphers::new(task, || {
                PeerCipher::new(library, if first_key_len == 32 { long } else { short })
            })
        };
        Ok(match task.algorithm {
            PeerAlgorithm::RsaSign | PeerAlgorithm::EcdsaSign => Self::sign(library, task)?,
            PeerAlgorithm::RsaVerify | PeerAlgorithm::EcdsaVerify => Self::verify(library, task)?,
            PeerAlgorithm::Ed25519Sign => {
                let keys = private_keys(library, task)?;
                let contexts = keys.iter().map(MessageContext::sign).collect::<Result<_, _>>()?;
                Self::MessageSign(contexts, longest(&keys))
            }
            PeerAlgorithm::Ed25519Verify => {
                let keys = public_keys(library, task)?;
                Self::MessageVerify(keys.iter().map(MessageContext::verify).collect::<Result<_, _>>()?)
            }
            PeerAlgorithm::MlDsaSign | PeerAlgorithm::SlhDsaSign => {
                let keys = new_keys(library, "ML-DSA or SLH-DSA", private_keys(library, task))?;
                let contexts = keys.iter().map(MessageContext::sign).collect::<Result<_, _>>()?;
                Self::MessageSign(contexts, longest(&keys))
            }
            PeerAlgorithm::MlDsaVerify | PeerAlgorithm::SlhDsaVerify => {
                let keys = new_keys(library, "ML-DSA or SLH-DSA", public_keys(library, task))?;
                Self::MessageVerify(keys.iter().map(MessageContext::verify).collect::<Result<_, _>>()?)
            }
            PeerAlgorithm::LmsVerify => {
                let keys = new_keys(library, "LMS", public_keys(library, task))?;
                Self::MessageVerify(keys.iter().map(MessageContext::verify).collect::<Result<_, _>>()?)
            }
            PeerAlgorithm::MlKemEncaps => {
                let keys = new_keys(library, "ML-KEM", private_keys(library, task))?;
                let contexts = keys.iter().map(PkeyContext::encapsulate).collect::<Result<_, _>>()?;
                Self::Encapsulate(contexts, longest(&keys))
            }
            PeerAlgorithm::MlKemDecaps => {
                let keys = new_keys(library, "ML-KEM", private_keys(library, task))?;
                Self::Decapsulate(keys.iter().map(PkeyContext::decapsulate).collect::<Result<_, _>>()?)
            }
            PeerAlgorithm::X25519 => Self::derive(library, task, PeerKey::x25519_peer)?,
            PeerAlgorithm::Ecdh => Self::derive(library, task, PeerKey::public)?,
            PeerAlgorithm::Cbc(CbcCipher::Des) => {
                Self::Cbc(PeerCiphers::new(task, || PeerCipher::des_cbc(library))?)
            }
            PeerAlgorithm::Cbc(CbcCipher::Tdes) => Self::Cbc(ciphers([c"DES-EDE3-CBC"; 2])?),
            PeerAlgorithm::Cbc(CbcCipher::Aes) => Self::Cbc(ciphers([c"AES-128-CBC", c"AES-256-CBC"])?),
            PeerAlgorithm::AesCtr => Self::Cbc(ciphers([c"AES-128-CTR", c"AES-256-CTR"])?),
            PeerAlgorithm::ChaCha20Poly1305 => Self::Gcm(ciphers([c"ChaCha20-Poly1305"; 2])?),
            PeerAlgorithm::AesGcm => Self::Gcm(ciphers([c"AES-128-GCM", c"AES-256-GCM"])?),
            PeerAlgorithm::AesGcmSiv => Self::Gcm(ciphers([c"AES-128-GCM-SIV", c"AES-256-GCM-SIV"])?),
            PeerAlgorithm::Sha1 => Self::Digest(PeerDigest::new(library, c"SHA1")?),
            PeerAlgorithm::Sha224 => Self::Digest(PeerDigest::new(library, c"SHA224")?),
            PeerAlgorithm::Sha256 => Self::Digest(PeerDigest::new(library, c"SHA256")?),
            PeerAlgorithm::Sha512 => Self::Digest(PeerDigest::new(library, c"SHA512")?),
            PeerAlgorithm::Sha3_256 => Self::Digest(PeerDigest::new(library, c"SHA3-256")?),
            PeerAlgorithm::Sha3_512 => Self::Digest(PeerDigest::new(library, c"SHA3-512")?),
            PeerAlgorithm::Shake128 => Self::Digest(PeerDigest::xof(library, c"SHAKE128", 32)?),
            PeerAlgorithm::Shake256 => Self::Digest(PeerDigest::xof(library, c"SHAKE256", 64)?),
            PeerAlgorithm::DesMac => {
                let ciphers = PeerCiphers::new(task, || PeerCipher::des_cbc(library))?;
                Self::DesMac(ciphers, vec![0; longest_input(task)])
            }
            PeerAlgorithm::AesCmac => {
                Self::Mac(PeerMacs::new(task, || PeerMac::aes_cmac(library, first_key_len))?, TAG_LEN)
            }
            PeerAlgorithm::HmacSha512 => {
                Self::Mac(PeerMacs::new(task, || PeerMac::hmac(library, c"SHA512"))?, SHA512_LEN)
            }
            PeerAlgorithm::Chain(CbcCipher::Aes, hash) => Self::stitched(library, task, hash)?,
            // For triple DES, libcrypto has no cipher that computes the HMAC too.
            PeerAlgorithm::Chain(_, hash) => {
                let digest = match hash {
                    ChainHash::Sha1 => c"SHA1",
                    ChainHash::Sha256 => c"SHA256",
                };
                let (mac, cipher) = (PeerMac::hmac(library, digest)?, ciphers([c"DES-EDE3-CBC"; 2])?);
                Self::Chain(mac, cipher, hash, Vec::with_capacity(longest_input(task) + MAX_ADDED))
            }
        })
    }

    fn sign(library: &Libcrypto, task: &PeerTask) -> Result<Self, PeerError> {
        let digest = pkcs1_digest(library, task)?;
        let keys = private_keys(library, task)?;
        let contexts =
            keys.iter().map(|key| PkeyContext::sign(key, digest.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self::Sign(contexts, longest(&keys)))
    }

    fn verify(library: &Libcrypto, task: &PeerTask) -> Result<Self, PeerError> {
        let digest = pkcs1_digest(library, task)?;
        let keys = public_keys(library, task)?;
        let contexts =
            keys.iter().map(|key| PkeyContext::verify(key, digest.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self::Verify(contexts))
    }

    fn derive(
        library: &Libcrypto,
        task: &PeerTask,
        read_peer: impl Fn(&Libcrypto, &[u8]) -> Result<PeerKey, PeerError>,
    ) -> Result<Self, PeerError> {
        let keys = private_keys(library, task)?;
        let pairs = task.inputs.iter().enumerate().map(|(item, peer)| {
            let peer = read_peer(library, peer)?;
            // `validate` has checked that every index is that of a key.
            let key = keys.get(task.key_index(item)).ok_or_else(|| fault("a key", "none"))?;
            PkeyContext::derive(key, &peer)
        });
        let contexts = pairs.collect::<Result<_, _>>()?;
        Ok(Self::Derive(contexts, longest(&keys)))
    }

    fn stitched(library: &Libcrypto, task: &PeerTask, hash: ChainHash) -> Result<Self, PeerError> {
        let name = match (task.key(0).len(), hash) {
            (16, ChainHash::Sha1) => c"AES-128-CBC-HMAC-SHA1",
            (16, ChainHash::Sha256) => c"AES-128-CBC-HMAC-SHA256",
            (_, ChainHash::Sha1) => c"AES-256-CBC-HMAC-SHA1",
            (_, ChainHash::Sha256) => c"AES-256-CBC-HMAC-SHA256",
        };
        let context = |item: usize| {
            let ChainExtras { mac_key, .. } = ChainExtras::from_bytes(task.extras.get(item), AES_BLOCK_LEN)?;
            StitchedCipher::new(library, name, task.key(item), mac_key)
        };
        let contexts = (0..task.len()).map(context).collect::<Result<_, _>>()?;
        Ok(Self::Stitched(contexts, padded_inputs(task, hash)))
    }

    /// Returns the length of the longest result.
    fn output_len(&self, task: &PeerTask) -> usize {
        match self {
            Self::Sign(_, len) | Self::MessageSign(_, len) | Self::Derive(_, len) => *len,
            Self::Encapsulate(_, len) => *len + ML_KEM_SECRET_LEN,
            Self::Decapsulate(_) => ML_KEM_SECRET_LEN,
            Self::Verify(_) | Self::MessageVerify(_) => 1,
            Self::Cbc(_) => longest_input(task),
            Self::Gcm(_) => longest_input(task) + TAG_LEN,
            Self::Digest(digest) => digest.output_len(),
            Self::DesMac(..) => DES_BLOCK_LEN,
            Self::Mac(_, len) => *len,
            Self::Stitched(_, records) => records.iter().map(Vec::len).max().unwrap_or(0),
            Self::Chain(.., hash, _) => sealed_len(longest_input(task), *hash, DES_BLOCK_LEN),
        }
    }

    /// Computes `item`, writes its result to `out`, and returns the result's length.
    fn run(&mut self, task: &PeerTask, item: usize, out: &mut [u8]) -> Result<usize, PeerError> {
        let input = task.inputs.get(item);
        let key = task.key_index(item);
        match self {
            Self::Sign(contexts, _) => at(contexts, key)?.run_sign(input, out),
            Self::Verify(contexts) => {
                verdict(at(contexts, key)?.run_verify(input, task.extras.get(item)), out)
            }
            Self::MessageSign(contexts, _) => at(contexts, key)?.run_sign(input, out),
            Self::MessageVerify(contexts) => {
                verdict(at(contexts, key)?.run_verify(input, task.extras.get(item))?, out)
            }
            Self::Derive(contexts, _) => at(contexts, item)?.run_derive(out),
            Self::Encapsulate(contexts, len) => at(contexts, key)?.run_encapsulate(*len, out),
            Self::Decapsulate(contexts) => at(contexts, key)?.run_decapsulate(input, out),
            Self::Cbc(ciphers) => {
                let (cipher, key) = ciphers.of_item(task, item)?;
                cipher.run(key, task.extras.get(item), input, out)
            }
            Self::Gcm(ciphers) => seal(ciphers.of_item(task, item)?, task, item, out),
            Self::Digest(digest) => digest.run(input, out),
            Self::DesMac(ciphers, scratch) => des_mac(ciphers.of_item(task, item)?, input, scratch, out),
            Self::Mac(macs, _) => {
                let (mac, key) = macs.of_item(task, item)?;
                mac.run(key, input, out)
            }
            Self::Stitched(contexts, records) => {
                let extras = ChainExtras::from_bytes(task.extras.get(item), AES_BLOCK_LEN)?;
                at(contexts, item)?.run(extras.iv, extras.header, input.len(), at(records, item)?, out)
            }
            Self::Chain(mac, ciphers, hash, text) => {
                seal_chain(mac, ciphers.of_item(task, item)?, *hash, text, task, item, out)
            }
        }
    }
}

/// Contexts of ciphers or MACs: one for each key if keys recur, which then stays set, or one that gets the key of each
/// item.
struct KeyedContexts<T> {
    contexts: Vec<T>,
    is_kept: bool,
}

type PeerCiphers = KeyedContexts<PeerCipher>;
type PeerMacs = KeyedContexts<PeerMac>;

impl<T: SetKey> KeyedContexts<T> {
    fn new(task: &PeerTask, make: impl Fn() -> Result<T, PeerError>) -> Result<Self, PeerError> {
        let is_kept = task.has_recurring_keys();
        let with_key = |key: &[u8]| {
            let mut context = make()?;
            context.set_key(key)?;
            Ok(context)
        };
        let contexts = match is_kept {
            true => task.keys.iter().map(with_key).collect::<Result<_, PeerError>>()?,
            false => vec![make()?],
        };
        Ok(Self { contexts, is_kept })
    }

    /// Returns the context of an item, and the key to set if it is not set.
    fn of_item<'t>(
        &mut self,
        task: &'t PeerTask,
        item: usize,
    ) -> Result<(&mut T, Option<&'t [u8]>), PeerError> {
        match self.is_kept {
            true => Ok((at(&mut self.contexts, task.key_index(item))?, None)),
            false => Ok((at(&mut self.contexts, 0)?, Some(task.key(item)))),
        }
    }
}

/// A context that keeps its key.
trait SetKey {
    fn set_key(&mut self, key: &[u8]) -> Result<(), PeerError>;
}

impl SetKey for PeerCipher {
    fn set_key(&mut self, key: &[u8]) -> Result<(), PeerError> {
        Self::set_key(self, key)
    }
}

impl SetKey for PeerMac {
    fn set_key(&mut self, key: &[u8]) -> Result<(), PeerError> {
        Self::set_key(self, key)
    }
}

/// The extra bytes of an item of [`PeerAlgorithm::Chain`].
pub(super) struct ChainExtras<'a> {
    pub(super) iv: &'a [u8],
    pub(super) header: &'a [u8; HEADER_LEN],
    pub(super) mac_key: &'a [u8],
}

impl<'a> ChainExtras<'a> {
    pub(super) fn from_bytes(extras: &'a [u8], block_len: usize) -> Result<Self, PeerError> {
        let parts = extras.split_at_checked(block_len).and_then(|(iv, rest)| {
            let (header, mac_key) = rest.split_first_chunk()?;
            Some(Self { iv, header, mac_key })
        });
        parts.ok_or_else(|| fault("an IV, a header and a MAC key", extras.len()))
    }
}

/// Returns the records of a task with room for their MACs and paddings, as stitched ciphers of AES take them.
pub(super) fn padded_inputs(task: &PeerTask, hash: ChainHash) -> Vec<Vec<u8>> {
    let padded = |input: &[u8]| {
        let mut padded = input.to_vec();
        padded.resize(sealed_len(input.len(), hash, AES_BLOCK_LEN), 0);
        padded
    };
    task.inputs.iter().map(padded).collect()
}

/// Returns the length of a TLS record with its MAC and the shortest padding. RFC 5246 6.2.3.2.
fn sealed_len(len: usize, hash: ChainHash, block_len: usize) -> usize {
    (len + hash.tag_len() + 1).next_multiple_of(block_len)
}

/// Makes the MAC, and encrypts record, MAC and padding.
fn seal_chain(
    mac: &mut PeerMac,
    (cipher, key): (&mut PeerCipher, Option<&[u8]>),
    hash: ChainHash,
    text: &mut Vec<u8>,
    task: &PeerTask,
    item: usize,
    out: &mut [u8],
) -> Result<usize, PeerError> {
    let (input, extras) = (task.inputs.get(item), task.extras.get(item));
    let ChainExtras { iv, header, mac_key } = ChainExtras::from_bytes(extras, DES_BLOCK_LEN)?;
    text.clear();
    text.extend_from_slice(header);
    text.extend_from_slice(&record_len(input.len())?);
    let start = text.len();
    text.extend_from_slice(input);
    let mut tag = [0; LONGEST_TAG];
    let tag_len = mac.run(Some(mac_key), text, &mut tag)?;
    text.extend_from_slice(&tag[..tag_len]);
    let end = start + sealed_len(input.len(), hash, DES_BLOCK_LEN);
    // Below a block.
    let padding = (end - text.len() - 1) as u8;
    text.resize(end, padding);
    // The MAC covers header and length, but they are not encrypted.
    cipher.run(key, iv, &text[start..], out)
}

fn seal(
    (cipher, key): (&mut PeerCipher, Option<&[u8]>),
    task: &PeerTask,
    item: usize,
    out: &mut [u8],
) -> Result<usize, PeerError> {
    let len = cipher.run(key, task.extras.get(item), task.inputs.get(item), out)?;
    match out.get_mut(len..).and_then(<[u8]>::first_chunk_mut::<TAG_LEN>) {
        Some(tag) => cipher.tag(tag).map(|()| len + TAG_LEN),
        None => Err(fault("room for a tag", out.len() - len)),
    }
}

/// ISO 9797-1 algorithm 1: the last block of a CBC encryption under a zero IV.
fn des_mac(
    (cipher, key): (&mut PeerCipher, Option<&[u8]>),
    input: &[u8],
    scratch: &mut [u8],
    out: &mut [u8],
) -> Result<usize, PeerError> {
    let len = cipher.run(key, &[0; DES_BLOCK_LEN], input, scratch)?;
    let code = scratch.get(..len).and_then(<[u8]>::last_chunk::<DES_BLOCK_LEN>);
    let Some(code) = code else { return Err(fault("at least one block", len)) };
    out.copy_from_slice(code);
    Ok(DES_BLOCK_LEN)
}

fn verdict(is_accepted: bool, out: &mut [u8]) -> Result<usize, PeerError> {
    out.fill(u8::from(is_accepted));
    Ok(out.len())
}

pub(super) fn at<T>(contexts: &mut [T], index: usize) -> Result<&mut T, PeerError> {
    let held = contexts.len();
    contexts.get_mut(index).ok_or_else(|| fault(&format!("an index below {held}"), index))
}

fn private_keys(library: &Libcrypto, task: &PeerTask) -> Result<Vec<PeerKey>, PeerError> {
    task.keys.iter().map(|der| PeerKey::private(library, der)).collect()
}

fn public_keys(library: &Libcrypto, task: &PeerTask) -> Result<Vec<PeerKey>, PeerError> {
    task.keys.iter().map(|der| PeerKey::public(library, der)).collect()
}

/// Turns keys that a library does not know into an absence: OpenSSL has ML-KEM, ML-DSA and SLH-DSA from 3.5
/// on, and LMS from 3.6 on.
fn new_keys(
    library: &Libcrypto,
    algorithm: &'static str,
    keys: Result<Vec<PeerKey>, PeerError>,
) -> Result<Vec<PeerKey>, PeerError> {
    keys.map_err(|error| match error {
        PeerError::Failed { reason, .. } => {
            PeerError::Unavailable { library: library.version().into(), algorithm, reason }
        }
        error => error,
    })
}

/// PKCS#1 v1.5 names its digest inside the padding; ECDSA does not.
fn pkcs1_digest(library: &Libcrypto, task: &PeerTask) -> Result<Option<PeerDigest>, PeerError> {
    if !matches!(task.algorithm, PeerAlgorithm::RsaSign | PeerAlgorithm::RsaVerify) {
        return Ok(None);
    }
    match task.inputs.iter().find(|digest| digest.len() != SHA256_LEN) {
        Some(digest) => Err(fault("SHA-256 digests of 32 bytes", digest.len())),
        None => PeerDigest::new(library, c"SHA256").map(Some),
    }
}

fn longest(keys: &[PeerKey]) -> usize {
    keys.iter().map(PeerKey::output_len).max().unwrap_or(0)
}

pub(super) fn longest_input(task: &PeerTask) -> usize {
    task.inputs.iter().map(<[u8]>::len).max().unwrap_or(0)
}
