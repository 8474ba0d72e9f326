//! Signatures and message authentication codes in one step or in pieces.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use aws_lc_rs::{digest, hmac};
use oarlock::{
    Curve, DigestAlg, EcdsaEncoding, Input, Job, Key, KeyHome, NonceRule, SaltLength, Scheme, Shape,
    SigningScheme, VerifyingScheme,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::compute::ComputeRoute;
use super::digest::{algorithm, hmac_algorithm};
use super::failure::{FailureRule, to_return_code};
use super::mac::MacRule;
use super::padding::{digest_of, digest_of_mgf, split_digest_info};
use super::record::{RecordInputs, run_record};
use super::rsa::{self, BareRsa};
use crate::constants::ReturnCode;
use crate::mechanism::{DigestRule, Mechanism, MechanismFacts, MechanismFamily, MechanismParameters};

/// A signature or a verification under way.
#[derive(Clone)]
pub(crate) struct SignatureOperation {
    key: Key,
    method: SignatureMethod,
    pieces: MessagePieces,
    /// The signature of `C_VerifySignatureInit`.
    pub(crate) signature: Option<Vec<u8>>,
    /// True until the user gives the PIN for this use of the key.
    pub(crate) needs_login: bool,
}

#[derive(Clone, Copy, Debug)]
enum SignatureMethod {
    Job { sign: Scheme, verify: Scheme, input: SignatureInput, len: usize },
    RawRsa { len: usize },
    Mac(MacRule),
}

/// The form in which a scheme takes its input.
#[derive(Clone, Copy, Debug)]
enum SignatureInput {
    Message(DigestAlg),
    /// A digest of exactly this length.
    Digest(usize),
    /// A digest of any length, brought to the width of the curve.
    CurveDigest(usize),
    /// The message itself, at most this long.
    Whole {
        max: usize,
    },
}

/// The pieces of a message that have come.
#[derive(Clone)]
enum MessagePieces {
    Nothing,
    Bytes(Zeroizing<Vec<u8>>),
    Digest(digest::Context),
    /// Boxed, because it is far larger than all others.
    Hmac(Box<hmac::Context>),
}

/// The message of a last step.
enum WholeMessage<'a> {
    Bytes(MessageBytes<'a>),
    Digest(digest::Context),
    Hmac(Box<hmac::Context>),
}

/// A message in the memory of the caller, or gathered from its pieces.
enum MessageBytes<'a> {
    Lent(&'a [u8]),
    Own(Zeroizing<Vec<u8>>),
}

impl Deref for MessageBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

/// The input of the last step: the whole message, or what the pieces became.
#[derive(Clone, Copy)]
pub(crate) enum SigningStep<'a> {
    /// The message of a call in one step.
    Whole(&'a [u8]),
    /// The end of the pieces.
    Pieces,
}

impl<'a> SigningStep<'a> {
    /// Returns a copy of the message, or `None` for pieces.
    pub(crate) fn message_copy(self) -> Option<Zeroizing<Vec<u8>>> {
        match self {
            Self::Whole(message) => Some(Zeroizing::new(message.to_vec())),
            Self::Pieces => None,
        }
    }

    /// Returns the step of [`message_copy`](Self::message_copy).
    pub(crate) fn from_copy(message: Option<&'a Vec<u8>>) -> Self {
        message.map_or(Self::Pieces, |message| Self::Whole(message))
    }
}

/// The input of a job.
pub(crate) enum JobInput<'a> {
    Message(&'a [u8]),
    Digest(Cow<'a, [u8]>),
}

impl JobInput<'_> {
    fn as_input(&self) -> Input<'_> {
        match self {
            Self::Message(message) => Input::Message(message),
            Self::Digest(digest) => Input::Digest(digest),
        }
    }
}

impl SignatureOperation {
    /// Begins an operation.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismInvalid`] if the mechanism makes no signatures, [`ReturnCode::MechanismParamInvalid`],
    /// [`ReturnCode::KeySizeRange`].
    pub(crate) fn new(
        key: Key,
        facts: &MechanismFacts,
        mechanism: &Mechanism<'_>,
    ) -> Result<Self, ReturnCode> {
        let method = SignatureMethod::new(&key, facts.family, &mechanism.parameters)?;
        Ok(Self { key, method, pieces: MessagePieces::Nothing, signature: None, needs_login: false })
    }

    /// True after the first piece.
    pub(crate) fn is_in_pieces(&self) -> bool {
        !matches!(self.pieces, MessagePieces::Nothing)
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// Returns the rule of a MAC.
    pub(crate) fn mac(&self) -> Option<MacRule> {
        if let SignatureMethod::Mac(rule) = self.method { Some(rule) } else { None }
    }

    /// Returns the length of a signature.
    pub(crate) fn len(&self) -> usize {
        match self.method {
            SignatureMethod::Job { len, .. } | SignatureMethod::RawRsa { len } => len,
            SignatureMethod::Mac(rule) => rule.len,
        }
    }

    /// Takes the next piece of the message.
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<(), ReturnCode> {
        if let MessagePieces::Nothing = self.pieces {
            self.pieces = self.first_pieces()?;
        }
        match &mut self.pieces {
            MessagePieces::Bytes(bytes) => append(bytes, data),
            MessagePieces::Digest(context) => context.update(data),
            MessagePieces::Hmac(context) => context.update(data),
            MessagePieces::Nothing => {}
        }
        Ok(())
    }

    fn first_pieces(&self) -> Result<MessagePieces, ReturnCode> {
        match self.method {
            SignatureMethod::Job { input: SignatureInput::Message(alg), .. } => {
                Ok(MessagePieces::Digest(digest::Context::new(algorithm(alg)?)))
            }
            SignatureMethod::Mac(MacRule { digest: Some(alg), .. }) => {
                // The value of a key that a server holds is not here, so the server gets the whole message.
                let Some(secret) = self.key.secret() else {
                    return Ok(MessagePieces::Bytes(Zeroizing::default()));
                };
                let key = hmac::Key::new(hmac_algorithm(alg)?, secret.expose());
                Ok(MessagePieces::Hmac(Box::new(hmac::Context::with_key(&key))))
            }
            _ => Ok(MessagePieces::Bytes(Zeroizing::default())),
        }
    }

    /// Signs.
    pub(crate) async fn sign(
        &mut self,
        route: ComputeRoute<'_>,
        step: SigningStep<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let rule = FailureRule::SIGN;
        if self.is_job() {
            return self.run_job(route, step, &[], rule).await;
        }
        match (self.take(step)?, self.method) {
            (WholeMessage::Hmac(context), _) => Ok(self.cut_mac(&context)),
            (WholeMessage::Bytes(message), SignatureMethod::Mac(mac)) => {
                compute_mac(route, &self.key, mac, &message).await
            }
            (WholeMessage::Bytes(message), _) => {
                rsa::operate(route, BareRsa::Private, &self.key, &message, rule).await
            }
            (WholeMessage::Digest(_), _) => Err(ReturnCode::GeneralError),
        }
    }

    /// Verifies a signature.
    ///
    /// # Errors
    /// [`ReturnCode::SignatureInvalid`], [`ReturnCode::SignatureLenRange`].
    pub(crate) async fn verify(
        &mut self,
        route: ComputeRoute<'_>,
        step: SigningStep<'_>,
        signature: &[u8],
    ) -> Result<(), ReturnCode> {
        self.check_signature_len(signature)?;
        let rule = FailureRule::VERIFY;
        if self.is_job() {
            return self.run_job(route, step, signature, rule).await.map(drop);
        }
        let is_equal = match (self.take(step)?, self.method) {
            (WholeMessage::Hmac(context), _) => self.cut_mac(&context).ct_eq(signature),
            (WholeMessage::Bytes(message), SignatureMethod::Mac(mac)) => {
                compute_mac(route, &self.key, mac, &message).await?.ct_eq(signature)
            }
            (WholeMessage::Bytes(message), _) => {
                let found = rsa::operate(route, BareRsa::Public, &self.key, signature, rule).await;
                return check_recovered(found, &message);
            }
            (WholeMessage::Digest(_), _) => return Err(ReturnCode::GeneralError),
        };
        if bool::from(is_equal) { Ok(()) } else { Err(ReturnCode::SignatureInvalid) }
    }

    /// Checks the length of a signature.
    ///
    /// # Errors
    /// [`ReturnCode::SignatureLenRange`].
    pub(crate) fn check_signature_len(&self, signature: &[u8]) -> Result<(), ReturnCode> {
        if signature.len() == self.len() { Ok(()) } else { Err(ReturnCode::SignatureLenRange) }
    }

    /// True if a scheme of the accelerator computes the operation.
    pub(crate) fn is_job(&self) -> bool {
        matches!(self.method, SignatureMethod::Job { .. })
    }

    /// Runs the job of the last step. The signature is empty if the job makes one.
    async fn run_job(
        &mut self,
        route: ComputeRoute<'_>,
        step: SigningStep<'_>,
        signature: &[u8],
        rule: FailureRule,
    ) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
        let bytes;
        let input = match step {
            SigningStep::Whole(message) => self.job_input(message)?,
            SigningStep::Pieces => match self.take(step)? {
                WholeMessage::Bytes(own) => {
                    bytes = own;
                    self.job_input(&bytes)?
                }
                WholeMessage::Digest(context) => {
                    JobInput::Digest(Cow::Owned(context.finish().as_ref().to_vec()))
                }
                WholeMessage::Hmac(_) => return Err(ReturnCode::GeneralError),
            },
        };
        let job = self.job(&input, signature, signature.is_empty())?;
        route.job(&job).await.map_err(|error| to_return_code(&error, rule))
    }

    fn scheme(&self, is_signing: bool) -> Result<Scheme, ReturnCode> {
        match self.method {
            SignatureMethod::Job { sign, verify, .. } => Ok(if is_signing { sign } else { verify }),
            _ => Err(ReturnCode::GeneralError),
        }
    }

    /// Returns the job of an input. A key that a server holds signs digests and no encodings, so the digest is taken
    /// out of its encoding: `CKM_RSA_PKCS` gives the same signature as the mechanism that hashes.
    ///
    /// # Errors
    /// [`ReturnCode::DataInvalid`] for an encoding of anything else under such a key.
    pub(crate) fn job<'a>(
        &'a self,
        input: &'a JobInput<'a>,
        signature: &'a [u8],
        is_signing: bool,
    ) -> Result<Job<'a>, ReturnCode> {
        let scheme = self.scheme(is_signing)?;
        let is_held = self.key.home() != &KeyHome::Local;
        match input {
            JobInput::Message(encoded) if is_held && scheme == Scheme::RsaPkcs1SignEncoded => {
                let (digest, hash) = split_digest_info(encoded).ok_or(ReturnCode::DataInvalid)?;
                let scheme = SigningScheme::rsa_pkcs1(digest).into();
                Ok(Job::with_scheme(scheme, &self.key, Input::Digest(hash), signature))
            }
            _ => Ok(Job::with_scheme(scheme, &self.key, input.as_input(), signature)),
        }
    }

    /// Brings a whole message to the form of the scheme.
    ///
    /// # Errors
    /// [`ReturnCode::DataLenRange`].
    pub(crate) fn job_input<'a>(&self, message: &'a [u8]) -> Result<JobInput<'a>, ReturnCode> {
        let SignatureMethod::Job { input, .. } = self.method else { return Err(ReturnCode::GeneralError) };
        match input {
            SignatureInput::Message(_) => Ok(JobInput::Message(message)),
            SignatureInput::Digest(len) if message.len() == len => {
                Ok(JobInput::Digest(Cow::Borrowed(message)))
            }
            SignatureInput::CurveDigest(width) if !message.is_empty() => {
                Ok(JobInput::Digest(at_width(message, width)))
            }
            SignatureInput::Whole { max } if message.len() <= max => Ok(JobInput::Message(message)),
            _ => Err(ReturnCode::DataLenRange),
        }
    }

    /// Takes the whole message, or what its pieces became.
    fn take<'a>(&mut self, step: SigningStep<'a>) -> Result<WholeMessage<'a>, ReturnCode> {
        let pieces = match step {
            SigningStep::Whole(message) => {
                self.check_bare_len(message)?;
                return Ok(WholeMessage::Bytes(MessageBytes::Lent(message)));
            }
            // No piece came: the message is empty.
            SigningStep::Pieces if !self.is_in_pieces() => self.first_pieces()?,
            SigningStep::Pieces => std::mem::replace(&mut self.pieces, MessagePieces::Nothing),
        };
        match pieces {
            MessagePieces::Bytes(bytes) => {
                self.check_bare_len(&bytes)?;
                Ok(WholeMessage::Bytes(MessageBytes::Own(bytes)))
            }
            MessagePieces::Digest(context) => Ok(WholeMessage::Digest(context)),
            MessagePieces::Hmac(context) => Ok(WholeMessage::Hmac(context)),
            MessagePieces::Nothing => Err(ReturnCode::GeneralError),
        }
    }

    /// Checks that a message is not longer than the modulus, if it is signed by bare RSA.
    ///
    /// # Errors
    /// [`ReturnCode::DataLenRange`].
    pub(crate) fn check_bare_len(&self, message: &[u8]) -> Result<(), ReturnCode> {
        match self.method {
            SignatureMethod::RawRsa { len } if message.len() > len => Err(ReturnCode::DataLenRange),
            _ => Ok(()),
        }
    }

    fn cut_mac(&self, context: &hmac::Context) -> Zeroizing<Vec<u8>> {
        let mut mac = Zeroizing::new(context.clone().sign().as_ref().to_vec());
        mac.truncate(self.len());
        mac
    }
}

impl SignatureMethod {
    fn new(
        key: &Key,
        family: MechanismFamily,
        parameters: &MechanismParameters<'_>,
    ) -> Result<Self, ReturnCode> {
        match (family, parameters) {
            (MechanismFamily::RsaPkcs1(input), MechanismParameters::None) => Self::rsa_pkcs1(key, input),
            (MechanismFamily::RsaPss(input), MechanismParameters::Pss { hash, mgf, salt_len }) => {
                let digest = digest_of(*hash)?;
                Self::rsa_pss(key, input, (digest, digest_of_mgf(*mgf)?), *salt_len)
            }
            (MechanismFamily::RsaRaw, MechanismParameters::None) => {
                Ok(Self::RawRsa { len: rsa::modulus_len(key)? })
            }
            (MechanismFamily::Ecdsa(input), MechanismParameters::None) => Self::ecdsa(key, input),
            (MechanismFamily::Eddsa, parameters) => Self::eddsa(parameters),
            (MechanismFamily::Hmac { alg, is_general }, parameters) => {
                MacRule::hmac(alg, is_general, parameters).map(Self::Mac)
            }
            (MechanismFamily::Cmac { is_general }, parameters) => {
                MacRule::cmac(key, is_general, parameters).map(Self::Mac)
            }
            (
                MechanismFamily::RsaPkcs1(_)
                | MechanismFamily::RsaPss(_)
                | MechanismFamily::RsaRaw
                | MechanismFamily::Ecdsa(_),
                _,
            ) => Err(ReturnCode::MechanismParamInvalid),
            _ => Err(ReturnCode::MechanismInvalid),
        }
    }

    fn rsa_pkcs1(key: &Key, input: DigestRule) -> Result<Self, ReturnCode> {
        let len = rsa::modulus_len(key)?;
        Ok(match input {
            DigestRule::Message(digest) => Self::Job {
                sign: SigningScheme::rsa_pkcs1(digest).into(),
                verify: VerifyingScheme::rsa_pkcs1(digest).into(),
                input: SignatureInput::Message(digest),
                len,
            },
            DigestRule::Given => Self::Job {
                sign: Scheme::RsaPkcs1SignEncoded,
                verify: Scheme::RsaPkcs1VerifyEncoded,
                // RFC 8017 9.2 step 3.
                input: SignatureInput::Whole { max: len.saturating_sub(11) },
                len,
            },
        })
    }

    fn rsa_pss(
        key: &Key,
        input: DigestRule,
        (digest, mgf): (DigestAlg, DigestAlg),
        salt_len: u64,
    ) -> Result<Self, ReturnCode> {
        let invalid = ReturnCode::MechanismParamInvalid;
        let len = rsa::modulus_len(key)?;
        let salt_len = u16::try_from(salt_len).map_err(|_| invalid)?;
        if digest.output_len() + usize::from(salt_len) + 2 > len {
            return Err(invalid);
        }
        let input = match input {
            // The mechanism names the digest, and its parameter must not name another.
            DigestRule::Message(own) if own != digest => return Err(invalid),
            DigestRule::Message(own) => SignatureInput::Message(own),
            DigestRule::Given => SignatureInput::Digest(digest.output_len()),
        };
        Ok(Self::Job {
            sign: SigningScheme::rsa_pss(digest, mgf, salt_len).into(),
            verify: VerifyingScheme::rsa_pss(digest, mgf, SaltLength::Exactly(salt_len)).into(),
            input,
            len,
        })
    }

    fn ecdsa(key: &Key, input: DigestRule) -> Result<Self, ReturnCode> {
        let curve = match key.kind() {
            oarlock::KeyKind::EcPrivate(curve) | oarlock::KeyKind::EcPublic(curve) => curve,
            _ => return Err(ReturnCode::KeyTypeInconsistent),
        };
        let width = curve.scalar_len();
        let (digest, input) = match input {
            DigestRule::Message(digest) => (digest, SignatureInput::Message(digest)),
            // A digest as wide as the curve: any other is brought to this width first.
            DigestRule::Given if curve == Curve::P256 => {
                (DigestAlg::Sha256, SignatureInput::CurveDigest(width))
            }
            DigestRule::Given => (DigestAlg::Sha384, SignatureInput::CurveDigest(width)),
        };
        let encoding = EcdsaEncoding::Fixed;
        Ok(Self::Job {
            sign: SigningScheme::ecdsa(curve, digest, encoding, NonceRule::Hedged).into(),
            verify: VerifyingScheme::ecdsa(curve, digest, encoding).into(),
            input,
            len: 2 * width,
        })
    }

    fn eddsa(parameters: &MechanismParameters<'_>) -> Result<Self, ReturnCode> {
        match parameters {
            MechanismParameters::None => {}
            // Ed25519ctx, even with an empty context, and Ed25519ph, which no engine has.
            _ => return Err(ReturnCode::MechanismParamInvalid),
        }
        Ok(Self::Job {
            sign: SigningScheme::ED25519.into(),
            verify: VerifyingScheme::ED25519.into(),
            input: SignatureInput::Whole { max: usize::MAX },
            len: 64,
        })
    }
}

/// Compares a message with the one that a signature of bare RSA contains.
///
/// # Errors
/// [`ReturnCode::SignatureInvalid`].
pub(crate) fn check_recovered(
    found: Result<Zeroizing<Vec<u8>>, ReturnCode>,
    message: &[u8],
) -> Result<(), ReturnCode> {
    let found = found.map_err(|code| match code {
        // A signature that is not below the modulus is a bad one.
        ReturnCode::DataInvalid => ReturnCode::SignatureInvalid,
        code => code,
    })?;
    let zeros = found.len().checked_sub(message.len()).ok_or(ReturnCode::DataLenRange)?;
    let expected = [&vec![0; zeros][..], message].concat();
    if bool::from(found.ct_eq(&expected)) { Ok(()) } else { Err(ReturnCode::SignatureInvalid) }
}

/// Computes a MAC and cuts it to the length of its mechanism.
async fn compute_mac(
    route: ComputeRoute<'_>,
    key: &Key,
    rule: MacRule,
    message: &[u8],
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let inputs = RecordInputs { input: message, output_len: rule.alg.tag_len(), ..RecordInputs::default() };
    let shape = Shape::Mac { alg: rule.alg };
    let mut mac = run_record(route, shape, key, &inputs, FailureRule::SIGN).await?;
    mac.truncate(rule.len);
    Ok(mac)
}

/// Brings a digest to the width of a curve without changing the number that ECDSA takes. FIPS 186-5 6.4.1 step 2.
fn at_width(digest: &[u8], width: usize) -> Cow<'_, [u8]> {
    match digest.get(..width) {
        Some(leading) => Cow::Borrowed(leading),
        None => Cow::Owned([&vec![0; width - digest.len()][..], digest].concat()),
    }
}

/// Appends without leaving a copy of the bytes in freed memory.
pub(crate) fn append(bytes: &mut Zeroizing<Vec<u8>>, data: &[u8]) {
    if bytes.capacity() - bytes.len() < data.len() {
        let mut larger = Zeroizing::new(Vec::with_capacity((bytes.len() + data.len()).next_power_of_two()));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    bytes.extend_from_slice(data);
}

impl fmt::Debug for SignatureOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignatureOperation({:?}, {:?})", self.method, self.key)
    }
}
