//! Signatures and message authentication codes in one step or in pieces.

use std::fmt;

use oarlock::{
    Curve, DigestAlg, EcdsaEncoding, Key, KeyHome, KeyKind, MlDsaSet, MlDsaVariant, NonceRule, SaltLength,
    Scheme, Shape, SigningScheme, VerifyingScheme,
};
use zeroize::Zeroizing;

use super::compute::{Computation, Finish, PlannedJob};
use super::digest::DigestOperation;
use super::failure::FailureRule;
use super::mac::MacRule;
use super::padding::{digest_of_mgf, pre_hash_of, rsa_digest_of, split_digest_info};
use super::pieces::{MessagePieces, WholeMessage};
use super::record::plan_bare_record;
use super::rsa::{self, BareRsa};
use crate::constants::{ReturnCode, parameter_values as value};
use crate::mechanism::{Mechanism, MechanismFacts, MechanismFamily, MechanismParameters};

/// A signature or a verification that has begun.
#[derive(Clone)]
pub(crate) struct SignatureOperation {
    key: Key,
    method: SignatureMethod,
    /// The context of ML-DSA, else empty.
    context: Vec<u8>,
    /// The message, from its first piece on.
    pieces: Option<MessagePieces>,
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
    /// The message, of which the scheme takes the digest.
    Message(DigestAlg),
    /// A digest of exactly this length.
    Digest(usize),
    /// A digest of any length, brought to the width of the curve.
    CurveDigest(usize),
    /// The message itself, at most this long.
    Whole { max: usize },
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
        let context = match mechanism.parameters {
            MechanismParameters::SignContext { context, .. }
            | MechanismParameters::HashSignContext { context, .. } => context.to_vec(),
            _ => Vec::new(),
        };
        Ok(Self { key, method, context, pieces: None, signature: None, needs_login: false })
    }

    /// True after the first piece.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.pieces.is_some()
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
        if self.pieces.is_none() {
            self.pieces = Some(self.first_pieces()?);
        }
        self.pieces.iter_mut().for_each(|pieces| pieces.update(data));
        Ok(())
    }

    fn first_pieces(&self) -> Result<MessagePieces, ReturnCode> {
        match (self.method, self.key.secret()) {
            (SignatureMethod::Job { input: SignatureInput::Message(alg), .. }, _) => {
                DigestOperation::new(alg).map(MessagePieces::Digest)
            }
            (SignatureMethod::Mac(MacRule { digest: Some(alg), .. }), Some(secret)) => {
                MessagePieces::hmac(alg, secret.expose())
            }
            // The value of a key that a server holds is not here, so the server gets the whole message.
            _ => Ok(MessagePieces::Bytes(Zeroizing::default())),
        }
    }

    /// Plans the signature of a whole message, or of its pieces.
    ///
    /// # Errors
    /// [`ReturnCode::DataLenRange`], [`ReturnCode::DataInvalid`].
    pub(crate) fn plan_signature<'a>(
        &'a mut self,
        whole: Option<&'a [u8]>,
    ) -> Result<Computation<'a>, ReturnCode> {
        let (message, rule) = (self.take_message(whole)?, FailureRule::SIGN);
        match self.method {
            SignatureMethod::Job { .. } => Ok(Computation::job(self.job(message, &[], true)?, rule)),
            SignatureMethod::Mac(mac) => self.plan_mac(mac, message, Finish::Cut { start: 0, len: mac.len }),
            SignatureMethod::RawRsa { .. } => {
                self.check_bare_len(&message)?;
                rsa::plan(BareRsa::Private, &self.key, &message, rule)
            }
        }
    }

    /// Plans the verification of a whole message, or of its pieces. It has no output.
    ///
    /// # Errors
    /// [`ReturnCode::SignatureInvalid`], [`ReturnCode::SignatureLenRange`], [`ReturnCode::DataLenRange`].
    pub(crate) fn plan_verification<'a>(
        &'a mut self,
        whole: Option<&'a [u8]>,
        signature: &'a [u8],
    ) -> Result<Computation<'a>, ReturnCode> {
        self.check_signature_len(signature)?;
        let (message, rule) = (self.take_message(whole)?, FailureRule::VERIFY);
        match self.method {
            SignatureMethod::Job { .. } => Ok(Computation::job(self.job(message, signature, false)?, rule)),
            SignatureMethod::Mac(mac) => self.plan_mac(mac, message, Finish::CompareMac(signature.to_vec())),
            SignatureMethod::RawRsa { .. } => {
                self.check_bare_len(&message)?;
                let recovery = rsa::plan(BareRsa::Public, &self.key, signature, rule);
                // An error of the plan must pass `CompareMessage` too, which makes a bad signature of it.
                let recovery = recovery.unwrap_or_else(|code| Computation::done(Err(code)));
                Ok(recovery.with_finish(Finish::CompareMessage(Zeroizing::new(message.to_vec()))))
            }
        }
    }

    fn plan_mac<'a>(
        &'a self,
        mac: MacRule,
        message: WholeMessage<'a>,
        finish: Finish,
    ) -> Result<Computation<'a>, ReturnCode> {
        let keys = std::slice::from_ref(&self.key);
        let (shape, len) = (Shape::Mac { alg: mac.alg }, mac.alg.tag_len());
        let computation = match message {
            WholeMessage::Hashed(mac) => Computation::done(Ok(mac)),
            message => plan_bare_record(shape, keys, message.into_bytes(), len, FailureRule::SIGN)?,
        };
        Ok(computation.with_finish(finish))
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

    /// Returns the job of a message, with the signature to verify. A key that a server holds signs digests and no
    /// encodings, so the digest is taken out of its encoding: `CKM_RSA_PKCS` gives the same signature as the mechanism
    /// that hashes.
    ///
    /// # Errors
    /// [`ReturnCode::DataLenRange`]; [`ReturnCode::DataInvalid`] for an encoding of anything else under such a key.
    pub(crate) fn job<'a>(
        &'a self,
        message: WholeMessage<'a>,
        signature: &'a [u8],
        is_signing: bool,
    ) -> Result<PlannedJob<'a>, ReturnCode> {
        let SignatureMethod::Job { sign, verify, input, .. } = self.method else {
            return Err(ReturnCode::GeneralError);
        };
        let is_hashed = matches!(message, WholeMessage::Hashed(_));
        let (input, is_digest) = match input {
            SignatureInput::Message(_) => (message, is_hashed),
            SignatureInput::Digest(len) if message.len() == len => (message, true),
            SignatureInput::CurveDigest(width) if !message.is_empty() => (at_width(message, width), true),
            SignatureInput::Whole { max } if message.len() <= max => (message, false),
            _ => return Err(ReturnCode::DataLenRange),
        };
        let scheme = if is_signing { sign } else { verify };
        let context = &self.context;
        let job = PlannedJob { scheme, key: &self.key, input, is_digest, second: signature, context };
        if scheme != Scheme::RsaPkcs1SignEncoded || self.key.home() == &KeyHome::Local {
            return Ok(job);
        }
        let (digest, hash) = split_digest_info(&job.input).ok_or(ReturnCode::DataInvalid)?;
        let (scheme, input) = (SigningScheme::rsa_pkcs1(digest).into(), Zeroizing::new(hash.to_vec()));
        Ok(PlannedJob { scheme, input: WholeMessage::Own(input), is_digest: true, ..job })
    }

    /// Takes the whole message, or what its pieces became.
    fn take_message<'a>(&mut self, whole: Option<&'a [u8]>) -> Result<WholeMessage<'a>, ReturnCode> {
        match (whole, self.pieces.take()) {
            (Some(message), _) => Ok(WholeMessage::Lent(message)),
            (None, Some(pieces)) => Ok(pieces.finish()),
            // No piece came: the message is empty.
            (None, None) => Ok(self.first_pieces()?.finish()),
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
}

impl SignatureMethod {
    fn new(
        key: &Key,
        family: MechanismFamily,
        parameters: &MechanismParameters<'_>,
    ) -> Result<Self, ReturnCode> {
        match (family, parameters) {
            (MechanismFamily::RsaPkcs1(hashed_by), MechanismParameters::None) => {
                Self::rsa_pkcs1(key, hashed_by)
            }
            (MechanismFamily::RsaPss(hashed_by), MechanismParameters::Pss { hash, mgf, salt_len }) => {
                let digest = rsa_digest_of(*hash)?;
                Self::rsa_pss(key, hashed_by, (digest, digest_of_mgf(*mgf)?), *salt_len)
            }
            (MechanismFamily::RsaRaw, MechanismParameters::None) => {
                Ok(Self::RawRsa { len: rsa::modulus_len(key)? })
            }
            (MechanismFamily::Ecdsa(hashed_by), MechanismParameters::None) => Self::ecdsa(key, hashed_by),
            (MechanismFamily::Eddsa, parameters) => Self::eddsa(parameters),
            (
                MechanismFamily::MlDsa
                | MechanismFamily::HashMlDsa(_)
                | MechanismFamily::SlhDsa
                | MechanismFamily::HashSlhDsa(_),
                parameters,
            ) => Self::with_context(key, family, parameters),
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

    fn rsa_pkcs1(key: &Key, hashed_by: Option<DigestAlg>) -> Result<Self, ReturnCode> {
        let len = rsa::modulus_len(key)?;
        Ok(match hashed_by {
            Some(digest) => Self::Job {
                sign: SigningScheme::rsa_pkcs1(digest).into(),
                verify: VerifyingScheme::rsa_pkcs1(digest).into(),
                input: SignatureInput::Message(digest),
                len,
            },
            None => Self::Job {
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
        hashed_by: Option<DigestAlg>,
        (digest, mgf): (DigestAlg, DigestAlg),
        salt_len: u64,
    ) -> Result<Self, ReturnCode> {
        let invalid = ReturnCode::MechanismParamInvalid;
        let len = rsa::modulus_len(key)?;
        let salt_len = u16::try_from(salt_len).map_err(|_| invalid)?;
        // RFC 8017 9.1.1 step 3.
        if digest.output_len() + usize::from(salt_len) + 2 > len {
            return Err(invalid);
        }
        let input = match hashed_by {
            // The mechanism names the digest, and its parameter must not name another.
            Some(named) if named != digest => return Err(invalid),
            Some(named) => SignatureInput::Message(named),
            None => SignatureInput::Digest(digest.output_len()),
        };
        Ok(Self::Job {
            sign: SigningScheme::rsa_pss(digest, mgf, salt_len).into(),
            verify: VerifyingScheme::rsa_pss(digest, mgf, SaltLength::Exactly(salt_len)).into(),
            input,
            len,
        })
    }

    fn ecdsa(key: &Key, hashed_by: Option<DigestAlg>) -> Result<Self, ReturnCode> {
        let curve = match key.kind() {
            KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => curve,
            _ => return Err(ReturnCode::KeyTypeInconsistent),
        };
        let width = curve.scalar_len();
        let (digest, input) = match hashed_by {
            Some(digest) => (digest, SignatureInput::Message(digest)),
            // A digest as wide as the curve: any other is brought to this width first.
            None if curve == Curve::P256 => (DigestAlg::Sha256, SignatureInput::CurveDigest(width)),
            None => (DigestAlg::Sha384, SignatureInput::CurveDigest(width)),
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

    /// Reads the parameter of ML-DSA and SLH-DSA, which both have a context, a hedge and, for a digest that the caller
    /// gives, its name. PKCS#11 3.2 6.67.5 and 6.69.5.
    fn with_context(
        key: &Key,
        family: MechanismFamily,
        parameters: &MechanismParameters<'_>,
    ) -> Result<Self, ReturnCode> {
        let invalid = ReturnCode::MechanismParamInvalid;
        let (pre_hash, input, hedge, context) = match (family, *parameters) {
            (
                MechanismFamily::HashMlDsa(None) | MechanismFamily::HashSlhDsa(None),
                MechanismParameters::HashSignContext { hedge, context, hash },
            ) => {
                let digest = pre_hash_of(hash)?;
                (Some(digest), SignatureInput::Digest(digest.output_len()), hedge, context)
            }
            (MechanismFamily::HashMlDsa(None) | MechanismFamily::HashSlhDsa(None), _) => return Err(invalid),
            (family, parameters) => {
                let (hedge, context) = match parameters {
                    MechanismParameters::None => (value::CKH_HEDGE_PREFERRED, &[][..]),
                    MechanismParameters::SignContext { hedge, context } => (hedge, context),
                    _ => return Err(invalid),
                };
                let pre_hash = match family {
                    MechanismFamily::HashMlDsa(pre_hash) | MechanismFamily::HashSlhDsa(pre_hash) => pre_hash,
                    _ => None,
                };
                let whole = SignatureInput::Whole { max: usize::MAX };
                (pre_hash, pre_hash.map_or(whole, SignatureInput::Message), hedge, context)
            }
        };
        Self::of_key(key, pre_hash, input, hedge, context)
    }

    fn of_key(
        key: &Key,
        pre_hash: Option<DigestAlg>,
        input: SignatureInput,
        hedge: u64,
        context: &[u8],
    ) -> Result<Self, ReturnCode> {
        // SLH-DSA has the same limit.
        if context.len() > MlDsaSet::MAX_CONTEXT_LEN {
            return Err(ReturnCode::MechanismParamInvalid);
        }
        let is_signing = matches!(key.kind(), KeyKind::MlDsaPrivate(_) | KeyKind::SlhDsaPrivate(_));
        let nonce = nonce_rule(hedge, is_signing)?;
        let (sign, len) = match key.kind() {
            KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => {
                let variant = pre_hash.map_or(MlDsaVariant::Pure, MlDsaVariant::PreHash);
                (SigningScheme::ml_dsa(set, variant, nonce), set.signature_len())
            }
            KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => {
                (SigningScheme::slh_dsa(set, pre_hash, nonce), set.signature_len())
            }
            _ => return Err(ReturnCode::KeyTypeInconsistent),
        };
        Ok(Self::Job { sign: sign.into(), verify: sign.verifying().into(), input, len })
    }
}

/// Returns the source of the randomness of a signature.
fn nonce_rule(hedge: u64, is_signing: bool) -> Result<NonceRule, ReturnCode> {
    match hedge {
        value::CKH_HEDGE_PREFERRED | value::CKH_HEDGE_REQUIRED => Ok(NonceRule::Hedged),
        value::CKH_DETERMINISTIC_REQUIRED => Ok(NonceRule::Deterministic),
        // A verification ignores the field. PKCS#11 3.2 6.67.5.
        _ if !is_signing => Ok(NonceRule::Hedged),
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}

/// Brings a digest to the width of a curve without changing the number that ECDSA takes. FIPS 186-5 6.4.1 step 2.
fn at_width(digest: WholeMessage<'_>, width: usize) -> WholeMessage<'_> {
    match (digest, width) {
        (WholeMessage::Lent(digest), width) if digest.len() >= width => {
            WholeMessage::Lent(digest.get(..width).unwrap_or(digest))
        }
        (digest, width) => {
            let zeros = vec![0; width.saturating_sub(digest.len())];
            let leading = digest.get(..width).unwrap_or(&digest);
            WholeMessage::Own(Zeroizing::new([&zeros[..], leading].concat()))
        }
    }
}

impl fmt::Debug for SignatureOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignatureOperation({:?}, {:?})", self.method, self.key)
    }
}
