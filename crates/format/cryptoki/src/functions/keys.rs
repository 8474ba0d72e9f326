//! New keys, derived keys, and random bytes.

use aws_lc_rs::rand;
use oarlock::keys::{export, import};
use oarlock::{Curve, Key};

use super::Cryptoki;
use super::access::{Caller, KeyFaults};
use super::creation::check_key_type;
use crate::attribute::{AttributeSet, TemplateEntry, parse};
use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass, ReturnCode, mechanism_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::{Mechanism, MechanismFamily, MechanismParameters, facts};
use crate::object::{
    CreationKind, NamedCurve, NewObject, ParameterSet, apply_template, complete, complete_derived,
    is_readable, is_secret_len, new_key_object,
};
use crate::operation::{Derivation, NewKey, new_pair, new_secret};
use crate::session::CallResult;

/// The fewest bytes of a derived or agreed key that nobody may read. Shorter ones could be guessed, and after them byte
/// by byte the longer keys that begin or end with them.
const MIN_PROTECTED_LEN: usize = 16;

impl Cryptoki {
    /// `C_GenerateKey`.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismInvalid`], [`ReturnCode::KeySizeRange`], and those of
    /// [`create_object`](Self::create_object).
    pub fn generate_key(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        let caller = self.caller(session)?;
        let Some(MechanismFamily::GenerateSecret(key_type)) = family(mechanism)? else {
            return Err(ReturnCode::MechanismInvalid);
        };
        let class = ObjectClass::SECRET_KEY;
        let mut template = parse(template, class)?;
        expect(&mut template, A::CLASS, class.0)?;
        expect(&mut template, A::KEY_TYPE, key_type.0)?;
        let len = template.number(A::VALUE_LEN);
        let kind = CreationKind::Generated(mechanism.kind);
        let attributes = complete(template, class, Some(key_type), kind, caller.context())?;
        caller.check_write(&attributes)?;
        let generated =
            self.generate(caller.call("C_GenerateKey", None), new_secret(key_type, len)?, move |key| {
                new_key_object(attributes, key, class).map(CallResult::of_object)
            })?;
        self.add_first(&caller, generated)
    }

    /// `C_GenerateKeyPair`. Returns the public and the private key.
    ///
    /// # Errors
    /// As [`generate_key`](Self::generate_key), and [`ReturnCode::CurveNotSupported`].
    pub fn generate_key_pair(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        public: &[TemplateEntry<'_>],
        private: &[TemplateEntry<'_>],
    ) -> Result<(ObjectHandle, ObjectHandle), ReturnCode> {
        let caller = self.caller(session)?;
        let Some(MechanismFamily::GeneratePair(key_type)) = family(mechanism)? else {
            return Err(ReturnCode::MechanismInvalid);
        };
        let kind = CreationKind::Generated(mechanism.kind);
        let half = |template: &[TemplateEntry<'_>], class: ObjectClass| {
            let mut template = parse(template, class)?;
            expect(&mut template, A::CLASS, class.0)?;
            expect(&mut template, A::KEY_TYPE, key_type.0)?;
            let attributes = complete(template, class, Some(key_type), kind, caller.context())?;
            caller.check_write(&attributes)?;
            Ok::<_, ReturnCode>(attributes)
        };
        // Both templates are checked before the generation, which is slow for RSA, and nothing is made if one is bad.
        let public = half(public, ObjectClass::PUBLIC_KEY)?;
        let private = half(private, ObjectClass::PRIVATE_KEY)?;
        let new = wanted_pair(&public, key_type)?;
        let generated = self.generate(caller.call("C_GenerateKeyPair", None), new, move |key| {
            let public = new_key_object(public, public_half(&key)?, ObjectClass::PUBLIC_KEY)?;
            let private = new_key_object(private, key, ObjectClass::PRIVATE_KEY)?;
            Ok(CallResult { objects: vec![public, private], ..CallResult::default() })
        })?;
        match self.add(&caller, generated.objects)?[..] {
            [public, private] => Ok((public, private)),
            _ => Err(ReturnCode::GeneralError),
        }
    }

    /// `C_DeriveKey`.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismInvalid`], [`ReturnCode::MechanismParamInvalid`] for a bad point of the peer,
    /// [`ReturnCode::KeyFunctionNotPermitted`], also for a mechanism that shows the bytes of a key which must not be
    /// read; [`ReturnCode::UserNotLoggedIn`] for a key that wants the PIN for each use, [`ReturnCode::KeySizeRange`] if
    /// too few bytes come out.
    pub fn derive_key(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        base: ObjectHandle,
        template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        const DERIVE: (u64, A) = (mechanism_flags::DERIVE, A::DERIVE);
        let caller = self.caller(session)?;
        let usable = caller.usable_key(base, mechanism, DERIVE, KeyFaults::USUAL)?;
        // A public key may have CKA_DERIVE, but the derivations start from secret values.
        if usable.object.class == ObjectClass::PUBLIC_KEY {
            return Err(ReturnCode::KeyTypeInconsistent);
        }
        // C_DeriveKey has no step in which the PIN could come.
        if usable.needs_login() {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        let class = ObjectClass::SECRET_KEY;
        let mut template = parse(template, class)?;
        // Applied before the defaults, so that all checks below see the attributes that the base key demands.
        apply_template(&mut template, usable.object.attributes.template(A::DERIVE_TEMPLATE))?;
        expect(&mut template, A::CLASS, class.0)?;
        template.set_default(A::KEY_TYPE, KeyTypeNumber::GENERIC_SECRET.0);
        let key_type = KeyTypeNumber(template.number(A::KEY_TYPE).unwrap_or(u64::MAX));
        check_key_type(class, key_type)?;
        let len = wanted_len(&template, key_type)?;
        let kind = CreationKind::Derived;
        let mut attributes = complete(template, class, Some(key_type), kind, caller.context())?;
        caller.check_write(&attributes)?;
        let second = second_key(&caller, mechanism)?;
        let second_key = second.as_ref().map(|(_, key)| key);
        let family = usable.facts.family;
        let derivation = Derivation::new(&usable.key, family, &mechanism.parameters, second_key)?;
        // A concatenation shows the bytes of both keys, so both must be readable.
        let mut bases = second.iter().map(|(attributes, _)| attributes).chain([&usable.object.attributes]);
        if derivation.is_transparent() && !bases.all(is_readable) {
            return Err(ReturnCode::KeyFunctionNotPermitted);
        }
        complete_derived(&mut attributes, &usable.object.attributes);
        let len = len.or(fixed_len(key_type));
        let call = caller.call("C_DeriveKey", None);
        let derived = self.compute(call, derivation.plan(&usable.key, len), move |value| {
            new_secret_object(attributes, key_type, &value?).map(CallResult::of_object)
        })?;
        self.add_first(&caller, derived)
    }

    /// `C_SeedRandom`. The generator of the operating system needs no seed.
    ///
    /// # Errors
    /// [`ReturnCode::RandomSeedNotSupported`].
    pub fn seed_random(&self, session: SessionHandle, _seed: &[u8]) -> Result<(), ReturnCode> {
        self.caller(session)?;
        Err(ReturnCode::RandomSeedNotSupported)
    }

    /// `C_GenerateRandom`.
    ///
    /// # Errors
    /// [`ReturnCode::RandomNoRng`].
    pub fn generate_random(&self, session: SessionHandle, out: &mut [u8]) -> Result<(), ReturnCode> {
        self.caller(session)?;
        rand::fill(out).map_err(|_| ReturnCode::RandomNoRng)
    }
}

/// Makes a secret key of a value that was derived or agreed.
///
/// # Errors
/// [`ReturnCode::KeySizeRange`].
pub(super) fn new_secret_object(
    attributes: AttributeSet,
    key_type: KeyTypeNumber,
    value: &[u8],
) -> Result<NewObject, ReturnCode> {
    let is_guessable = !is_readable(&attributes) && value.len() < MIN_PROTECTED_LEN;
    if is_guessable || !is_secret_len(key_type, value.len()) {
        return Err(ReturnCode::KeySizeRange);
    }
    let key = oarlock::keys::raw::secret(value.to_vec()).map_err(|_| ReturnCode::KeySizeRange)?;
    new_key_object(attributes, key, ObjectClass::SECRET_KEY)
}

/// Returns the family of a mechanism of generation, which takes no parameter.
fn family(mechanism: &Mechanism<'_>) -> Result<Option<MechanismFamily>, ReturnCode> {
    let Some(facts) = facts(mechanism.kind) else { return Ok(None) };
    let generates = mechanism_flags::GENERATE | mechanism_flags::GENERATE_KEY_PAIR;
    if facts.flags & generates == 0 {
        return Ok(None);
    }
    match mechanism.parameters {
        MechanismParameters::None => Ok(Some(facts.family)),
        _ => Err(ReturnCode::MechanismParamInvalid),
    }
}

/// Sets an attribute that the function determines. A template may say the same, and nothing else.
pub(super) fn expect(template: &mut AttributeSet, kind: A, value: u64) -> Result<(), ReturnCode> {
    match template.set(kind, value) {
        Some(given) if given.as_number() != Some(value) => Err(ReturnCode::TemplateInconsistent),
        _ => Ok(()),
    }
}

/// Returns the key pair that the template of its public key describes.
fn wanted_pair(public: &AttributeSet, key_type: KeyTypeNumber) -> Result<NewKey, ReturnCode> {
    if key_type.has_parameter_set() {
        return ParameterSet::read(key_type, public.number(A::PARAMETER_SET)).map(NewKey::from);
    }
    let curve = wanted_curve(public, key_type)?;
    new_pair(key_type, curve, public.number(A::MODULUS_BITS), public.bytes(A::PUBLIC_EXPONENT))
}

/// Returns the curve of a new EC key, and checks that of the other keys.
fn wanted_curve(public: &AttributeSet, key_type: KeyTypeNumber) -> Result<Option<Curve>, ReturnCode> {
    if key_type == KeyTypeNumber::RSA {
        return Ok(None);
    }
    let Some(params) = public.bytes(A::EC_PARAMS) else {
        // Edwards and Montgomery keys are of one curve each.
        let is_needed = key_type == KeyTypeNumber::EC;
        return if is_needed { Err(ReturnCode::TemplateIncomplete) } else { Ok(None) };
    };
    let curve = NamedCurve::read(params)?;
    if curve.key_type() != key_type {
        return Err(ReturnCode::CurveNotSupported);
    }
    match curve {
        NamedCurve::Nist(curve) => Ok(Some(curve)),
        _ => Ok(None),
    }
}

fn public_half(key: &Key) -> Result<Key, ReturnCode> {
    let spki = export::spki_der(key).map_err(|_| ReturnCode::FunctionFailed)?;
    import::spki_der(&spki).map_err(|_| ReturnCode::FunctionFailed)
}

/// Returns the number of bytes that a template of a derivation wants.
pub(super) fn wanted_len(
    template: &AttributeSet,
    key_type: KeyTypeNumber,
) -> Result<Option<usize>, ReturnCode> {
    let Some(len) = template.number(A::VALUE_LEN) else { return Ok(fixed_len(key_type)) };
    let len = usize::try_from(len).ok().filter(|len| is_secret_len(key_type, *len));
    len.map(Some).ok_or(ReturnCode::KeySizeRange)
}

/// Returns the number of bytes of keys that have only one length.
pub(super) fn fixed_len(key_type: KeyTypeNumber) -> Option<usize> {
    (key_type == KeyTypeNumber::CHACHA20).then_some(32)
}

/// Returns the other key of a concatenation with its attributes.
fn second_key(
    caller: &Caller<'_>,
    mechanism: &Mechanism<'_>,
) -> Result<Option<(AttributeSet, Key)>, ReturnCode> {
    let MechanismParameters::KeyHandle(handle) = mechanism.parameters else { return Ok(None) };
    let object = caller.key_object(ObjectHandle(handle), ReturnCode::KeyHandleInvalid)?;
    if object.class != ObjectClass::SECRET_KEY {
        return Err(ReturnCode::KeyTypeInconsistent);
    }
    // `usable_key` has checked the base only, and this key is named by the parameter.
    if !object.attributes.is_true(A::DERIVE) {
        return Err(ReturnCode::KeyFunctionNotPermitted);
    }
    let key = object.key(caller.slot.objects.token())?;
    Ok(Some((object.attributes.clone(), key)))
}
