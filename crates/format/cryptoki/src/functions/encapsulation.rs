//! Encapsulation of keys: a new secret for the owner of a public key. PKCS#11 3.2 5.18.

use oarlock::keys::generate;
use oarlock::{Key, KeyKind, MlKemSet, SecretBytes};
use zeroize::Zeroizing;

use super::Cryptoki;
use super::access::{Caller, KeyFaults, UsableKey};
use super::creation::check_key_type;
use super::keys::{expect, fixed_len, new_secret_object, wanted_len};
use crate::attribute::{AttributeSet, AttributeValue, TemplateEntry, parse};
use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass, ReturnCode, mechanism_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::{Mechanism, MechanismFamily, MechanismParameters};
use crate::object::{CreationKind, NewObject, apply_template, complete, public_point};
use crate::operation::{
    CipherDirection, CipherOperation, Derivation, ml_kem_set, plan_decapsulation, plan_encapsulation,
    split_encapsulated,
};
use crate::output::CallOutput;
use crate::session::CallResult;

impl Cryptoki {
    /// `C_EncapsulateKey`. Makes a secret key, and returns it with a ciphertext from which the owner of the private key
    /// makes the same one. `None` if the caller asked for the length of the ciphertext.
    ///
    /// With ML-KEM the secret has 32 bytes. With RSA-OAEP the ciphertext is the encrypted secret; with ECDH it is the
    /// public key of a new key pair, and the mechanism names no public key.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismInvalid`], [`ReturnCode::MechanismParamInvalid`], [`ReturnCode::KeyTypeInconsistent`],
    /// [`ReturnCode::KeyFunctionNotPermitted`], [`ReturnCode::BufferTooSmall`], [`ReturnCode::KeySizeRange`], and those
    /// of [`create_object`](Self::create_object) for the template.
    pub fn encapsulate_key(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        public_key: ObjectHandle,
        template: &[TemplateEntry<'_>],
        output: &mut CallOutput<'_>,
    ) -> Result<Option<ObjectHandle>, ReturnCode> {
        const ENCAPSULATE: (u64, A) = (mechanism_flags::ENCAPSULATE, A::ENCAPSULATE);
        let caller = self.caller(session)?;
        let usable = caller.usable_key(public_key, mechanism, ENCAPSULATE, KeyFaults::USUAL)?;
        if usable.object.class != ObjectClass::PUBLIC_KEY {
            return Err(ReturnCode::KeyTypeInconsistent);
        }
        let of_key = usable.object.attributes.template(A::ENCAPSULATE_TEMPLATE);
        let secret = SharedSecret::new(&caller, template, of_key)?;
        let result = match usable.facts.family {
            MechanismFamily::MlKem => {
                self.encapsulate_secret(&caller, &usable.key, mechanism, secret, output)?
            }
            MechanismFamily::RsaOaep => self.encrypt_secret(&caller, usable, mechanism, secret, output)?,
            _ => self.agree_on_secret(&caller, &usable.key, mechanism, secret, output)?,
        };
        let Some(result) = result else { return Ok(None) };
        output.write(&result.bytes)?;
        self.add_first(&caller, result).map(Some)
    }

    /// Encapsulates a secret by ML-KEM. `None` if the caller asks for the length.
    fn encapsulate_secret(
        &self,
        caller: &Caller<'_>,
        public: &Key,
        mechanism: &Mechanism<'_>,
        secret: SharedSecret,
        output: &mut CallOutput<'_>,
    ) -> Result<Option<CallResult>, ReturnCode> {
        let set = ml_kem_set(public)?;
        secret.check_ml_kem(mechanism)?;
        if !output.has_space(set.ciphertext_len())? {
            return Ok(None);
        }
        let call = caller.call("C_EncapsulateKey", Some(output));
        let result = self.compute(call, Ok(plan_encapsulation(public, set)), move |made| {
            let made = split_encapsulated(made, set)?;
            let object = secret.into_object(&made.secret)?;
            Ok(CallResult { bytes: made.ciphertext, ..CallResult::of_object(object) })
        });
        result.map(Some)
    }

    /// Encrypts a random secret. `None` if the caller asks for the length.
    fn encrypt_secret(
        &self,
        caller: &Caller<'_>,
        usable: UsableKey,
        mechanism: &Mechanism<'_>,
        secret: SharedSecret,
        output: &mut CallOutput<'_>,
    ) -> Result<Option<CallResult>, ReturnCode> {
        let operation = CipherOperation::new(usable.key, usable.facts, mechanism, CipherDirection::Encrypt)?;
        let len = secret.len.ok_or(ReturnCode::TemplateIncomplete)?;
        if !output.has_space(operation.whole_len(len)?.0)? {
            return Ok(None);
        }
        let random = generate::secret(len).map_err(|_| ReturnCode::RandomNoRng)?;
        let value = random.secret().map(SecretBytes::expose).ok_or(ReturnCode::GeneralError)?;
        let object = secret.into_object(value);
        let call = caller.call("C_EncapsulateKey", Some(output));
        let result = self.compute(call, operation.plan_whole(value), |ciphertext| {
            Ok(CallResult { bytes: ciphertext?, ..CallResult::of_object(object?) })
        });
        result.map(Some)
    }

    /// Agrees on a secret by a new key pair, whose public key is the ciphertext. `None` if the caller asks for the
    /// length.
    fn agree_on_secret(
        &self,
        caller: &Caller<'_>,
        public: &Key,
        mechanism: &Mechanism<'_>,
        secret: SharedSecret,
        output: &mut CallOutput<'_>,
    ) -> Result<Option<CallResult>, ReturnCode> {
        let derivation = agreement(mechanism, public_point(public))?;
        if !output.has_space(public_point(public).len())? {
            return Ok(None);
        }
        let ephemeral = match public.kind() {
            KeyKind::EcPublic(curve) => generate::ec(curve),
            KeyKind::X25519Public => generate::x25519(),
            _ => return Err(ReturnCode::KeyTypeInconsistent),
        };
        let ephemeral = ephemeral.map_err(|_| ReturnCode::RandomNoRng)?;
        let bytes = Zeroizing::new(public_point(&ephemeral).to_vec());
        let call = caller.call("C_EncapsulateKey", Some(output));
        let result = self.compute(call, derivation.plan(&ephemeral, secret.len), |value| {
            Ok(CallResult { bytes, ..CallResult::of_object(secret.into_object(&value?)?) })
        });
        result.map(Some)
    }

    /// `C_DecapsulateKey`. Makes the secret key of a ciphertext of [`encapsulate_key`](Self::encapsulate_key). Every
    /// fault of the ciphertext looks alike.
    ///
    /// # Errors
    /// [`ReturnCode::WrappedKeyInvalid`] for a bad ciphertext, and those of [`encapsulate_key`](Self::encapsulate_key).
    pub fn decapsulate_key(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        private_key: ObjectHandle,
        template: &[TemplateEntry<'_>],
        ciphertext: &[u8],
    ) -> Result<ObjectHandle, ReturnCode> {
        const DECAPSULATE: (u64, A) = (mechanism_flags::DECAPSULATE, A::DECAPSULATE);
        let caller = self.caller(session)?;
        let usable = caller.usable_key(private_key, mechanism, DECAPSULATE, KeyFaults::USUAL)?;
        if usable.object.class != ObjectClass::PRIVATE_KEY {
            return Err(ReturnCode::KeyTypeInconsistent);
        }
        // The standard has no call between C_DecapsulateKey and its result in which the PIN could come.
        if usable.needs_login() {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        let of_key = usable.object.attributes.template(A::DECAPSULATE_TEMPLATE);
        let secret = SharedSecret::new(&caller, template, of_key)?;
        if usable.facts.family == MechanismFamily::MlKem {
            return self.decapsulate_secret(&caller, &usable.key, mechanism, secret, ciphertext);
        }
        let (operation, derivation);
        let value = match usable.facts.family {
            MechanismFamily::RsaOaep => {
                let direction = CipherDirection::Decrypt;
                operation = CipherOperation::new(usable.key, usable.facts, mechanism, direction)?;
                operation.plan_whole(ciphertext)
            }
            _ => {
                derivation = agreement(mechanism, ciphertext)?;
                derivation.plan(&usable.key, secret.len)
            }
        };
        let result = self.compute(caller.call("C_DecapsulateKey", None), value, |value| {
            // Every fault of the ciphertext has one code, as in C_UnwrapKey. Faults of the machine and of the template
            // keep theirs.
            let value = value.map_err(|code| match code {
                ReturnCode::DeviceError | ReturnCode::TokenResourceExceeded | ReturnCode::KeySizeRange => {
                    code
                }
                _ => ReturnCode::WrappedKeyInvalid,
            })?;
            // The sender chooses the length of an OAEP plaintext, and the template may want another one.
            if secret.len.is_some_and(|len| len != value.len()) {
                return Err(ReturnCode::WrappedKeyInvalid);
            }
            secret.into_object(&value).map(CallResult::of_object)
        })?;
        self.add_first(&caller, result)
    }

    /// Decapsulates by ML-KEM. No error tells whether the ciphertext was made for the key, so that errors of a holder
    /// keep their codes.
    fn decapsulate_secret(
        &self,
        caller: &Caller<'_>,
        private: &Key,
        mechanism: &Mechanism<'_>,
        secret: SharedSecret,
        ciphertext: &[u8],
    ) -> Result<ObjectHandle, ReturnCode> {
        secret.check_ml_kem(mechanism)?;
        let computation = plan_decapsulation(private, ml_kem_set(private)?, ciphertext);
        let call = caller.call("C_DecapsulateKey", None);
        let result = self
            .compute(call, Ok(computation), |value| secret.into_object(&value?).map(CallResult::of_object))?;
        self.add_first(caller, result)
    }
}

/// The secret key that both sides make.
struct SharedSecret {
    attributes: AttributeSet,
    key_type: KeyTypeNumber,
    /// The number of bytes, if the template or the key type says it.
    len: Option<usize>,
}

impl SharedSecret {
    /// Completes a template. `of_key` is that of the key, `CKA_ENCAPSULATE_TEMPLATE` or `CKA_DECAPSULATE_TEMPLATE`.
    fn new(
        caller: &Caller<'_>,
        template: &[TemplateEntry<'_>],
        of_key: Option<&[(A, AttributeValue)]>,
    ) -> Result<Self, ReturnCode> {
        let class = ObjectClass::SECRET_KEY;
        let mut template = parse(template, class)?;
        // Applied before the defaults, so that all checks below see the attributes that the key demands.
        apply_template(&mut template, of_key)?;
        expect(&mut template, A::CLASS, class.0)?;
        template.set_default(A::KEY_TYPE, KeyTypeNumber::GENERIC_SECRET.0);
        let key_type = KeyTypeNumber(template.number(A::KEY_TYPE).unwrap_or(u64::MAX));
        check_key_type(class, key_type)?;
        let len = wanted_len(&template, key_type)?.or(fixed_len(key_type));
        // The peer knows the secret too, so the key is never local and has not always been sensitive.
        let kind = CreationKind::Unwrapped;
        let attributes = complete(template, class, Some(key_type), kind, caller.context())?;
        caller.check_write(&attributes)?;
        Ok(Self { attributes, key_type, len })
    }

    /// Checks that ML-KEM makes the secret: it has one length and no parameter.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`], [`ReturnCode::KeySizeRange`].
    fn check_ml_kem(&self, mechanism: &Mechanism<'_>) -> Result<(), ReturnCode> {
        let MechanismParameters::None = mechanism.parameters else {
            return Err(ReturnCode::MechanismParamInvalid);
        };
        // The standard does not say which bytes a shorter key would take.
        let fits = self.len.is_none_or(|len| len == MlKemSet::SECRET_LEN);
        if fits { Ok(()) } else { Err(ReturnCode::KeySizeRange) }
    }

    fn into_object(self, value: &[u8]) -> Result<NewObject, ReturnCode> {
        new_secret_object(self.attributes, self.key_type, value)
    }
}

/// Returns the derivation of an agreement with a peer that the mechanism does not name.
fn agreement<'a>(mechanism: &Mechanism<'a>, peer: &'a [u8]) -> Result<Derivation<'a>, ReturnCode> {
    match mechanism.parameters {
        MechanismParameters::Ecdh { kdf, shared, public: [] } => {
            Ok(Derivation::Ecdh { kdf, shared, public: peer })
        }
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}
