//! Encapsulation of keys: a new secret for the owner of a public key. PKCS#11 3.2 5.18.

use oarlock::keys::generate;
use oarlock::{Key, KeyKind, SecretBytes};
use zeroize::Zeroizing;

use super::Cryptoki;
use super::access::{Caller, KeyFaults, UsableKey};
use super::asynchronous::CallComputation;
use super::creation::check_key_type;
use super::keys::{expect, fixed_len, new_secret_object, wanted_len};
use crate::attribute::{AttributeSet, TemplateEntry, parse};
use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass, ReturnCode, mechanism_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::{Mechanism, MechanismFamily, MechanismParameters};
use crate::object::{CreationKind, complete, public_point};
use crate::operation::{CipherDirection, CipherOperation, ComputeRoute, Derivation};
use crate::output::CallOutput;
use crate::session::CallResult;

impl Cryptoki {
    /// `C_EncapsulateKey`. Makes a secret key, and returns it with a ciphertext from which the owner of the private key
    /// makes the same one. `None` if the caller asked for the length of the ciphertext.
    ///
    /// With RSA-OAEP the ciphertext is the encrypted secret; with ECDH it is the public key of a new key pair, and the
    /// mechanism names no public key.
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
        let secret = SharedSecret::new(&caller, template)?;
        let method = KeyEncapsulation::new(&usable, mechanism, secret.len)?;
        if !output.has_space(method.ciphertext_len()?)? {
            return Ok(None);
        }
        let encapsulation = Encapsulation { method, secret };
        let result = self.compute(&caller, "C_EncapsulateKey", output.space(), encapsulation)?;
        output.write(&result.bytes)?;
        self.add_first(&caller, result).map(Some)
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
        if usable.needs_login() {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        let secret = SharedSecret::new(&caller, template)?;
        let method = match usable.facts.family {
            MechanismFamily::RsaOaep => KeyDecapsulation::Rsa {
                operation: CipherOperation::new(
                    usable.key,
                    usable.facts,
                    mechanism,
                    CipherDirection::Decrypt,
                )?,
                ciphertext: ciphertext.to_vec(),
            },
            _ => {
                let derivation = agreement(mechanism, ciphertext)?;
                KeyDecapsulation::Ecdh { derivation, own: usable.key }
            }
        };
        let result = self.compute(&caller, "C_DecapsulateKey", 0, Decapsulation { method, secret })?;
        self.add_first(&caller, result)
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
    fn new(caller: &Caller<'_>, template: &[TemplateEntry<'_>]) -> Result<Self, ReturnCode> {
        let class = ObjectClass::SECRET_KEY;
        let mut template = parse(template, class)?;
        expect(&mut template, A::CLASS, class.0)?;
        template.set_default(A::KEY_TYPE, KeyTypeNumber::GENERIC_SECRET.0);
        let key_type = KeyTypeNumber(template.number(A::KEY_TYPE).unwrap_or(u64::MAX));
        check_key_type(class, key_type)?;
        let len = wanted_len(&template, key_type)?.or(fixed_len(key_type));
        let kind = CreationKind::Unwrapped;
        let attributes = complete(template, class, Some(key_type), kind, caller.context())?;
        caller.check_write(&attributes)?;
        Ok(Self { attributes, key_type, len })
    }
}

/// The way to make a secret and its ciphertext.
enum KeyEncapsulation {
    /// A random secret of this length is encrypted.
    Rsa { operation: CipherOperation, len: usize },
    /// A new key pair agrees with the public key.
    Ecdh { derivation: Derivation, public: Key },
}

impl KeyEncapsulation {
    fn new(usable: &UsableKey, mechanism: &Mechanism<'_>, len: Option<usize>) -> Result<Self, ReturnCode> {
        let key = usable.key.clone();
        if usable.facts.family == MechanismFamily::RsaOaep {
            let operation = CipherOperation::new(key, usable.facts, mechanism, CipherDirection::Encrypt)?;
            return Ok(Self::Rsa { operation, len: len.ok_or(ReturnCode::TemplateIncomplete)? });
        }
        let derivation = agreement(mechanism, public_point(&key))?;
        Ok(Self::Ecdh { derivation, public: key })
    }

    fn ciphertext_len(&self) -> Result<usize, ReturnCode> {
        match self {
            Self::Rsa { operation, len } => operation.whole_len(*len).map(|(len, _)| len),
            Self::Ecdh { public, .. } => Ok(public_point(public).len()),
        }
    }
}

/// Returns the derivation of an agreement with a peer that the mechanism does not name.
fn agreement(mechanism: &Mechanism<'_>, peer: &[u8]) -> Result<Derivation, ReturnCode> {
    match mechanism.parameters {
        MechanismParameters::Ecdh { kdf, shared, public: [] } => {
            Ok(Derivation::Ecdh { kdf, shared: shared.to_vec(), public: peer.to_vec() })
        }
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}

/// The computation of `C_EncapsulateKey`.
struct Encapsulation {
    method: KeyEncapsulation,
    secret: SharedSecret,
}

impl CallComputation for Encapsulation {
    async fn compute(self, route: ComputeRoute<'_>) -> Result<CallResult, ReturnCode> {
        let SharedSecret { attributes, key_type, len } = self.secret;
        let (value, bytes) = match self.method {
            KeyEncapsulation::Rsa { operation, len } => {
                let secret = generate::secret(len).map_err(|_| ReturnCode::RandomNoRng)?;
                let value = secret.secret().map(SecretBytes::expose).ok_or(ReturnCode::GeneralError)?;
                let value = Zeroizing::new(value.to_vec());
                let ciphertext = operation.whole(route, &value).await?;
                (value, ciphertext)
            }
            KeyEncapsulation::Ecdh { derivation, public } => {
                let ephemeral = match public.kind() {
                    KeyKind::EcPublic(curve) => generate::ec(curve),
                    KeyKind::X25519Public => generate::x25519(),
                    _ => return Err(ReturnCode::KeyTypeInconsistent),
                };
                let ephemeral = ephemeral.map_err(|_| ReturnCode::RandomNoRng)?;
                let value = derivation.derive(route, &ephemeral, len).await?;
                (value, Zeroizing::new(public_point(&ephemeral).to_vec()))
            }
        };
        let object = new_secret_object(attributes, key_type, &value)?;
        Ok(CallResult { bytes, ..CallResult::of_object(object) })
    }
}

enum KeyDecapsulation {
    Rsa { operation: CipherOperation, ciphertext: Vec<u8> },
    Ecdh { derivation: Derivation, own: Key },
}

/// The computation of `C_DecapsulateKey`.
struct Decapsulation {
    method: KeyDecapsulation,
    secret: SharedSecret,
}

impl CallComputation for Decapsulation {
    async fn compute(self, route: ComputeRoute<'_>) -> Result<CallResult, ReturnCode> {
        let SharedSecret { attributes, key_type, len } = self.secret;
        let value = match self.method {
            KeyDecapsulation::Rsa { operation, ciphertext } => operation.whole(route, &ciphertext).await,
            KeyDecapsulation::Ecdh { derivation, own } => derivation.derive(route, &own, len).await,
        };
        let value = value.map_err(|code| match code {
            ReturnCode::DeviceError | ReturnCode::TokenResourceExceeded | ReturnCode::KeySizeRange => code,
            _ => ReturnCode::WrappedKeyInvalid,
        })?;
        if len.is_some_and(|len| len != value.len()) {
            return Err(ReturnCode::WrappedKeyInvalid);
        }
        new_secret_object(attributes, key_type, &value).map(CallResult::of_object)
    }
}
