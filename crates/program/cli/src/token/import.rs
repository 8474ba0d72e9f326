//! `oarlock token import`.

use std::io::{self, Write};
use std::sync::Arc;

use oarlock::keys::export;
use oarlock::{Accelerator, Key};
use oarlock_cryptoki::{
    AttributeType as A, Cryptoki, ObjectHandle, ReturnCode, SessionHandle, SlotId, SlotSettings,
    TemplateEntry, UserType, session_flags,
};
use oarlock_key_files::TokenFile;
use oarlock_key_files::objects::{ObjectStore, PinRole};
use oarlock_terminal::GlobalOptions;

use super::TokenError;
use super::args::ImportTokenArgs;
use super::certificates::{self, TokenCertificate};
use super::pin_source::PinQuestion;
use super::template::{ImportNames, ObjectTemplate};
use crate::keys::{KeysError, key_file, summary};

const SLOT: SlotId = SlotId(0);

pub(super) fn run(global: &GlobalOptions, args: &ImportTokenArgs) -> Result<(), TokenError> {
    let store = ObjectStore::open(&args.path)?;
    let passphrase = args.in_passphrase.read()?;
    let key = key_file::read_to_sign(&args.key, passphrase.as_ref()).map_err(KeysError::of_input)?;
    let certificates = match &args.certificate {
        Some(path) => certificates::read(path)?,
        None => Vec::new(),
    };
    if let (Some(first), Some(path)) = (certificates.first(), &args.certificate) {
        let public =
            export::spki_der(&key).map_err(|error| TokenError::Key { path: args.key.clone(), error })?;
        if first.public_key != public {
            return Err(TokenError::OtherKey { certificate: path.clone(), key: args.key.clone() });
        }
    }
    // Made before the PIN is asked for: a key that does not fit is refused without a question.
    let templates = templates(&key, &certificates, args)?;
    let pin = PinQuestion::USER.read(args.pin_file.as_deref())?;
    // The store's own error says how many tries are left.
    store.login(PinRole::User, &pin)?;
    TokenSession::open(store, &pin, args)?.create(&templates)?;
    summary::warn(&args.label, &key);
    print(global, args, &key, certificates.len())
}

/// Returns the templates of all objects: the private key, its public half, and the certificates.
fn templates(
    key: &Key,
    certificates: &[TokenCertificate],
    args: &ImportTokenArgs,
) -> Result<Vec<ObjectTemplate>, TokenError> {
    let subject = certificates.first().map_or(&[][..], |certificate| &certificate.subject);
    let names = ImportNames { label: &args.label, id: &args.id.0, subject };
    let halves = [ObjectTemplate::private_key(key, names), ObjectTemplate::public_key(key, names)];
    let [Some(private), Some(public)] = halves else {
        return Err(TokenError::NotPrivate(args.key.clone()));
    };
    let mut templates = vec![private, public];
    for (position, certificate) in certificates.iter().enumerate() {
        // Programs find a certificate by the id of its key. An issuer is not that of the key.
        let label =
            if position == 0 { args.label.clone() } else { format!("{} issuer {position}", args.label) };
        let id = if position == 0 { &args.id.0[..] } else { &[] };
        templates.push(ObjectTemplate::certificate(certificate, ImportNames { label: &label, id, subject }));
    }
    Ok(templates)
}

/// A session of the PKCS#11 library with the token file, so that objects are made by its rules.
struct TokenSession<'a> {
    cryptoki: Cryptoki,
    session: SessionHandle,
    args: &'a ImportTokenArgs,
}

impl<'a> TokenSession<'a> {
    fn open(store: ObjectStore, pin: &[u8], args: &'a ImportTokenArgs) -> Result<Self, TokenError> {
        let slot = SlotSettings::new(SLOT, "token file", Arc::new(TokenFile::from_store(store)));
        // No engine computes anything here: keys are only checked.
        let cryptoki = Cryptoki::new(Accelerator::builder().lazy().build()?, vec![slot]);
        let failed = |code| TokenError::Library { path: args.path.clone(), action: "open the token", code };
        let flags = session_flags::SERIAL_SESSION | session_flags::RW_SESSION;
        let session = cryptoki.open_session(SLOT, flags).map_err(failed)?;
        // The library has to log in by itself. The login before this one only gave the better error.
        cryptoki.login(session, UserType::User, Some(pin)).map_err(failed)?;
        Ok(Self { cryptoki, session, args })
    }

    /// Creates all objects. After an error, those that were created are removed again.
    fn create(&self, templates: &[ObjectTemplate]) -> Result<(), TokenError> {
        self.check_id()?;
        let mut created: Vec<ObjectHandle> = Vec::new();
        for template in templates {
            match self.cryptoki.create_object(self.session, &template.entries()) {
                Ok(handle) => created.push(handle),
                Err(code) => {
                    for handle in created {
                        // An error here would hide the first one, which is the reason.
                        let _ = self.cryptoki.destroy_object(self.session, handle);
                    }
                    return Err(self.failure("create the objects", code));
                }
            }
        }
        Ok(())
    }

    /// Checks that no object has the id. Programs could not distinguish two keys of one id.
    fn check_id(&self) -> Result<(), TokenError> {
        let id = &self.args.id.0;
        let find = || {
            self.cryptoki.find_objects_init(self.session, &[TemplateEntry::new(A::ID, id)])?;
            // One object is enough to know that the id is taken.
            let count = self.cryptoki.find_objects(self.session, &mut [ObjectHandle(0)])?;
            self.cryptoki.find_objects_final(self.session)?;
            Ok(count == 0)
        };
        if find().map_err(|code| self.failure("search the objects", code))? {
            return Ok(());
        }
        let id = id.iter().map(|byte| format!("{byte:02x}")).collect();
        Err(TokenError::IdTaken { path: self.args.path.clone(), id })
    }

    fn failure(&self, action: &'static str, code: ReturnCode) -> TokenError {
        TokenError::Library { path: self.args.path.clone(), action, code }
    }
}

fn print(
    global: &GlobalOptions,
    args: &ImportTokenArgs,
    key: &Key,
    certificates: usize,
) -> Result<(), TokenError> {
    let id: String = args.id.0.iter().map(|byte| format!("{byte:02x}")).collect();
    let kind = summary::kind(key.kind());
    let mut out = io::stdout().lock();
    if global.json {
        let path = args.path.display().to_string();
        let value = serde_json::json!({
            "path": path, "label": args.label, "id": id, "kind": kind, "certificates": certificates
        });
        writeln!(out, "{value}")?;
    } else {
        let certificates = oarlock_terminal::table::count(certificates as u64, "certificate");
        writeln!(out, "{}: {kind} key {} with id {id}, {certificates}", args.path.display(), args.label)?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use oarlock::keys::generate;
    use oarlock::{Curve, MlDsaSet, MlKemSet};
    use oarlock_cryptoki::{AttributeQuery, CallOutput, Mechanism, MechanismType, ObjectClass};
    use oarlock_key_files::objects::PinRules;

    use super::super::args::ObjectIdBytes;
    use super::*;
    use crate::keys::InputPassphrase;

    const USER_PIN: &[u8] = b"user-pin";

    /// Returns the arguments of an import into a new token.
    fn arguments(folder: &tempfile::TempDir) -> ImportTokenArgs {
        let path = folder.path().join("token");
        let store = ObjectStore::create(&path, "test", b"so-pin", PinRules::default()).unwrap();
        store.init_pin(&store.login(PinRole::SecurityOfficer, b"so-pin").unwrap(), USER_PIN).unwrap();
        ImportTokenArgs {
            path,
            key: "key.pem".into(),
            certificate: None,
            label: "a key".to_owned(),
            id: ObjectIdBytes(vec![1, 2]),
            in_passphrase: InputPassphrase::default(),
            pin_file: None,
        }
    }

    fn find(session: &TokenSession<'_>, class: ObjectClass) -> ObjectHandle {
        let number = (class.0 as usize).to_ne_bytes();
        let template = [TemplateEntry::new(A::CLASS, &number), TemplateEntry::new(A::ID, &[1, 2])];
        session.cryptoki.find_objects_init(session.session, &template).unwrap();
        let mut handles = [ObjectHandle(0); 2];
        assert_eq!(session.cryptoki.find_objects(session.session, &mut handles).unwrap(), 1);
        session.cryptoki.find_objects_final(session.session).unwrap();
        handles[0]
    }

    #[test]
    fn an_imported_key_signs_and_its_public_half_verifies() {
        let keys = [
            (generate::rsa(2048).unwrap(), MechanismType::SHA256_RSA_PKCS),
            (generate::ec(Curve::P256).unwrap(), MechanismType::ECDSA_SHA256),
            (generate::ec(Curve::P384).unwrap(), MechanismType::ECDSA_SHA256),
            (generate::ed25519().unwrap(), MechanismType::EDDSA),
            (generate::ml_dsa(MlDsaSet::MlDsa44).unwrap(), MechanismType::ML_DSA),
        ];
        for (key, mechanism) in keys {
            let folder = tempfile::tempdir().unwrap();
            let args = arguments(&folder);
            let session =
                TokenSession::open(ObjectStore::open(&args.path).unwrap(), USER_PIN, &args).unwrap();
            session.create(&templates(&key, &[], &args).unwrap()).unwrap();
            drop(session);
            // Another process reads the token.
            let session =
                TokenSession::open(ObjectStore::open(&args.path).unwrap(), USER_PIN, &args).unwrap();
            let halves =
                [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY].map(|class| find(&session, class));
            let (cryptoki, session) = (&session.cryptoki, session.session);
            let mechanism = Mechanism::plain(mechanism);
            cryptoki.sign_init(session, &mechanism, halves[0]).unwrap();
            let mut signature = [0; 2420];
            let mut output = CallOutput::new(&mut signature);
            cryptoki.sign(session, b"a message", &mut output).unwrap();
            let len = output.len();
            cryptoki.verify_init(session, &mechanism, halves[1]).unwrap();
            cryptoki.verify(session, b"a message", &signature[..len]).unwrap();
            cryptoki.verify_init(session, &mechanism, halves[1]).unwrap();
            let other = cryptoki.verify(session, b"a massage", &signature[..len]);
            assert_eq!(other, Err(ReturnCode::SignatureInvalid));
        }
    }

    #[test]
    fn an_imported_key_opens_what_its_public_half_encapsulates() {
        let folder = tempfile::tempdir().unwrap();
        let args = arguments(&folder);
        let session = TokenSession::open(ObjectStore::open(&args.path).unwrap(), USER_PIN, &args).unwrap();
        let key = generate::ml_kem(MlKemSet::MlKem768).unwrap();
        session.create(&templates(&key, &[], &args).unwrap()).unwrap();
        let [private, public] =
            [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY].map(|class| find(&session, class));
        let (cryptoki, session) = (&session.cryptoki, session.session);
        let (mechanism, mut ciphertext) = (Mechanism::plain(MechanismType::ML_KEM), [0; 1088]);
        let readable = [TemplateEntry::new(A::SENSITIVE, &[0]), TemplateEntry::new(A::EXTRACTABLE, &[1])];
        let mut output = CallOutput::new(&mut ciphertext);
        let sent = cryptoki.encapsulate_key(session, &mechanism, public, &readable, &mut output).unwrap();
        let received =
            cryptoki.decapsulate_key(session, &mechanism, private, &readable, &ciphertext).unwrap();
        let secrets = [sent.unwrap(), received].map(|secret| {
            let mut value = [0; 32];
            let mut queries = [AttributeQuery::new(A::VALUE, &mut value)];
            cryptoki.get_attribute_value(session, secret, &mut queries).unwrap();
            value
        });
        assert_eq!(secrets[0], secrets[1]);
        assert_ne!(secrets[0], [0; 32]);
    }

    #[test]
    fn nothing_is_left_of_an_import_that_fails() {
        let folder = tempfile::tempdir().unwrap();
        let args = arguments(&folder);
        let session = TokenSession::open(ObjectStore::open(&args.path).unwrap(), USER_PIN, &args).unwrap();
        let mut templates = templates(&generate::ed25519().unwrap(), &[], &args).unwrap();
        templates.push(ObjectTemplate::incomplete());
        let error = session.create(&templates).unwrap_err();
        assert!(matches!(error, TokenError::Library { action: "create the objects", .. }), "{error}");
        let store = ObjectStore::open(&args.path).unwrap();
        assert!(store.list(Some(&store.login(PinRole::User, USER_PIN).unwrap())).unwrap().objects.is_empty());
    }
}
