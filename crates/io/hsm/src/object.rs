//! Keys of a token: found by name, with their permissions, and the public halves of private keys.

use cryptoki::mechanism::MechanismType;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use oarlock::Key;
use oarlock::keys::export;
use oarlock_keytable::KeyType as SecretType;

use crate::fault::CallFault;
use crate::public_half::{PublicHalf, certificate_spki};
use crate::token::TokenConnection;
use crate::{HsmError, Pkcs11Uri, UriClass};

/// A private key that was found in a session.
#[derive(Clone, Debug)]
pub(crate) struct PrivateObject {
    /// The handle, which is valid in the session that found it.
    pub(crate) handle: ObjectHandle,
    /// The name of the key, for messages.
    pub(crate) name: String,
    may_sign: bool,
    may_decrypt: bool,
    may_derive: bool,
    may_decapsulate: bool,
}

/// The use of a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPurpose {
    Sign,
    Decrypt,
    Derive,
    Decapsulate,
}

impl PrivateObject {
    /// Checks that the token allows a use of the key.
    pub(crate) fn check_purpose(&self, purpose: KeyPurpose) -> Result<(), HsmError> {
        let (is_allowed, purpose) = match purpose {
            KeyPurpose::Sign => (self.may_sign, "sign"),
            KeyPurpose::Decrypt => (self.may_decrypt, "decrypt"),
            KeyPurpose::Derive => (self.may_derive, "derive secrets"),
            KeyPurpose::Decapsulate => (self.may_decapsulate, "decapsulate"),
        };
        if is_allowed { Ok(()) } else { Err(HsmError::NotAllowed { key: self.name.clone(), purpose }) }
    }
}

/// A secret key that was found in a session.
#[derive(Clone, Debug)]
pub(crate) struct SecretObject {
    /// The handle, which is valid in the session that found it.
    pub(crate) handle: ObjectHandle,
    /// The name of the key, for messages.
    pub(crate) name: String,
    pub(crate) key_type: SecretType,
    may_encrypt: bool,
    may_decrypt: bool,
    may_sign: bool,
    /// The mechanisms that the key is for; empty for all.
    mechanisms: Vec<MechanismType>,
}

/// The use of a secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretPurpose {
    Encrypt,
    Decrypt,
    /// Makes authentication codes.
    Sign,
}

impl SecretObject {
    /// True unless the key is for other mechanisms only.
    pub(crate) fn is_for(&self, mechanism: MechanismType) -> bool {
        self.mechanisms.is_empty() || self.mechanisms.contains(&mechanism)
    }

    /// Checks that the token allows a use of the key.
    pub(crate) fn check_purpose(&self, purpose: SecretPurpose) -> Result<(), HsmError> {
        let (is_allowed, purpose) = match purpose {
            SecretPurpose::Encrypt => (self.may_encrypt, "encrypt"),
            SecretPurpose::Decrypt => (self.may_decrypt, "decrypt"),
            SecretPurpose::Sign => (self.may_sign, "make authentication codes"),
        };
        if is_allowed { Ok(()) } else { Err(HsmError::NotAllowed { key: self.name.clone(), purpose }) }
    }
}

/// Finds the one secret key of a name. Its value is never asked for.
pub(crate) fn find_secret(
    session: &Session,
    token: &TokenConnection,
    uri: &Pkcs11Uri,
) -> Result<SecretObject, CallFault> {
    let handle = find_one(session, token, uri, UriClass::SecretKey)?;
    let wanted = [
        AttributeType::KeyType,
        AttributeType::ValueLen,
        AttributeType::Encrypt,
        AttributeType::Decrypt,
        AttributeType::Sign,
        AttributeType::AllowedMechanisms,
    ];
    let attributes = session.get_attributes(handle, &wanted)?;
    let has = |wanted: &Attribute| attributes.contains(wanted);
    let mechanisms = attributes.iter().find_map(|attribute| match attribute {
        Attribute::AllowedMechanisms(mechanisms) => Some(mechanisms.clone()),
        _ => None,
    });
    let name = uri.to_string();
    let key_type =
        secret_type(&attributes).map_err(|found| HsmError::KeyType { key: name.clone(), found })?;
    Ok(SecretObject {
        handle,
        name,
        key_type,
        mechanisms: mechanisms.unwrap_or_default(),
        may_encrypt: has(&Attribute::Encrypt(true)),
        may_decrypt: has(&Attribute::Decrypt(true)),
        may_sign: has(&Attribute::Sign(true)),
    })
}

/// Returns the type of a secret key, or what was found instead of one that is supported.
fn secret_type(attributes: &[Attribute]) -> Result<SecretType, String> {
    let key_type = attributes.iter().find_map(|attribute| match attribute {
        Attribute::KeyType(key_type) => Some(*key_type),
        _ => None,
    });
    let len = attributes.iter().find_map(|attribute| match attribute {
        Attribute::ValueLen(len) => Some(usize::from(*len)),
        _ => None,
    });
    match (key_type, len) {
        (Some(KeyType::AES), Some(16)) => Ok(SecretType::Aes128),
        (Some(KeyType::AES), Some(32)) => Ok(SecretType::Aes256),
        (Some(KeyType::AES), Some(len)) => Err(format!("AES with {len} bytes, expected 16 or 32")),
        (Some(KeyType::AES), None) => Err("AES without CKA_VALUE_LEN".to_owned()),
        // The crate `cryptoki` has one value for the keys of all HMAC with SHA-2.
        (Some(KeyType::GENERIC_SECRET | KeyType::SHA_1_HMAC | KeyType::SHA256_HMAC), _) => {
            Ok(SecretType::Hmac)
        }
        (Some(other), _) => Err(other.to_string()),
        (None, _) => Err("no CKA_KEY_TYPE".to_owned()),
    }
}

/// Finds the one private key of a name.
pub(crate) fn find_private(
    session: &Session,
    token: &TokenConnection,
    uri: &Pkcs11Uri,
) -> Result<PrivateObject, CallFault> {
    let handle = find_one(session, token, uri, UriClass::Private)?;
    // Modules know different sets of these, and leave the others out of the answer.
    let wanted = [
        AttributeType::Sign,
        AttributeType::Decrypt,
        AttributeType::Derive,
        AttributeType::Decapsulate,
        AttributeType::AlwaysAuthenticate,
    ];
    let attributes = session.get_attributes(handle, &wanted)?;
    let has = |wanted: &Attribute| attributes.contains(wanted);
    let name = uri.to_string();
    if has(&Attribute::AlwaysAuthenticate(true)) {
        return Err(HsmError::AlwaysAuthenticate { key: name }.into());
    }
    Ok(PrivateObject {
        handle,
        name,
        may_sign: has(&Attribute::Sign(true)),
        may_decrypt: has(&Attribute::Decrypt(true)),
        may_derive: has(&Attribute::Derive(true)),
        may_decapsulate: has(&Attribute::Decapsulate(true)),
    })
}

/// Returns the names of the private keys of a token, with `object`, `id` or both.
pub(crate) fn list_private(session: &Session) -> Result<Vec<Pkcs11Uri>, CallFault> {
    let mut uris = Vec::new();
    for handle in session.find_objects(&[Attribute::Class(ObjectClass::PRIVATE_KEY)])? {
        let mut uri = Pkcs11Uri { class: Some(UriClass::Private), ..Pkcs11Uri::default() };
        for attribute in session.get_attributes(handle, &[AttributeType::Label, AttributeType::Id])? {
            match attribute {
                Attribute::Label(label) if !label.is_empty() => {
                    uri.object = Some(String::from_utf8_lossy(&label).into_owned());
                }
                Attribute::Id(id) if !id.is_empty() => uri.id = Some(id),
                _ => {}
            }
        }
        uris.push(uri);
    }
    Ok(uris)
}

/// Returns the public half of a private key as a SubjectPublicKeyInfo: from the public key with the same identifier or
/// label, from the private key itself, or from a certificate.
pub(crate) fn find_public_half(
    session: &Session,
    token: &TokenConnection,
    uri: &Pkcs11Uri,
) -> Result<Vec<u8>, CallFault> {
    let private = find_private(session, token, uri)?;
    let key_type = key_type_of(session, &private)?;
    // The identifier is what links the objects of a key (PKCS#11 4.5). Without one, the label has to do.
    let id = session.get_attributes(private.handle, &[AttributeType::Id, AttributeType::Label])?;
    let template = |class| link_template(&id, uri, class);
    let from_object = |handle| public_key(session, handle, key_type);
    let found = |key: Option<PublicHalf>| -> Result<Option<Vec<u8>>, CallFault> {
        let Some(key) = key else { return Ok(None) };
        let refused = |reason| HsmError::PublicHalf { key: private.name.clone(), reason };
        let key: Key = key.import().map_err(refused)?;
        Ok(Some(export::spki_der(&key).map_err(refused)?))
    };
    for handle in session.find_objects(&template(ObjectClass::PUBLIC_KEY))? {
        if let Some(spki) = found(from_object(handle)?)? {
            return Ok(spki);
        }
    }
    if let Some(spki) = found(from_object(private.handle)?)? {
        return Ok(spki);
    }
    for handle in session.find_objects(&template(ObjectClass::CERTIFICATE))? {
        let value = session.get_attributes(handle, &[AttributeType::Value])?;
        if let [Attribute::Value(der)] = &value[..]
            && let Some(spki) = certificate_spki(der)
        {
            return Ok(spki.to_vec());
        }
    }
    Err(HsmError::NoPublicHalf { key: private.name }.into())
}

fn key_type_of(session: &Session, private: &PrivateObject) -> Result<KeyType, CallFault> {
    match session.get_attributes(private.handle, &[AttributeType::KeyType])?[..] {
        [Attribute::KeyType(key_type)] => Ok(key_type),
        _ => Err(HsmError::KeyType { key: private.name.clone(), found: "no CKA_KEY_TYPE".to_owned() }.into()),
    }
}

/// Reads a public key from the attributes of an object, if they contain one.
fn public_key(
    session: &Session,
    handle: ObjectHandle,
    key_type: KeyType,
) -> Result<Option<PublicHalf>, CallFault> {
    let wanted: &[AttributeType] = match key_type {
        KeyType::RSA => &[AttributeType::Modulus, AttributeType::PublicExponent],
        KeyType::EC | KeyType::EC_EDWARDS | KeyType::EC_MONTGOMERY => {
            &[AttributeType::EcParams, AttributeType::EcPoint]
        }
        KeyType::ML_DSA | KeyType::ML_KEM => &[AttributeType::ParameterSet, AttributeType::Value],
        other => {
            let key = "a private key".to_owned();
            return Err(HsmError::KeyType { key, found: other.to_string() }.into());
        }
    };
    let is_private = !matches!(
        session.get_attributes(handle, &[AttributeType::Class])?[..],
        [Attribute::Class(ObjectClass::PUBLIC_KEY)]
    );
    // CKA_VALUE of a private key is secret: it is never asked for.
    let wanted: Vec<AttributeType> =
        wanted.iter().copied().filter(|kind| !is_private || *kind != AttributeType::Value).collect();
    let attributes = session.get_attributes(handle, &wanted)?;
    Ok(PublicHalf::from_attributes(key_type, &attributes))
}

/// Returns the template that finds the public key or the certificate of a private key.
fn link_template(link: &[Attribute], uri: &Pkcs11Uri, class: ObjectClass) -> Vec<Attribute> {
    let filled = |attribute: &&Attribute| match attribute {
        Attribute::Id(id) => !id.is_empty(),
        Attribute::Label(label) => !label.is_empty(),
        _ => false,
    };
    let mut attributes = link.iter().filter(filled);
    let by_id = attributes.clone().find(|attribute| matches!(attribute, Attribute::Id(_)));
    let chosen = by_id.or_else(|| attributes.next()).cloned();
    let mut template = chosen.map_or_else(|| name_template(uri), |attribute| vec![attribute]);
    template.push(Attribute::Class(class));
    template
}

/// Finds the one object of a class with the name of a URI.
fn find_one(
    session: &Session,
    token: &TokenConnection,
    uri: &Pkcs11Uri,
    class: UriClass,
) -> Result<ObjectHandle, CallFault> {
    if !token.is_named_by(uri) {
        return Err(HsmError::OtherToken { token: token.name.clone(), wanted: uri.to_string() }.into());
    }
    let mut template = name_template(uri);
    if template.is_empty() || uri.class.is_some_and(|wanted| wanted != class) {
        return Err(HsmError::KeyName { found: uri.to_string() }.into());
    }
    template.push(Attribute::Class(match class {
        UriClass::SecretKey => ObjectClass::SECRET_KEY,
        _ => ObjectClass::PRIVATE_KEY,
    }));
    let mut found = session.find_objects(&template)?;
    if found.is_empty() {
        // Without the login private objects are not there. Another session of this process may have lost it, and
        // repeated it since.
        if token.has_lost_login(session)? {
            return Err(CallFault::LoginLost);
        }
        found = session.find_objects(&template)?;
    }
    let (token, wanted) = (token.name.clone(), uri.to_string());
    match found[..] {
        [handle] => Ok(handle),
        [] => Err(HsmError::NoObject { token, wanted }.into()),
        _ => Err(HsmError::SeveralObjects { token, wanted, found: found.len() }.into()),
    }
}

fn name_template(uri: &Pkcs11Uri) -> Vec<Attribute> {
    let label = uri.object.as_ref().map(|label| Attribute::Label(label.as_bytes().to_vec()));
    let id = uri.id.as_ref().map(|id| Attribute::Id(id.clone()));
    label.into_iter().chain(id).collect()
}
