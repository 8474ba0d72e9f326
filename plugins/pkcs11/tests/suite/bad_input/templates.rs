//! Templates with an attribute twice, or with two that contradict each other, in every function that has one.

use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{
    P256, Template, aes_key, generate, generate_pair, no_peer, p256_pair, with_parameter,
};
use crate::common::raw::{RawModule, logged_in, plain};
use crate::common::{STORE, isolated};

/// The label of every object that must not be there.
const LABEL: &[u8] = b"must not be there";

/// A session with keys for every function that makes an object.
struct Maker<'m> {
    module: &'m RawModule,
    session: CK_SESSION_HANDLE,
    data: CK_OBJECT_HANDLE,
    unwrapping: CK_OBJECT_HANDLE,
    wrapped: [u8; 40],
    secret: CK_OBJECT_HANDLE,
    pair: (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE),
    ciphertext: [u8; 65],
}

impl<'m> Maker<'m> {
    fn new(module: &'m RawModule) -> Self {
        let session = logged_in(module);
        let unwrapping = aes_key(module, session, &[CKA_WRAP, CKA_UNWRAP]);
        let inner = aes_key(module, session, &[CKA_EXTRACTABLE]);
        let (mut wrapped, mut len, mut mechanism) = ([0; 40], 40, plain(CKM_AES_KEY_WRAP));
        let out = wrapped.as_mut_ptr();
        let done = call!(module, C_WrapKey, session, &mut mechanism, unwrapping, inner, out, &mut len);
        assert_eq!((done, len), (CKR_OK, 40));
        let secret = Template::default().number(CKA_VALUE_LEN, 32).flags(&[CKA_DERIVE, CKA_EXTRACTABLE]);
        let secret = secret.bytes(CKA_SENSITIVE, &[CK_FALSE]);
        let secret = generate(module, session, CKM_GENERIC_SECRET_KEY_GEN, secret).unwrap();
        let pair = p256_pair(module, session, &[CKA_ENCAPSULATE], &[CKA_DECAPSULATE]);
        let mut maker =
            Self { module, session, data: 0, unwrapping, wrapped, secret, pair, ciphertext: [0; 65] };
        maker.data = maker.create(Template::default().number(CKA_CLASS, CKO_DATA)).unwrap();
        let (mut out, key) = ([0; 65], secret_key());
        maker.encapsulate(key, &mut out).unwrap();
        maker.ciphertext = out;
        maker
    }

    fn create(&self, mut template: Template) -> Result<CK_OBJECT_HANDLE, CK_RV> {
        let (mut list, mut made) = (template.list(), 0);
        let count = list.len() as CK_ULONG;
        answer(call!(self.module, C_CreateObject, self.session, list.as_mut_ptr(), count, &mut made), made)
    }

    fn encapsulate(&self, mut template: Template, out: &mut [u8; 65]) -> Result<CK_OBJECT_HANDLE, CK_RV> {
        let parameters = no_peer();
        let (mechanism, mut list) = (&mut with_parameter(CKM_ECDH1_DERIVE, &parameters), template.list());
        let (list, count, mut len, mut key) = (list.as_mut_ptr(), list.len() as CK_ULONG, 65, 0);
        let (public, out) = (self.pair.0, out.as_mut_ptr());
        let done = call!(
            self.module,
            C_EncapsulateKey,
            self.session,
            mechanism,
            public,
            list,
            count,
            out,
            &mut len,
            &mut key
        );
        answer(done, key)
    }

    /// Calls every function that makes an object, with the attributes that it needs and these. Returns the answers.
    fn make_with(&self, more: &Template) -> Vec<(&'static str, Result<CK_OBJECT_HANDLE, CK_RV>)> {
        let Self { module, session, .. } = *self;
        let with = |base: Template| Template([base.0, more.0.clone()].concat());
        let mut answers = vec![
            (
                "C_CreateObject",
                self.create(with(secret_key().bytes(CKA_VALUE, &[1; 32]).without(CKA_VALUE_LEN))),
            ),
            ("C_GenerateKey", generate(module, session, CKM_AES_KEY_GEN, with(secret_key()).aes())),
            ("C_EncapsulateKey", self.encapsulate(with(secret_key()), &mut [0; 65])),
        ];
        let curve = Template::default().bytes(CKA_EC_PARAMS, &P256);
        let pair = |public, private| {
            generate_pair(module, session, CKM_EC_KEY_PAIR_GEN, public, private).map(|(public, _)| public)
        };
        let key_pair_more = Template(more.0.clone()).without_key_attributes();
        let both = |base: Template| Template([base.0, key_pair_more.0.clone()].concat());
        answers.push(("C_GenerateKeyPair, public", pair(both(curve.clone()), Template::default())));
        answers.push(("C_GenerateKeyPair, private", pair(curve, both(Template::default()))));

        let mut template = with(Template::default());
        let (mut list, mut made) = (template.list(), 0);
        let (pointer, count) = (list.as_mut_ptr(), list.len() as CK_ULONG);
        let copied = call!(module, C_CopyObject, session, self.data, pointer, count, &mut made);
        answers.push(("C_CopyObject", answer(copied, made)));

        let mut template = with(secret_key().without(CKA_VALUE_LEN)).aes();
        let (mut list, mut made) = (template.list(), 0);
        let (pointer, count) = (list.as_mut_ptr(), list.len() as CK_ULONG);
        let (wrapped, mechanism) = (self.wrapped.as_ptr().cast_mut(), &mut plain(CKM_AES_KEY_WRAP));
        let key = self.unwrapping;
        let done =
            call!(module, C_UnwrapKey, session, mechanism, key, wrapped, 40, pointer, count, &mut made);
        answers.push(("C_UnwrapKey", answer(done, made)));

        let mut template = with(secret_key());
        let (mut list, mut made, data) = (template.list(), 0, [5_u8; 32]);
        let (pointer, count) = (list.as_mut_ptr(), list.len() as CK_ULONG);
        let data = CK_KEY_DERIVATION_STRING_DATA { pData: data.as_ptr().cast_mut(), ulLen: 32 };
        let mechanism = &mut with_parameter(CKM_XOR_BASE_AND_DATA, &data);
        let done = call!(module, C_DeriveKey, session, mechanism, self.secret, pointer, count, &mut made);
        answers.push(("C_DeriveKey", answer(done, made)));

        let mut template = with(secret_key());
        let (mut list, mut made, parameters) = (template.list(), 0, no_peer());
        let (pointer, count) = (list.as_mut_ptr(), list.len() as CK_ULONG);
        let (private, ciphertext) = (self.pair.1, self.ciphertext.as_ptr().cast_mut());
        let mechanism = &mut with_parameter(CKM_ECDH1_DERIVE, &parameters);
        let done = call!(
            module,
            C_DecapsulateKey,
            session,
            mechanism,
            private,
            pointer,
            count,
            ciphertext,
            65,
            &mut made
        );
        answers.push(("C_DecapsulateKey", answer(done, made)));
        answers
    }
}

impl Template {
    fn without(mut self, kind: CK_ATTRIBUTE_TYPE) -> Self {
        self.0.retain(|(present, _)| *present != kind);
        self
    }

    /// Leaves out what only secret keys have.
    fn without_key_attributes(self) -> Self {
        self.without(CKA_CLASS).without(CKA_KEY_TYPE).without(CKA_VALUE_LEN)
    }

    /// Makes the type of the key AES.
    fn aes(self) -> Self {
        let value = CKK_AES.to_ne_bytes().to_vec();
        let entries = self.0.into_iter().map(|(kind, old)| match kind {
            CKA_KEY_TYPE if old == CKK_GENERIC_SECRET.to_ne_bytes() => (kind, value.clone()),
            _ => (kind, old),
        });
        Self(entries.collect())
    }
}

/// The attributes that functions for secret keys need.
fn secret_key() -> Template {
    Template::default()
        .number(CKA_CLASS, CKO_SECRET_KEY)
        .number(CKA_KEY_TYPE, CKK_GENERIC_SECRET)
        .number(CKA_VALUE_LEN, 32)
}

fn answer(code: CK_RV, made: CK_OBJECT_HANDLE) -> Result<CK_OBJECT_HANDLE, CK_RV> {
    if code == CKR_OK { Ok(made) } else { Err(code) }
}

#[test]
fn an_attribute_twice_makes_nothing_in_any_function() {
    isolated(
        "bad_input::templates::an_attribute_twice_makes_nothing_in_any_function",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let maker = Maker::new(&module);
            let label = || Template::default().bytes(CKA_LABEL, LABEL);
            // Each function makes an object without the fault.
            for (function, made) in maker.make_with(&Template::default().bytes(CKA_LABEL, b"good")) {
                assert!(made.is_ok(), "{function}: {made:x?}");
            }
            for doubled in [
                label().bytes(CKA_LABEL, LABEL),
                label().bytes(CKA_LABEL, b"another"),
                label().bytes(CKA_TOKEN, &[CK_TRUE]).bytes(CKA_TOKEN, &[CK_FALSE]),
                label().bytes(CKA_PRIVATE, &[CK_TRUE]).bytes(CKA_PRIVATE, &[CK_TRUE]),
            ] {
                for (function, made) in maker.make_with(&doubled) {
                    assert_eq!(made, Err(CKR_TEMPLATE_INCONSISTENT), "{function}: {:?}", doubled.0);
                }
            }
            let session = maker.session;
            let mut template = label().bytes(CKA_LABEL, b"another");
            let mut list = template.list();
            let set = call!(module, C_SetAttributeValue, session, maker.data, list.as_mut_ptr(), 2);
            assert_eq!(set, CKR_TEMPLATE_INCONSISTENT);
            assert_nothing_was_made(&module, session);
        },
    );
}

/// A class or type that the function does not make, and attributes that the object cannot have.
#[test]
fn a_contradiction_makes_nothing_in_any_function() {
    isolated(
        "bad_input::templates::a_contradiction_makes_nothing_in_any_function",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let maker = Maker::new(&module);
            let label = || Template::default().bytes(CKA_LABEL, LABEL);
            for wrong in [
                label().bytes(CKA_MODULUS, &[1; 256]),
                label().bytes(CKA_LOCAL, &[CK_TRUE]),
                label().bytes(CKA_UNIQUE_ID, b"mine"),
                label().bytes(CKA_KEY_GEN_MECHANISM, &CKM_AES_KEY_GEN.to_ne_bytes()),
            ] {
                for (function, made) in maker.make_with(&wrong) {
                    let refused = [
                        CKR_TEMPLATE_INCONSISTENT,
                        CKR_ATTRIBUTE_TYPE_INVALID,
                        CKR_ATTRIBUTE_READ_ONLY,
                        CKR_ATTRIBUTE_VALUE_INVALID,
                    ];
                    let is_refused = made.is_err_and(|code| refused.contains(&code));
                    assert!(is_refused, "{function}: {:?}: {made:x?}", wrong.0);
                }
            }
            assert_nothing_was_made(&module, maker.session);
        },
    );
}

fn assert_nothing_was_made(module: &RawModule, session: CK_SESSION_HANDLE) {
    let mut template = Template::default().bytes(CKA_LABEL, LABEL);
    let (mut list, mut found, mut count) = (template.list(), 0, 0);
    assert_eq!(call!(module, C_FindObjectsInit, session, list.as_mut_ptr(), 1), CKR_OK);
    assert_eq!(call!(module, C_FindObjects, session, &mut found, 1, &mut count), CKR_OK);
    assert_eq!(count, 0);
    assert_eq!(call!(module, C_FindObjectsFinal, session), CKR_OK);
    // The pointer of the list is valid, and a list of no attributes finds everything that is there.
    assert_eq!(call!(module, C_FindObjectsInit, session, null_mut(), 0), CKR_OK);
    assert_eq!(call!(module, C_FindObjects, session, &mut found, 1, &mut count), CKR_OK);
    assert_eq!(count, 1);
    assert_eq!(call!(module, C_FindObjectsFinal, session), CKR_OK);
}
