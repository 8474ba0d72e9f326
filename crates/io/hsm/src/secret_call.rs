//! Records under secret keys as calls of mechanisms.

use std::sync::Arc;

use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::ObjectHandle;
use cryptoki::session::Session;
use cryptoki::types::Ulong;
use oarlock::{Direction, JobError, MacAlg};
use oarlock_keytable::KeyType;
use zeroize::Zeroizing;

use crate::HsmError;
use crate::fault::CallFault;
use crate::object::{SecretObject, SecretPurpose};
use crate::session::HsmSession;

/// Bytes of an IV of AES-CBC.
pub(crate) const CBC_IV_LEN: usize = 16;

/// Bytes of an IV of AES-GCM. Other lengths are permitted, and few tokens take them.
pub(crate) const GCM_IV_LEN: usize = 12;

/// The call of a record, with copies of its data.
pub(crate) struct SecretCall {
    /// The name of the key.
    pub(crate) key: Arc<str>,
    /// The type of key that the record needs.
    pub(crate) key_type: KeyType,
    pub(crate) operation: SecretOperation,
    /// True if the IV is not random: the caller has chosen it, or it is zeros.
    pub(crate) is_iv_chosen: bool,
    /// The plaintext, the message, or the ciphertext with its tag behind it.
    pub(crate) input: Zeroizing<Vec<u8>>,
}

/// The mechanism of a record and its parameters.
pub(crate) enum SecretOperation {
    Cbc { direction: Direction, iv: [u8; CBC_IV_LEN] },
    Gcm { direction: Direction, iv: [u8; GCM_IV_LEN], aad: Vec<u8>, tag_len: usize },
    Mac(MacAlg),
}

impl SecretCall {
    /// Computes the record: a ciphertext with its tag behind it, a plaintext, or a whole authentication code.
    pub(crate) fn run(&self, session: &mut HsmSession) -> Result<Zeroizing<Vec<u8>>, CallFault> {
        let (mechanism, purpose) = self.needs()?;
        session.expect_mechanism(mechanism)?;
        let object = session.secret(&self.key, purpose)?;
        if object.key_type != self.key_type {
            let found = format!("{}, expected {}", object.key_type, self.key_type);
            return Err(HsmError::KeyType { key: object.name, found }.into());
        }
        self.check_iv(session, &object)?;
        let output = match &self.operation {
            SecretOperation::Cbc { direction, iv } => {
                self.run_cbc(session, object.handle, *direction, *iv)?
            }
            SecretOperation::Gcm { direction: Direction::Encrypt, iv, aad, tag_len } => {
                let mut iv = *iv;
                let mechanism = gcm(&mut iv, aad, *tag_len)?;
                session.raw()?.encrypt(&mechanism, object.handle, &self.input)?
            }
            SecretOperation::Gcm { direction: Direction::Decrypt, iv, aad, tag_len } => {
                let mut iv = *iv;
                let mechanism = gcm(&mut iv, aad, *tag_len)?;
                let session = session.raw()?;
                session
                    .decrypt(&mechanism, object.handle, &self.input)
                    .map_err(|error| open_fault(session, error))?
            }
            SecretOperation::Mac(alg) => {
                let mechanism = mac(*alg).ok_or_else(|| unsupported(alg))?;
                session.raw()?.sign(&mechanism, object.handle, &self.input)?
            }
        };
        let output = Zeroizing::new(output);
        match self.output_len() {
            len if len == output.len() => Ok(output),
            len => Err(CallFault::Wrong(format!("a result of {} bytes, expected {len}", output.len()))),
        }
    }

    /// Returns the mechanism and the permission that the record needs.
    fn needs(&self) -> Result<(MechanismType, SecretPurpose), CallFault> {
        let purpose = |direction: &Direction| match direction {
            Direction::Encrypt => SecretPurpose::Encrypt,
            Direction::Decrypt => SecretPurpose::Decrypt,
        };
        Ok(match &self.operation {
            SecretOperation::Cbc { direction, .. } => (MechanismType::AES_CBC, purpose(direction)),
            SecretOperation::Gcm { direction, .. } => (MechanismType::AES_GCM, purpose(direction)),
            SecretOperation::Mac(alg) => {
                let mechanism = mac(*alg).ok_or_else(|| unsupported(alg))?;
                (mechanism.mechanism_type(), SecretPurpose::Sign)
            }
        })
    }

    /// Refuses to encrypt under a chosen IV with a key that may do GCM, as key files do: that reveals the key stream of
    /// what others have encrypted.
    fn check_iv(&self, session: &HsmSession, key: &SecretObject) -> Result<(), HsmError> {
        let encrypts = matches!(
            self.operation,
            SecretOperation::Cbc { direction: Direction::Encrypt, .. }
                | SecretOperation::Gcm { direction: Direction::Encrypt, .. }
        );
        let gcm = MechanismType::AES_GCM;
        if encrypts && self.is_iv_chosen && session.offers(gcm) && key.is_for(gcm) {
            let purpose = "encrypt under an IV that is not random, because it may do AES-GCM";
            return Err(HsmError::NotAllowed { key: key.name.clone(), purpose });
        }
        Ok(())
    }

    fn run_cbc(
        &self,
        session: &HsmSession,
        key: ObjectHandle,
        direction: Direction,
        iv: [u8; CBC_IV_LEN],
    ) -> Result<Vec<u8>, CallFault> {
        // Modules refuse to encrypt nothing.
        if self.input.is_empty() {
            return Ok(Vec::new());
        }
        let (session, mechanism) = (session.raw()?, Mechanism::AesCbc(iv));
        Ok(match direction {
            Direction::Encrypt => session.encrypt(&mechanism, key, &self.input)?,
            Direction::Decrypt => session.decrypt(&mechanism, key, &self.input)?,
        })
    }

    fn output_len(&self) -> usize {
        match &self.operation {
            SecretOperation::Cbc { .. } => self.input.len(),
            SecretOperation::Gcm { direction: Direction::Encrypt, tag_len, .. } => self.input.len() + tag_len,
            SecretOperation::Gcm { tag_len, .. } => self.input.len().saturating_sub(*tag_len),
            SecretOperation::Mac(alg) => alg.tag_len(),
        }
    }
}

fn gcm<'p>(iv: &'p mut [u8], aad: &'p [u8], tag_len: usize) -> Result<Mechanism<'p>, CallFault> {
    let tag_bits = Ulong::try_from(8 * tag_len)?;
    Ok(Mechanism::AesGcm(GcmParams::new(iv, aad, tag_bits)?))
}

/// Returns the mechanism of an authentication code, or `None` if there is none.
pub(crate) fn mac(alg: MacAlg) -> Option<Mechanism<'static>> {
    match alg {
        MacAlg::Aes128Cmac | MacAlg::Aes256Cmac => Some(Mechanism::AesCMac),
        MacAlg::HmacSha1 => Some(Mechanism::Sha1Hmac),
        MacAlg::HmacSha256 => Some(Mechanism::Sha256Hmac),
        MacAlg::HmacSha384 => Some(Mechanism::Sha384Hmac),
        MacAlg::HmacSha512 => Some(Mechanism::Sha512Hmac),
        _ => None,
    }
}

fn unsupported(alg: &MacAlg) -> CallFault {
    JobError::Unsupported { wanted: format!("{alg} with a key in a device") }.into()
}

/// `CKR_AEAD_DECRYPT_FAILED` of PKCS#11 3.0.
const AEAD_DECRYPT_FAILED: u64 = 0x42;

/// Returns the fault of a ciphertext that was not opened: mostly its tag is wrong.
fn open_fault(session: &Session, error: Error) -> CallFault {
    let Error::Pkcs11(value, _) = &error else { return error.into() };
    let is_rejected = match value {
        RvError::EncryptedDataInvalid | RvError::EncryptedDataLenRange => true,
        RvError::UnknownErrorCode(code) => *code == AEAD_DECRYPT_FAILED,
        // SoftHSM says no more about a wrong tag. A module that has failed has no session either.
        RvError::GeneralError => session.get_session_info().is_ok(),
        _ => false,
    };
    if is_rejected { JobError::Rejected.into() } else { error.into() }
}
