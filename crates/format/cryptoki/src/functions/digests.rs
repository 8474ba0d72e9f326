//! Digests, and functions that digest or sign beside a cipher.

use oarlock::SecretBytes;

use super::Cryptoki;
use super::asynchronous::FunctionCall;
use super::steps::StepEnd;
use crate::constants::{ObjectClass, ReturnCode, session_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::{self, Mechanism, MechanismParameters};
use crate::operation::{CipherDirection, DigestOperation};
use crate::output::CallOutput;
use crate::session::{ActiveOperation, Session};

impl Cryptoki {
    /// `C_DigestInit`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationActive`], [`ReturnCode::MechanismInvalid`], [`ReturnCode::MechanismParamInvalid`].
    pub fn digest_init(&self, session: SessionHandle, mechanism: &Mechanism<'_>) -> Result<(), ReturnCode> {
        // A wrong handle is reported before a wrong mechanism.
        let operation = new_digest(mechanism);
        self.sessions.with(session, |found| found.digest.begin(operation?))
    }

    /// `C_Digest`. In an asynchronous session it fails with [`ReturnCode::Pending`]; see
    /// [`async_complete`](Self::async_complete).
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`], [`ReturnCode::BufferTooSmall`].
    pub fn digest(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, digest_of, |operation, flags| {
            // C_Digest cannot end an operation in pieces. PKCS#11 3.2 5.12.2.
            if operation.is_in_pieces() {
                return Err(ReturnCode::OperationActive);
            }
            if !output.has_space(operation.output_len())? {
                return Ok(StepEnd::More(()));
            }
            let is_asynchronous = flags & session_flags::ASYNC_SESSION != 0;
            if is_asynchronous {
                let computation = operation.plan(data);
                let call = FunctionCall::new((session, flags), "C_Digest", Some(output));
                return self.compute_output(call, computation, output);
            }
            operation.update(data);
            // `finish` consumes the context, and `step` lends the operation only.
            output.write(&operation.clone().finish())?;
            Ok(StepEnd::Done(()))
        })
    }

    /// `C_DigestUpdate`.
    ///
    /// # Errors
    /// [`ReturnCode::OperationNotInitialized`].
    pub fn digest_update(&self, session: SessionHandle, data: &[u8]) -> Result<(), ReturnCode> {
        self.step(session, digest_of, |operation, _| {
            operation.update(data);
            Ok(StepEnd::More(()))
        })
    }

    /// `C_DigestKey`. Only a key whose value may be read is digested: a digest of a short key reveals it.
    ///
    /// # Errors
    /// [`ReturnCode::KeyHandleInvalid`], [`ReturnCode::KeyIndigestible`].
    pub fn digest_key(&self, session: SessionHandle, key: ObjectHandle) -> Result<(), ReturnCode> {
        let caller = self.caller(session)?;
        let object = caller.key_object(key, ReturnCode::KeyHandleInvalid)?;
        if object.class != ObjectClass::SECRET_KEY || !object.is_readable() {
            return Err(ReturnCode::KeyIndigestible);
        }
        let key = object.key(caller.slot.objects.token())?;
        let value = key.secret().map(SecretBytes::expose).ok_or(ReturnCode::KeyIndigestible)?;
        self.digest_update(session, value)
    }

    /// `C_DigestFinal`.
    ///
    /// # Errors
    /// As [`digest`](Self::digest).
    pub fn digest_final(
        &self,
        session: SessionHandle,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.step(session, digest_of, |operation, _| {
            if !output.has_space(operation.output_len())? {
                return Ok(StepEnd::More(()));
            }
            output.write(&operation.clone().finish())?;
            Ok(StepEnd::Done(()))
        })
    }

    /// `C_DigestEncryptUpdate`.
    ///
    /// # Errors
    /// As [`digest_update`](Self::digest_update) and [`encrypt_update`](Self::encrypt_update).
    pub fn digest_encrypt_update(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        // Checked before the cipher takes the piece, because it cannot give the piece back.
        self.check_active(session, |found| found.digest.is_active())?;
        self.cipher_update(session, None, CipherDirection::Encrypt, data, output)?;
        // A call for the length, or with a short buffer, digests nothing.
        if output.is_length_only() { Ok(()) } else { self.digest_update(session, data) }
    }

    /// `C_DecryptDigestUpdate`.
    ///
    /// # Errors
    /// As [`digest_update`](Self::digest_update) and [`decrypt_update`](Self::decrypt_update).
    pub fn decrypt_digest_update(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        // As above: the decryption of the piece cannot be repeated.
        self.check_active(session, |found| found.digest.is_active())?;
        self.cipher_update(session, None, CipherDirection::Decrypt, data, output)?;
        match output.written() {
            Some(plaintext) => self.digest_update(session, plaintext),
            None => Ok(()),
        }
    }

    /// `C_SignEncryptUpdate`.
    ///
    /// # Errors
    /// As [`sign_update`](Self::sign_update) and [`encrypt_update`](Self::encrypt_update).
    pub fn sign_encrypt_update(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        // As in `digest_encrypt_update`: the cipher must not take a piece that is not signed.
        self.check_active(session, |found| found.sign.is_active())?;
        self.cipher_update(session, None, CipherDirection::Encrypt, data, output)?;
        if output.is_length_only() { Ok(()) } else { self.sign_update(session, data) }
    }

    /// `C_DecryptVerifyUpdate`.
    ///
    /// # Errors
    /// As [`verify_update`](Self::verify_update) and [`decrypt_update`](Self::decrypt_update).
    pub fn decrypt_verify_update(
        &self,
        session: SessionHandle,
        data: &[u8],
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        self.check_active(session, |found| found.verify.is_active())?;
        self.cipher_update(session, None, CipherDirection::Decrypt, data, output)?;
        match output.written() {
            Some(plaintext) => self.verify_update(session, plaintext),
            None => Ok(()),
        }
    }

    fn check_active(
        &self,
        session: SessionHandle,
        is_active: impl FnOnce(&mut Session) -> bool,
    ) -> Result<(), ReturnCode> {
        let is_active = self.sessions.with(session, |found| Ok(is_active(found)))?;
        if is_active { Ok(()) } else { Err(ReturnCode::OperationNotInitialized) }
    }
}

fn new_digest(mechanism: &Mechanism<'_>) -> Result<DigestOperation, ReturnCode> {
    let alg = mechanism::digest_of(mechanism.kind).ok_or(ReturnCode::MechanismInvalid)?;
    let operation = DigestOperation::new(alg)?;
    match mechanism.parameters {
        MechanismParameters::None => Ok(operation),
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}

fn digest_of(session: &mut Session) -> &mut ActiveOperation<DigestOperation> {
    &mut session.digest
}
