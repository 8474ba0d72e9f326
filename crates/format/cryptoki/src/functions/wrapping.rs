//! Wrapping and unwrapping of keys.

use oarlock::keys::{export, import, raw};
use oarlock::{Key, KeyHome, SecretBytes};
use zeroize::Zeroizing;

use super::Cryptoki;
use super::access::KeyFaults;
use super::creation::check_key_type;
use super::keys::expect;
use crate::attribute::{TemplateEntry, parse, peek_number};
use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass, ReturnCode, mechanism_flags};
use crate::deep_stack::on_deep_stack;
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::{Mechanism, MechanismFamily};
use crate::object::{
    CreationKind, Object, apply_template, asymmetric_type, complete, is_secret_len, new_key_object,
};
use crate::operation::{CipherDirection, CipherOperation};
use crate::output::CallOutput;
use crate::session::CallResult;

impl Cryptoki {
    /// `C_WrapKey`. Secret keys are wrapped as their value, and private keys as PKCS#8.
    ///
    /// # Errors
    /// [`ReturnCode::KeyUnextractable`], [`ReturnCode::KeyNotWrappable`], [`ReturnCode::KeySizeRange`],
    /// [`ReturnCode::WrappingKeyHandleInvalid`], [`ReturnCode::WrappingKeyTypeInconsistent`],
    /// [`ReturnCode::KeyFunctionNotPermitted`], [`ReturnCode::BufferTooSmall`].
    pub fn wrap_key(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        wrapping_key: ObjectHandle,
        key: ObjectHandle,
        output: &mut CallOutput<'_>,
    ) -> Result<(), ReturnCode> {
        const WRAP: (u64, A) = (mechanism_flags::WRAP, A::WRAP);
        let caller = self.caller(session)?;
        let wrapping = caller.usable_key(wrapping_key, mechanism, WRAP, KeyFaults::WRAPPING)?;
        let object = caller.key_object(key, ReturnCode::KeyHandleInvalid)?;
        // Checked before the key is opened: no secret is read for a call that is not allowed.
        check_extractable(&object, &wrapping.object)?;
        let value = wrapped_value(&object, &object.key(caller.slot.objects.token())?)?;
        let family = wrapping.facts.family;
        check_wrappable(&object, family, value.len())?;
        let operation =
            CipherOperation::new(wrapping.key, wrapping.facts, mechanism, CipherDirection::Encrypt)?;
        let (len, _) = operation.whole_len(value.len())?;
        if output.has_space(len)? {
            let call = caller.call("C_WrapKey", Some(output));
            let wrapped = self.compute(call, operation.plan_whole(&value), |wrapped| match wrapped {
                // The data are the key, so a wrong length is the wrong size of a key.
                Err(ReturnCode::DataLenRange) => Err(ReturnCode::KeySizeRange),
                wrapped => wrapped.map(CallResult::of_bytes),
            })?;
            output.write(&wrapped.bytes)?;
        }
        Ok(())
    }

    /// `C_UnwrapKey`. Every fault of the wrapped key looks alike.
    ///
    /// # Errors
    /// [`ReturnCode::WrappedKeyInvalid`], [`ReturnCode::UnwrappingKeyHandleInvalid`],
    /// [`ReturnCode::UnwrappingKeyTypeInconsistent`], [`ReturnCode::KeyFunctionNotPermitted`], and those of
    /// [`create_object`](Self::create_object) for the template.
    pub fn unwrap_key(
        &self,
        session: SessionHandle,
        mechanism: &Mechanism<'_>,
        unwrapping_key: ObjectHandle,
        wrapped: &[u8],
        template: &[TemplateEntry<'_>],
    ) -> Result<ObjectHandle, ReturnCode> {
        const UNWRAP: (u64, A) = (mechanism_flags::UNWRAP, A::UNWRAP);
        let caller = self.caller(session)?;
        let unwrapping = caller.usable_key(unwrapping_key, mechanism, UNWRAP, KeyFaults::UNWRAPPING)?;
        // C_UnwrapKey has no step in which the PIN could come.
        if unwrapping.needs_login() {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        let class = peek_number(template, A::CLASS).ok_or(ReturnCode::TemplateIncomplete)?;
        let class = ObjectClass(class);
        if class != ObjectClass::SECRET_KEY && class != ObjectClass::PRIVATE_KEY {
            return Err(ReturnCode::TemplateInconsistent);
        }
        let mut template = parse(template, class)?;
        // The unwrapping key may demand more than the call asks for, and the checks below must see it.
        apply_template(&mut template, unwrapping.object.attributes.template(A::UNWRAP_TEMPLATE))?;
        expect(&mut template, A::CLASS, class.0)?;
        let key_type = template.number(A::KEY_TYPE).ok_or(ReturnCode::TemplateIncomplete)?;
        let key_type = KeyTypeNumber(key_type);
        check_key_type(class, key_type)?;
        let wanted_len = template.number(A::VALUE_LEN);
        let kind = CreationKind::Unwrapped;
        let attributes = complete(template, class, Some(key_type), kind, caller.context())?;
        caller.check_write(&attributes)?;
        let operation =
            CipherOperation::new(unwrapping.key, unwrapping.facts, mechanism, CipherDirection::Decrypt)?;
        let call = caller.call("C_UnwrapKey", None);
        let unwrapped = self.compute(call, operation.plan_whole(wrapped), move |value| {
            // One code for a bad length, a bad padding, a bad tag and a value that is not a key: the difference would
            // help to decrypt (Bleichenbacher 1998, Bardou et al. 2012).
            let value = value.map_err(|code| match code {
                ReturnCode::DeviceError | ReturnCode::TokenResourceExceeded => code,
                _ => ReturnCode::WrappedKeyInvalid,
            })?;
            let key = unwrapped_key(&value, class, key_type, wanted_len)?;
            new_key_object(attributes, key, class).map(CallResult::of_object)
        })?;
        self.add_first(&caller, unwrapped)
    }
}

fn check_extractable(object: &Object, wrapping: &Object) -> Result<(), ReturnCode> {
    if object.class != ObjectClass::SECRET_KEY && object.class != ObjectClass::PRIVATE_KEY {
        return Err(ReturnCode::KeyNotWrappable);
    }
    if !object.attributes.is_true(A::EXTRACTABLE) {
        return Err(ReturnCode::KeyUnextractable);
    }
    if !object.fits(wrapping.attributes.template(A::WRAP_TEMPLATE)) {
        return Err(ReturnCode::KeyNotWrappable);
    }
    let wants_trust = object.attributes.is_true(A::WRAP_WITH_TRUSTED);
    if wants_trust && !wrapping.attributes.is_true(A::TRUSTED) {
        return Err(ReturnCode::KeyNotWrappable);
    }
    Ok(())
}

/// Returns the bytes that are wrapped.
fn wrapped_value(object: &Object, key: &Key) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    if key.home() != &KeyHome::Local {
        return Err(ReturnCode::KeyUnextractable);
    }
    if object.class == ObjectClass::PRIVATE_KEY {
        return export::private_pkcs8_der(key).map_err(|_| ReturnCode::KeyNotWrappable);
    }
    let value = key.secret().map(SecretBytes::expose).ok_or(ReturnCode::KeyNotWrappable)?;
    Ok(Zeroizing::new(value.to_vec()))
}

fn check_wrappable(object: &Object, family: MechanismFamily, len: usize) -> Result<(), ReturnCode> {
    match family {
        // The standard has RSA wrap secret keys only. PKCS#11 3.2 6.1.6 and 6.1.8.
        MechanismFamily::RsaPkcs1(_) | MechanismFamily::RsaOaep
            if object.class == ObjectClass::PRIVATE_KEY =>
        {
            Err(ReturnCode::KeyNotWrappable)
        }
        // RFC 3394 2: at least two half-blocks, and only whole ones.
        MechanismFamily::KeyWrap if len < 16 || !len.is_multiple_of(8) => Err(ReturnCode::KeySizeRange),
        _ => Ok(()),
    }
}

fn unwrapped_key(
    value: &[u8],
    class: ObjectClass,
    key_type: KeyTypeNumber,
    wanted_len: Option<u64>,
) -> Result<Key, ReturnCode> {
    let invalid = ReturnCode::WrappedKeyInvalid;
    if class == ObjectClass::PRIVATE_KEY {
        // Not only for a template that names ML-KEM or ML-DSA: the value says of which kind the key is.
        let key = on_deep_stack(|| import::pkcs8_der(value))?.map_err(|_| invalid)?;
        return if asymmetric_type(&key) == Some(key_type) { Ok(key) } else { Err(invalid) };
    }
    let fits = wanted_len.is_none_or(|wanted| wanted == value.len() as u64);
    if !fits || !is_secret_len(key_type, value.len()) {
        return Err(invalid);
    }
    raw::secret(value.to_vec()).map_err(|_| invalid)
}
