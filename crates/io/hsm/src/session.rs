//! A session of a token: repaired after it is lost, with the keys that were found in it.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest;
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::session::Session;
use oarlock::engine_api::{OperationSet, OwnedJob, SecondInput};
use oarlock::keys::import;
use oarlock::{Accelerator, Job, JobError, Key, KeyHome, SigningScheme};
use zeroize::Zeroizing;

use crate::fault::CallFault;
use crate::object::{
    KeyPurpose, PrivateObject, SecretObject, SecretPurpose, find_private, find_public_half, find_secret,
};
use crate::settings::HsmSettings;
use crate::token::{LoginRecord, TokenConnection};
use crate::{HsmError, Pkcs11Uri};

/// The settings of a device, its login and its checker, which all its sessions share.
#[derive(Debug)]
pub(crate) struct DeviceContext {
    /// The name of the holder.
    pub(crate) name: String,
    pub(crate) settings: HsmSettings,
    pub(crate) logins: LoginRecord,
    /// Verifies signatures on this machine.
    pub(crate) checker: Accelerator,
}

/// A session that is logged in.
#[derive(Debug)]
pub(crate) struct HsmSession {
    pub(crate) context: Arc<DeviceContext>,
    pub(crate) token: Arc<TokenConnection>,
    /// The session, or `None` after another one could not be opened.
    session: Option<Session>,
    objects: HashMap<Arc<str>, FoundKey>,
    secrets: HashMap<Arc<str>, SecretObject>,
}

#[derive(Debug)]
struct FoundKey {
    object: PrivateObject,
    /// True if the token has the public half of the job's key, and not only a key of that name.
    has_public_half: bool,
    /// The secret of implicit rejection, once a decryption has needed it.
    rejection_secret: Option<RejectionSecret>,
}

/// The secret from which messages for bad paddings are made.
struct RejectionSecret(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for RejectionSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RejectionSecret")
    }
}

/// The maximum number of keys whose handles a session remembers.
const MAX_OBJECTS: usize = 1024;

impl HsmSession {
    pub(crate) fn open(context: Arc<DeviceContext>, token: Arc<TokenConnection>) -> Result<Self, CallFault> {
        let session = token.open_session(&context.settings, &context.logins)?;
        let (objects, secrets) = (HashMap::new(), HashMap::new());
        Ok(Self { context, token, session: Some(session), objects, secrets })
    }

    /// Repairs the session after a fault that it can repair. Returns every other fault.
    pub(crate) fn repair(&mut self, fault: CallFault) -> Result<(), CallFault> {
        match fault {
            CallFault::LoginLost => {
                // Without the login private objects are gone, and with the next one they may have other handles.
                self.forget_objects();
                self.token.log_in(self.raw()?, &self.context.settings, &self.context.logins)
            }
            CallFault::SessionLost => {
                self.forget_objects();
                // Closed first: the token may have no other session.
                self.session = None;
                let session = self.token.open_session(&self.context.settings, &self.context.logins)?;
                self.session = Some(session);
                Ok(())
            }
            CallFault::ObjectLost => {
                self.forget_objects();
                Ok(())
            }
            fault => Err(fault),
        }
    }

    fn forget_objects(&mut self) {
        self.objects.clear();
        self.secrets.clear();
    }

    /// Checks that the session is alive and logged in as far as the token wants it.
    pub(crate) fn check(&mut self) -> Result<(), CallFault> {
        self.token.ensure_login(self.raw()?, &self.context.settings, &self.context.logins)
    }

    /// Returns the public half of a key, a SubjectPublicKeyInfo in DER.
    pub(crate) fn public_half(&mut self, uri: &Pkcs11Uri) -> Result<Vec<u8>, CallFault> {
        find_public_half(self.raw()?, &self.token, uri)
    }

    /// Returns the private key of a job, if the token allows it to do what the job needs.
    pub(crate) fn object(&mut self, key: &Key, purpose: KeyPurpose) -> Result<PrivateObject, CallFault> {
        let found = self.found_key(key)?;
        found.object.check_purpose(purpose)?;
        // The results of other purposes are checked with the public half of the job's key.
        if !found.has_public_half && matches!(purpose, KeyPurpose::Derive | KeyPurpose::Decapsulate) {
            return Err(HsmError::NoPublicHalf { key: found.object.name.clone() }.into());
        }
        Ok(found.object.clone())
    }

    /// Returns the secret key of a name, if the token allows it to do what a record needs.
    pub(crate) fn secret(
        &mut self,
        reference: &Arc<str>,
        purpose: SecretPurpose,
    ) -> Result<SecretObject, CallFault> {
        if !self.secrets.contains_key(reference) {
            let uri = reference.parse().map_err(|_| HsmError::KeyName { found: reference.to_string() })?;
            let object = self.find_secret(&uri)?;
            if self.secrets.len() >= MAX_OBJECTS {
                self.secrets.clear();
            }
            self.secrets.insert(Arc::clone(reference), object);
        }
        // unreachable because the key was inserted above
        let object = self.secrets.get(reference).ok_or(CallFault::ObjectLost)?;
        object.check_purpose(purpose)?;
        Ok(object.clone())
    }

    /// Finds a secret key.
    pub(crate) fn find_secret(&self, uri: &Pkcs11Uri) -> Result<SecretObject, CallFault> {
        find_secret(self.raw()?, &self.token, uri)
    }

    fn found_key(&mut self, key: &Key) -> Result<&mut FoundKey, CallFault> {
        let KeyHome::Held { reference, .. } = key.home() else {
            return Err(JobError::Malformed { what: "a key of this job is local" }.into());
        };
        if !self.objects.contains_key(reference) {
            let uri: Pkcs11Uri =
                reference.parse().map_err(|_| HsmError::KeyName { found: reference.to_string() })?;
            let object = find_private(self.raw()?, &self.token, &uri)?;
            // Another device may have another key of this name, and the result of an agreement would not tell.
            let has_public_half = self.has_public_half(key, &uri)?;
            if self.objects.len() >= MAX_OBJECTS {
                self.objects.clear();
            }
            self.objects
                .insert(Arc::clone(reference), FoundKey { object, has_public_half, rejection_secret: None });
        }
        // unreachable because the key was inserted above
        self.objects.get_mut(reference).ok_or(CallFault::ObjectLost)
    }

    /// Returns true if the token has the public half of a key, and false if it has none. Another one is an error.
    fn has_public_half(&self, key: &Key, uri: &Pkcs11Uri) -> Result<bool, CallFault> {
        let spki = match find_public_half(self.raw()?, &self.token, uri) {
            Err(CallFault::Final(HsmError::NoPublicHalf { .. })) => return Ok(false),
            found => found?,
        };
        match import::spki_der(&spki) {
            Ok(found) if found.fingerprint() == key.fingerprint() => Ok(true),
            _ => {
                let token = self.token.name.clone();
                Err(HsmError::OtherKey { key: uri.to_string(), token }.into())
            }
        }
    }

    /// Fails unless the token offers a mechanism.
    pub(crate) fn expect_mechanism(&self, wanted: MechanismType) -> Result<(), CallFault> {
        if self.offers(wanted) { Ok(()) } else { Err(self.lacks(wanted)) }
    }

    /// Returns the fault of a mechanism that the token does not offer.
    pub(crate) fn lacks(&self, wanted: MechanismType) -> CallFault {
        let token = self.token.name.clone();
        HsmError::Mechanism { token, mechanism: wanted.to_string() }.into()
    }

    pub(crate) fn offers(&self, wanted: MechanismType) -> bool {
        self.token.mechanisms.contains(&wanted)
    }

    /// Returns the session itself.
    pub(crate) fn raw(&self) -> Result<&Session, CallFault> {
        self.session.as_ref().ok_or(CallFault::SessionLost)
    }

    /// Fails with [`CallFault::Wrong`] if a signature does not verify with the public half of its key.
    pub(crate) fn confirm_signature(&self, job: &OwnedJob, signature: &[u8]) -> Result<(), CallFault> {
        let scheme = SigningScheme::try_from(job.scheme).map_err(|_| unsupported(job))?;
        if job.key.parts().is_none() {
            return Err(JobError::Malformed {
                what: "the key has no public half, so its signature cannot be checked",
            }
            .into());
        }
        let asked = job.as_job();
        let check = Job::verify(scheme.verifying(), &job.key, asked.input, signature).context(asked.context);
        match self.context.checker.run_all(&[check]).verified(0)? {
            true => Ok(()),
            false => Err(CallFault::Wrong("its signature does not verify".to_owned())),
        }
    }

    /// Returns `ciphertext^d mod n`, computed by the token and checked with the public exponent.
    pub(crate) fn raw_rsa(&mut self, key: &Key, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, CallFault> {
        let object = self.object(key, KeyPurpose::Decrypt)?;
        let raw = Zeroizing::new(self.raw()?.decrypt(&Mechanism::RsaX509, object.handle, input)?);
        let shape = key
            .rsa_public_shape()
            .ok_or(JobError::KeyType { wanted: "rsa".to_owned(), found: key.kind() })?;
        if raw.len() != input.len() {
            let what = format!("a result of {} bytes for a modulus of {}", raw.len(), input.len());
            return Err(CallFault::Wrong(what));
        }
        let mut check = OperationSet::new(shape);
        let is_right = check.push(key, &raw, SecondInput::None).is_ok()
            && self.context.checker.raw().run(&check).get(0).is_ok_and(|again| again == input);
        if is_right {
            Ok(raw)
        } else {
            Err(CallFault::Wrong("its decryption does not encrypt again".to_owned()))
        }
    }

    /// Returns the secret from which the messages for bad paddings of a key are made.
    ///
    /// It is the hash of a raw operation of the key over a fixed input, so it depends on the key alone, as the hash of
    /// the private exponent does. Nobody else learns this result: answers of decryptions have their padding removed.
    pub(crate) fn rejection_secret(
        &mut self,
        key: &Key,
        modulus_len: usize,
    ) -> Result<Zeroizing<[u8; 32]>, CallFault> {
        if let Some(RejectionSecret(secret)) = &self.found_key(key)?.rejection_secret {
            return Ok(secret.clone());
        }
        // Below every modulus of this length, because its first byte is zero.
        let mut input = vec![0; modulus_len];
        let text = b"oarlock implicit rejection";
        let len = text.len().min(modulus_len.saturating_sub(1));
        input[modulus_len - len..].copy_from_slice(&text[..len]);
        let raw = self.raw_rsa(key, &input)?;
        let mut secret = Zeroizing::new([0; 32]);
        secret.copy_from_slice(digest::digest(&digest::SHA256, &raw).as_ref());
        self.found_key(key)?.rejection_secret = Some(RejectionSecret(secret.clone()));
        Ok(secret)
    }
}

pub(crate) fn unsupported(job: &OwnedJob) -> CallFault {
    JobError::Unsupported { wanted: format!("{} with a key in a device", job.scheme) }.into()
}
