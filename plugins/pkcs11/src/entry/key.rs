//! Key management and random bytes.

use cryptoki_sys::{CK_ATTRIBUTE, CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
use oarlock_cryptoki::ReturnCode;

use super::asynchronous::CallInSession;
use super::functions;
use super::object::object_handle;
use super::session::{in_session, session_handle};
use crate::library;

functions! { memory:
    fn C_GenerateKey(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        key: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            if key.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let template = memory.template(template, count)?;
            let call = CallInSession { memory, library, session, function: "C_GenerateKey" };
            let new = call.plain(|handle| library.cryptoki.generate_key(handle, &mechanism, &template.entries()))?;
            memory.write(key, new.0 as CK_OBJECT_HANDLE)
        })
    }

    fn C_GenerateKeyPair(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        public_template: *mut CK_ATTRIBUTE,
        public_count: CK_ULONG,
        private_template: *mut CK_ATTRIBUTE,
        private_count: CK_ULONG,
        public_key: *mut CK_OBJECT_HANDLE,
        private_key: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            if public_key.is_null() || private_key.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let public = memory.template(public_template, public_count)?;
            let private = memory.template(private_template, private_count)?;
            let call = CallInSession { memory, library, session, function: "C_GenerateKeyPair" };
            let generate = |handle| library.cryptoki.generate_key_pair(handle, &mechanism, &public.entries(), &private.entries());
            let (public, private) = call.plain(generate)?;
            memory.write(public_key, public.0 as CK_OBJECT_HANDLE)?;
            memory.write(private_key, private.0 as CK_OBJECT_HANDLE)
        })
    }

    fn C_WrapKey(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        wrapping_key: CK_OBJECT_HANDLE,
        key: CK_OBJECT_HANDLE,
        wrapped: *mut CK_BYTE,
        wrapped_len: *mut CK_ULONG,
    ) {
        library::with(|library| {
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let (wrapping_key, key) = (object_handle(wrapping_key), object_handle(key));
            let call = CallInSession { memory, library, session, function: "C_WrapKey" };
            call.output(wrapped, wrapped_len, |handle, out| {
                library.cryptoki.wrap_key(handle, &mechanism, wrapping_key, key, out)
            })
        })
    }

    fn C_UnwrapKey(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        unwrapping_key: CK_OBJECT_HANDLE,
        wrapped: *mut CK_BYTE,
        wrapped_len: CK_ULONG,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        key: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            if key.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let wrapped = memory.bytes(wrapped, wrapped_len)?;
            let template = memory.template(template, count)?;
            let unwrapping_key = object_handle(unwrapping_key);
            let call = CallInSession { memory, library, session, function: "C_UnwrapKey" };
            let new = call.plain(|handle| {
                library.cryptoki.unwrap_key(handle, &mechanism, unwrapping_key, wrapped, &template.entries())
            })?;
            memory.write(key, new.0 as CK_OBJECT_HANDLE)
        })
    }

    fn C_DeriveKey(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        base: CK_OBJECT_HANDLE,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        key: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            if key.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let template = memory.template(template, count)?;
            let base = object_handle(base);
            let call = CallInSession { memory, library, session, function: "C_DeriveKey" };
            let new = call.plain(|handle| library.cryptoki.derive_key(handle, &mechanism, base, &template.entries()))?;
            memory.write(key, new.0 as CK_OBJECT_HANDLE)
        })
    }

    fn C_EncapsulateKey(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        public_key: CK_OBJECT_HANDLE,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        ciphertext: *mut CK_BYTE,
        ciphertext_len: *mut CK_ULONG,
        key: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            // A call for the length makes no key.
            if key.is_null() && !ciphertext.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let template = memory.template(template, count)?;
            let public_key = object_handle(public_key);
            let call = CallInSession { memory, library, session, function: "C_EncapsulateKey" };
            let mut new = None;
            call.output(ciphertext, ciphertext_len, |handle, out| {
                new = library.cryptoki.encapsulate_key(handle, &mechanism, public_key, &template.entries(), out)?;
                Ok(())
            })?;
            new.map_or(Ok(()), |new| memory.write(key, new.0 as CK_OBJECT_HANDLE))
        })
    }

    fn C_DecapsulateKey(
        session: CK_SESSION_HANDLE,
        mechanism: *mut CK_MECHANISM,
        private_key: CK_OBJECT_HANDLE,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        ciphertext: *mut CK_BYTE,
        ciphertext_len: CK_ULONG,
        key: *mut CK_OBJECT_HANDLE,
    ) {
        library::with(|library| {
            if key.is_null() {
                return Err(ReturnCode::ArgumentsBad);
            }
            let mechanism = in_session(library, session, memory.mechanism(mechanism))?;
            let template = memory.template(template, count)?;
            let ciphertext = memory.bytes(ciphertext, ciphertext_len)?;
            let private_key = object_handle(private_key);
            let call = CallInSession { memory, library, session, function: "C_DecapsulateKey" };
            let new = call.plain(|handle| {
                library.cryptoki.decapsulate_key(handle, &mechanism, private_key, &template.entries(), ciphertext)
            })?;
            memory.write(key, new.0 as CK_OBJECT_HANDLE)
        })
    }

    fn C_SeedRandom(session: CK_SESSION_HANDLE, seed: *mut CK_BYTE, seed_len: CK_ULONG) {
        library::with(|library| {
            let seed = memory.bytes(seed, seed_len)?;
            library.cryptoki.seed_random(session_handle(session), seed)
        })
    }

    fn C_GenerateRandom(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: CK_ULONG) {
        library::with(|library| {
            let out = memory.buffer(out, out_len)?;
            library.cryptoki.generate_random(session_handle(session), out)
        })
    }
}
