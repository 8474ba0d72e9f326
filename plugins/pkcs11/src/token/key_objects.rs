//! The objects that show a key: its private and its public half, and its certificates.

use oarlock::Key;
use oarlock::keys::{export, import};
use oarlock_cryptoki::{AttributeSet, AttributeType as A, KeyTypeNumber, ObjectClass, public_values};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::read_only::NewShownObject;

/// The operations that a private key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrivateUses {
    pub(super) sign: bool,
    pub(super) decrypt: bool,
    pub(super) derive: bool,
    pub(super) decapsulate: bool,
}

impl PrivateUses {
    /// Every operation.
    pub(super) const ALL: Self = Self { sign: true, decrypt: true, derive: true, decapsulate: true };
}

/// The operations that a secret key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecretUses {
    pub(super) encrypt: bool,
    pub(super) decrypt: bool,
    /// Computing and comparing authentication codes.
    pub(super) authenticate: bool,
    pub(super) wrap: bool,
}

/// A key to show.
#[derive(Debug)]
pub(super) struct ShownKey<'a> {
    /// The label of all objects.
    pub(super) name: &'a str,
    pub(super) key: &'a Key,
    pub(super) uses: PrivateUses,
    /// The certificates in DER, first that of the key.
    pub(super) certificates: &'a [Vec<u8>],
}

/// The length of `CKA_ID`: the start of the fingerprint of the key, as long as the SHA-1 that other modules use.
const ID_LEN: usize = 20;

/// Adds the objects of a key. A key of an unknown kind has none.
pub(super) fn show(shown: &ShownKey<'_>, objects: &mut Vec<NewShownObject>) {
    let Some(public) = public_half(shown.key) else {
        if let Some(value) = shown.key.secret() {
            objects.push(local_secret_object(shown, value.len()));
        }
        return;
    };
    let certificates: Vec<_> = shown.certificates.iter().filter_map(|der| parse_certificate(der)).collect();
    let subject = certificates.first().map(|certificate| certificate.subject.clone());
    if !shown.key.kind().is_public() {
        objects.push(private_object(shown, subject.as_deref()));
    }
    objects.push(public_object(shown, public, subject.as_deref()));
    for (certificate, position) in certificates.into_iter().zip(0_u32..) {
        objects.push(certificate_object(shown, certificate, position));
    }
}

fn private_object(shown: &ShownKey<'_>, subject: Option<&[u8]>) -> NewShownObject {
    let mut object = common(shown, ObjectClass::PRIVATE_KEY);
    let Some(key_type) = set_key_attributes(&mut object.attributes, shown.key, ObjectClass::PRIVATE_KEY)
    else {
        return object;
    };
    let can_sign = matches!(
        key_type,
        KeyTypeNumber::RSA
            | KeyTypeNumber::EC
            | KeyTypeNumber::EC_EDWARDS
            | KeyTypeNumber::ML_DSA
            | KeyTypeNumber::SLH_DSA
    );
    let can_derive = matches!(key_type, KeyTypeNumber::EC | KeyTypeNumber::EC_MONTGOMERY);
    let attributes = &mut object.attributes;
    attributes.set(A::SIGN, can_sign && shown.uses.sign);
    attributes.set(A::DECRYPT, key_type == KeyTypeNumber::RSA && shown.uses.decrypt);
    attributes.set(A::DERIVE, can_derive && shown.uses.derive);
    attributes.set(A::DECAPSULATE, key_type == KeyTypeNumber::ML_KEM && shown.uses.decapsulate);
    attributes.set(A::SUBJECT, subject.unwrap_or_default());
    for kind in [A::SIGN_RECOVER, A::UNWRAP, A::EXTRACTABLE, A::WRAP_WITH_TRUSTED, A::ALWAYS_AUTHENTICATE] {
        attributes.set(kind, false);
    }
    for kind in [A::SENSITIVE, A::ALWAYS_SENSITIVE, A::NEVER_EXTRACTABLE] {
        attributes.set(kind, true);
    }
    object.key = Some(shown.key.clone());
    object
}

fn public_object(shown: &ShownKey<'_>, public: Key, subject: Option<&[u8]>) -> NewShownObject {
    let mut object = common(shown, ObjectClass::PUBLIC_KEY);
    let attributes = &mut object.attributes;
    let Some(key_type) = set_key_attributes(attributes, &public, ObjectClass::PUBLIC_KEY) else {
        return object;
    };
    let can_verify = !matches!(key_type, KeyTypeNumber::EC_MONTGOMERY | KeyTypeNumber::ML_KEM);
    attributes.set(A::VERIFY, can_verify);
    attributes.set(A::ENCAPSULATE, key_type == KeyTypeNumber::ML_KEM);
    attributes.set(A::ENCRYPT, key_type == KeyTypeNumber::RSA);
    attributes.set(A::SUBJECT, subject.unwrap_or_default());
    for kind in [A::VERIFY_RECOVER, A::WRAP, A::TRUSTED, A::DERIVE] {
        attributes.set(kind, false);
    }
    object.key = Some(public);
    object
}

fn local_secret_object(shown: &ShownKey<'_>, len: usize) -> NewShownObject {
    let key_type = if len == 16 || len == 32 { KeyTypeNumber::AES } else { KeyTypeNumber::GENERIC_SECRET };
    let uses = SecretUses { encrypt: true, decrypt: true, authenticate: true, wrap: false };
    secret_object(shown, key_type, Some(len as u64), uses)
}

/// Returns the object of a secret key. The length of a key that a server holds may be unknown.
pub(super) fn secret_object(
    shown: &ShownKey<'_>,
    key_type: KeyTypeNumber,
    len: Option<u64>,
    uses: SecretUses,
) -> NewShownObject {
    let mut object = common(shown, ObjectClass::SECRET_KEY);
    let attributes = &mut object.attributes;
    attributes.set(A::KEY_TYPE, key_type.0);
    if let Some(len) = len {
        attributes.set(A::VALUE_LEN, len);
    }
    for (kind, is_allowed) in [
        (A::ENCRYPT, uses.encrypt),
        (A::DECRYPT, uses.decrypt),
        (A::SIGN, uses.authenticate),
        (A::VERIFY, uses.authenticate),
        (A::WRAP, uses.wrap),
    ] {
        attributes.set(kind, is_allowed);
    }
    // What is derived from a secret key shows it.
    for kind in [A::DERIVE, A::UNWRAP, A::EXTRACTABLE, A::WRAP_WITH_TRUSTED, A::TRUSTED, A::LOCAL] {
        attributes.set(kind, false);
    }
    for kind in [A::SENSITIVE, A::ALWAYS_SENSITIVE, A::NEVER_EXTRACTABLE] {
        attributes.set(kind, true);
    }
    object.key = Some(shown.key.clone());
    object
}

fn certificate_object(shown: &ShownKey<'_>, certificate: ShownCertificate, position: u32) -> NewShownObject {
    let mut object = common(shown, ObjectClass::CERTIFICATE);
    object.identity.extend(position.to_be_bytes());
    object.identity.extend(&certificate.der);
    let attributes = &mut object.attributes;
    // CKC_X_509.
    attributes.set(A::CERTIFICATE_TYPE, 0_u64);
    attributes.set(A::CERTIFICATE_CATEGORY, if position == 0 { 0_u64 } else { 2 });
    attributes.set(A::TRUSTED, false);
    attributes.set(A::VALUE, certificate.der);
    attributes.set(A::SUBJECT, certificate.subject);
    attributes.set(A::ISSUER, certificate.issuer);
    attributes.set(A::SERIAL_NUMBER, certificate.serial_number);
    if position > 0 {
        // An issuer has another key, and a program that looks for the key's certificate must not find it.
        attributes.set(A::ID, Vec::new());
        attributes.set(A::LABEL, format!("{} issuer {position}", shown.name).as_str());
    }
    object
}

/// Returns the attributes that every object of a key has.
fn common(shown: &ShownKey<'_>, class: ObjectClass) -> NewShownObject {
    let fingerprint = shown.key.fingerprint();
    let mut attributes = AttributeSet::new();
    attributes.set(A::CLASS, class.0);
    attributes.set(A::TOKEN, true);
    for kind in [A::PRIVATE, A::MODIFIABLE, A::DESTROYABLE, A::COPYABLE] {
        attributes.set(kind, false);
    }
    attributes.set(A::LABEL, shown.name);
    attributes.set(A::ID, fingerprint.as_bytes().get(..ID_LEN).unwrap_or_default());
    let identity =
        [&class.0.to_be_bytes()[..], shown.name.as_bytes(), b"\0", fingerprint.as_bytes()].concat();
    let unique: String = fingerprint.as_bytes().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    attributes.set(A::UNIQUE_ID, format!("{unique}-{}-{}", class.0, shown.name).as_str());
    NewShownObject { identity, attributes, key: None }
}

/// Sets the attributes that follow from a half of a key, and returns its type.
fn set_key_attributes(attributes: &mut AttributeSet, key: &Key, class: ObjectClass) -> Option<KeyTypeNumber> {
    for (kind, value) in public_values(key, class).iter() {
        attributes.set(kind, value.clone());
    }
    let key_type = attributes.number(A::KEY_TYPE)?;
    attributes.set(A::LOCAL, false);
    // CK_UNAVAILABLE_INFORMATION: the key was not generated here.
    attributes.set(A::KEY_GEN_MECHANISM, u64::MAX);
    attributes.set(A::START_DATE, Vec::new());
    attributes.set(A::END_DATE, Vec::new());
    if let Ok(info) = export::spki_der(key) {
        attributes.set(A::PUBLIC_KEY_INFO, info);
    }
    Some(KeyTypeNumber(key_type))
}

/// Returns the public half of a key as a key of its own.
fn public_half(key: &Key) -> Option<Key> {
    import::spki_der(&export::spki_der(key).ok()?).ok()
}

/// The attributes of a certificate, in DER.
struct ShownCertificate {
    der: Vec<u8>,
    subject: Vec<u8>,
    issuer: Vec<u8>,
    serial_number: Vec<u8>,
}

fn parse_certificate(der: &[u8]) -> Option<ShownCertificate> {
    let (rest, certificate) = X509Certificate::from_der(der).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let serial = certificate.raw_serial();
    let len = u8::try_from(serial.len()).ok().filter(|len| *len < 0x80)?;
    Some(ShownCertificate {
        der: der.to_vec(),
        subject: certificate.subject().as_raw().to_vec(),
        issuer: certificate.issuer().as_raw().to_vec(),
        // The attribute is the whole INTEGER, with its tag and its length.
        serial_number: [&[2, len], serial].concat(),
    })
}

#[cfg(test)]
mod tests {
    use oarlock::keys::generate;
    use oarlock::{Curve, MlDsaSet, MlKemSet};

    use super::*;

    fn objects(key: &Key, certificates: &[Vec<u8>]) -> Vec<NewShownObject> {
        let mut objects = Vec::new();
        show(&ShownKey { name: "mail", key, uses: PrivateUses::ALL, certificates }, &mut objects);
        objects
    }

    fn class(object: &NewShownObject) -> ObjectClass {
        ObjectClass(object.attributes.number(A::CLASS).unwrap())
    }

    #[test]
    fn a_private_key_shows_both_halves_under_one_id() {
        let shown = objects(&generate::ec(Curve::P256).unwrap(), &[]);
        let classes: Vec<_> = shown.iter().map(class).collect();
        assert_eq!(classes, [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY]);
        let [private, public] = &shown[..] else { panic!() };
        assert_eq!(private.attributes.bytes(A::ID), public.attributes.bytes(A::ID));
        assert_eq!(private.attributes.bytes(A::ID).unwrap().len(), ID_LEN);
        assert!(private.attributes.is_true(A::SIGN) && private.attributes.is_true(A::DERIVE));
        assert!(!private.attributes.is_true(A::DECRYPT) && !private.attributes.is_true(A::EXTRACTABLE));
        assert!(private.attributes.is_true(A::SENSITIVE) && !private.attributes.contains(A::VALUE));
        assert_eq!(public.attributes.bytes(A::EC_POINT).unwrap()[..3], [4, 65, 4]);
    }

    #[test]
    fn keys_of_ml_kem_and_ml_dsa_show_their_parameter_set_and_no_seed() {
        let kem = objects(&generate::ml_kem(MlKemSet::MlKem768).unwrap(), &[]);
        let [private, public] = &kem[..] else { panic!() };
        assert!(private.attributes.is_true(A::DECAPSULATE) && !private.attributes.is_true(A::SIGN));
        assert!(!private.attributes.contains(A::VALUE) && !private.attributes.contains(A::SEED));
        assert!(public.attributes.is_true(A::ENCAPSULATE) && !public.attributes.is_true(A::VERIFY));
        assert_eq!(public.attributes.bytes(A::VALUE).unwrap().len(), 1184);
        let dsa = objects(&generate::ml_dsa(MlDsaSet::MlDsa87).unwrap(), &[]);
        let [signing, verifying] = &dsa[..] else { panic!() };
        assert!(signing.attributes.is_true(A::SIGN) && !signing.attributes.is_true(A::DECAPSULATE));
        assert!(verifying.attributes.is_true(A::VERIFY) && !verifying.attributes.is_true(A::ENCAPSULATE));
        for (object, set, key_type) in [
            (private, 2, KeyTypeNumber::ML_KEM),
            (public, 2, KeyTypeNumber::ML_KEM),
            (signing, 3, KeyTypeNumber::ML_DSA),
            (verifying, 3, KeyTypeNumber::ML_DSA),
        ] {
            assert_eq!(object.attributes.number(A::PARAMETER_SET), Some(set));
            assert_eq!(object.attributes.number(A::KEY_TYPE), Some(key_type.0));
        }
    }

    #[test]
    fn a_public_key_shows_itself_only() {
        let key = generate::ed25519().unwrap();
        let public = public_half(&key).unwrap();
        let shown = objects(&public, &[]);
        assert_eq!(shown.iter().map(class).collect::<Vec<_>>(), [ObjectClass::PUBLIC_KEY]);
        assert!(shown[0].attributes.is_true(A::VERIFY));
    }

    #[test]
    fn grants_decide_what_a_private_key_may_do() {
        let key = generate::ed25519().unwrap();
        let uses = PrivateUses { sign: false, ..PrivateUses::ALL };
        let mut shown = Vec::new();
        show(&ShownKey { name: "k", key: &key, uses, certificates: &[] }, &mut shown);
        assert!(!shown[0].attributes.is_true(A::SIGN));
    }

    #[test]
    fn certificates_follow_with_their_names() {
        let pair = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(["mail.test".to_owned()]).unwrap();
        let certificate = certificate.self_signed(&pair).unwrap();
        let key = import::any(pair.serialize_pem().as_bytes(), None).unwrap();
        let der = certificate.der().to_vec();
        let shown = objects(&key, &[der.clone(), der, b"not a certificate".to_vec()]);
        let classes: Vec<_> = shown.iter().map(class).collect();
        let certificate = ObjectClass::CERTIFICATE;
        assert_eq!(classes, [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY, certificate, certificate]);
        let [private, _, leaf, issuer] = &shown[..] else { panic!() };
        assert_eq!(leaf.attributes.bytes(A::ID), private.attributes.bytes(A::ID));
        assert_eq!(leaf.attributes.bytes(A::SUBJECT), private.attributes.bytes(A::SUBJECT));
        assert!(!leaf.attributes.bytes(A::SUBJECT).unwrap().is_empty());
        assert_eq!(leaf.attributes.bytes(A::SERIAL_NUMBER).unwrap()[0], 2);
        assert_eq!(issuer.attributes.bytes(A::ID), Some(&[][..]));
    }
}
