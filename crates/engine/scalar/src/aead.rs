//! AES-GCM with detached tags of 12 to 16 bytes and IVs of any length, AES-GCM-SIV, and ChaCha20-Poly1305. AES-SIV is
//! in [`siv`](crate::siv).

use std::sync::OnceLock;

use oarlock_core::{AeadAlg, Direction, EngineFault, SecretBytes, Status};
use zeroize::{Zeroize, Zeroizing};

use crate::batch::{AcceptedRecord, RecordBatch, RecordTarget};
use crate::ffi::{AeadContext, chacha20, is_equal, poly1305};
use crate::op_error::OpError;
use crate::prepare::PrepareKey;
use crate::siv;

/// Computes every record of the batch in one direction. Both key sizes of AES share this code, because AWS-LC reads the
/// size from the key.
pub(crate) fn run(alg: AeadAlg, direction: Direction, batch: RecordBatch<'_, '_>) -> Result<(), EngineFault> {
    use Direction::{Decrypt, Encrypt};
    match (alg, direction) {
        (AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm, Encrypt) => batch.each_with_key(seal::<GcmContexts>),
        (AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm, Decrypt) => batch.each_with_key(open::<GcmContexts>),
        (AeadAlg::Aes128GcmSiv | AeadAlg::Aes256GcmSiv, Encrypt) => {
            batch.each_with_key(seal::<GcmSivContext>)
        }
        (AeadAlg::Aes128GcmSiv | AeadAlg::Aes256GcmSiv, Decrypt) => {
            batch.each_with_key(open::<GcmSivContext>)
        }
        (AeadAlg::ChaCha20Poly1305, Encrypt) => batch.each_with_key(seal::<ChaChaContext>),
        (AeadAlg::ChaCha20Poly1305, Decrypt) => batch.each_with_key(open::<ChaChaContext>),
        (AeadAlg::ChaCha20Poly1305Ssh, Encrypt) => batch.each_with_key(seal_ssh),
        (AeadAlg::ChaCha20Poly1305Ssh, Decrypt) => batch.each_with_key(open_ssh),
        (alg, direction) if alg.is_siv() => siv::run(direction, batch),
        _ => Err(batch.refused()),
    }
}

/// A key with a context for each tag length.
trait AeadKey: PrepareKey {
    /// Returns the context that makes tags of 16 bytes.
    fn full(&self) -> &AeadContext;

    /// Returns the context that compares tags of `tag_len` bytes.
    fn context_for(&self, tag_len: usize) -> Result<&AeadContext, OpError>;
}

/// An AES-GCM-SIV key. All tags have 16 bytes.
struct GcmSivContext(AeadContext);

impl PrepareKey for GcmSivContext {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        AeadContext::gcm_siv(key).map(Self).map_err(OpError::from_key_error)
    }
}

impl AeadKey for GcmSivContext {
    fn full(&self) -> &AeadContext {
        &self.0
    }

    fn context_for(&self, _tag_len: usize) -> Result<&AeadContext, OpError> {
        // As for ChaCha20-Poly1305.
        Ok(&self.0)
    }
}

/// A ChaCha20-Poly1305 key. All tags have 16 bytes.
struct ChaChaContext(AeadContext);

impl PrepareKey for ChaChaContext {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        AeadContext::chacha20_poly1305(key).map(Self).map_err(OpError::from_key_error)
    }
}

impl AeadKey for ChaChaContext {
    fn full(&self) -> &AeadContext {
        &self.0
    }

    fn context_for(&self, _tag_len: usize) -> Result<&AeadContext, OpError> {
        // A tag of another length was refused when the record was accepted.
        Ok(&self.0)
    }
}

/// A GCM key with one context per tag length. AWS-LC fixes the tag length with the context and compares whole tags
/// only.
struct GcmContexts {
    full: AeadContext,
    /// Contexts that compare tags of 12 to 15 bytes. Each is made at its first use.
    short: [OnceLock<AeadContext>; 4],
    key: SecretBytes,
}

impl PrepareKey for GcmContexts {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        let full = AeadContext::gcm(key, AeadContext::TAG_LEN).map_err(OpError::from_key_error)?;
        Ok(Self { full, short: Default::default(), key: key.into() })
    }
}

impl AeadKey for GcmContexts {
    fn full(&self) -> &AeadContext {
        &self.full
    }

    fn context_for(&self, tag_len: usize) -> Result<&AeadContext, OpError> {
        if tag_len == AeadContext::TAG_LEN {
            return Ok(&self.full);
        }
        let short =
            tag_len.checked_sub(12).and_then(|index| self.short.get(index)).ok_or(Status::BadLength)?;
        if let Some(context) = short.get() {
            return Ok(context);
        }
        // Two threads may both make the context; one copy wins and the other is cleansed. No lock is held
        // meanwhile.
        let context = AeadContext::gcm(self.key.expose(), tag_len)?;
        Ok(short.get_or_init(|| context))
    }
}

#[inline(always)]
fn seal<K: AeadKey>(
    key: &K,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let mut tag = [0; AeadContext::TAG_LEN];
    let output = target.output_like_input(&record);
    key.full()
        .seal(record.iv(), record.aad(), record.input(), output, &mut tag)
        .map_err(OpError::from_length_error)?;
    // A shorter tag is the leading bytes of the full one. NIST SP 800-38D 7.1.
    target.write_tag(record.tag(), &tag)
}

#[inline(always)]
fn open<K: AeadKey>(
    key: &K,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let tag = record.expected_tag();
    let context = key.context_for(tag.len())?;
    let output = target.output_like_input(&record);
    let is_valid = context.open(record.iv(), record.aad(), record.input(), tag, output);
    if is_valid.map_err(OpError::from_length_error)? { Ok(()) } else { Err(Status::Rejected.into()) }
}

/// The two keys of `chacha20-poly1305@openssh.com`. draft-ietf-sshm-chacha20-poly1305.
struct SshKeys {
    /// Encrypts the packet and makes the keys of Poly1305.
    main: Zeroizing<[u8; 32]>,
    /// Encrypts the length of the packet.
    header: Zeroizing<[u8; 32]>,
}

/// The bytes of a packet's length.
const LENGTH: usize = 4;

impl PrepareKey for SshKeys {
    fn prepare(key: &[u8]) -> Result<Self, OpError> {
        match key.as_chunks() {
            ([main, header], []) => Ok(Self { main: Zeroizing::new(*main), header: Zeroizing::new(*header) }),
            _ => Err(Status::BadKey.into()),
        }
    }
}

impl SshKeys {
    /// Encrypts or decrypts the length and the packet.
    fn crypt(&self, nonce: &[u8; 12], input: &[u8], out: &mut [u8]) {
        let (length, packet) = input.split_at(LENGTH.min(input.len()));
        let (length_out, packet_out) = out.split_at_mut(LENGTH.min(out.len()));
        chacha20(&self.header, nonce, 0, length, length_out);
        // Block 0 of the main key is the key of Poly1305.
        chacha20(&self.main, nonce, 1, packet, packet_out);
    }

    /// Returns the tag of an encrypted length and packet.
    fn tag(&self, nonce: &[u8; 12], sealed: &[u8]) -> [u8; 16] {
        let mut key = Zeroizing::new([0; 32]);
        chacha20(&self.main, nonce, 0, &[0; 32], &mut key[..]);
        poly1305(&key, sealed)
    }
}

/// Returns the nonce of RFC 8439 that means an original nonce of 8 bytes and a block number below 2^32.
fn nonce(record: &AcceptedRecord<'_>) -> Result<[u8; 12], OpError> {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(record.start::<8>()?);
    Ok(nonce)
}

fn seal_ssh(
    keys: &SshKeys,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let nonce = nonce(&record)?;
    let output = target.output_like_input(&record);
    keys.crypt(&nonce, record.input(), output);
    let tag = keys.tag(&nonce, output);
    target.write_tag(record.tag(), &tag)
}

fn open_ssh(
    keys: &SshKeys,
    record: AcceptedRecord<'_>,
    target: &mut RecordTarget<'_>,
) -> Result<(), OpError> {
    let nonce = nonce(&record)?;
    let mut tag = keys.tag(&nonce, record.input());
    let is_valid = is_equal(&tag, record.expected_tag());
    // The right tag of a forged packet must not stay behind.
    tag.zeroize();
    if !is_valid {
        return Err(Status::Rejected.into());
    }
    keys.crypt(&nonce, record.input(), target.output_like_input(&record));
    Ok(())
}
