//! A token with keys and objects, made by the functions of the standard.

use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::module::LoadedModule;
use crate::must;

const SO_PIN: &[u8] = b"so-pin-1";
const USER_PIN: &[u8] = b"user-pin";

/// `prime256v1` in DER.
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

/// The token of a module, and a session in which the user is logged in.
#[derive(Clone, Copy)]
pub(crate) struct BenchToken {
    pub(crate) slot: CK_SLOT_ID,
    pub(crate) session: CK_SESSION_HANDLE,
}

/// The attributes of a template: a type and its bytes each.
struct Template(Vec<(CK_ATTRIBUTE_TYPE, Vec<u8>)>);

impl Template {
    fn new(class: CK_OBJECT_CLASS, label: &str) -> Self {
        Self(Vec::new())
            .number(CKA_CLASS, class)
            .flag(CKA_TOKEN, true)
            .bytes(CKA_LABEL, label.as_bytes())
            .bytes(CKA_ID, label.as_bytes())
    }

    fn number(self, kind: CK_ATTRIBUTE_TYPE, value: CK_ULONG) -> Self {
        self.bytes(kind, &value.to_ne_bytes())
    }

    fn flag(self, kind: CK_ATTRIBUTE_TYPE, value: bool) -> Self {
        self.bytes(kind, &[u8::from(value)])
    }

    fn bytes(mut self, kind: CK_ATTRIBUTE_TYPE, value: &[u8]) -> Self {
        self.0.push((kind, value.to_vec()));
        self
    }

    fn attributes(&mut self) -> Vec<CK_ATTRIBUTE> {
        self.0.iter_mut().map(|(kind, value)| attribute(*kind, value)).collect()
    }
}

impl BenchToken {
    /// Makes a token in the first slot, which must have none, with keys.
    pub(crate) fn create(module: &LoadedModule) -> Self {
        let table = module.table;
        let slot = first_slot(module);
        let mut found = CK_TOKEN_INFO::default();
        must!(table, C_GetTokenInfo, slot, &mut found);
        assert!(
            found.flags & CKF_TOKEN_INITIALIZED == 0,
            "the module has a token already, which stays as it is"
        );
        let (pin, len) = (SO_PIN.as_ptr().cast_mut(), SO_PIN.len() as CK_ULONG);
        let mut label = *b"bench                           ";
        must!(table, C_InitToken, slot, pin, len, label.as_mut_ptr());
        // SoftHSM gives a new token another number.
        let slot = first_slot(module);
        let session = open_session(module, slot, CKF_RW_SESSION);
        must!(table, C_Login, session, CKU_SO, pin, len);
        let (user_pin, user_len) = (USER_PIN.as_ptr().cast_mut(), USER_PIN.len() as CK_ULONG);
        must!(table, C_InitPIN, session, user_pin, user_len);
        must!(table, C_CloseAllSessions, slot);
        let token = Self::open(module);
        token.make_keys(module);
        token
    }

    /// Logs in to the token in the first slot. A server's token wants no login and may not be there yet.
    pub(crate) fn open(module: &LoadedModule) -> Self {
        let slot = first_slot(module);
        let mut found = CK_TOKEN_INFO::default();
        must!(module.table, C_GetTokenInfo, slot, &mut found);
        let is_protected = found.flags & CKF_WRITE_PROTECTED != 0;
        let session = open_session(module, slot, if is_protected { 0 } else { CKF_RW_SESSION });
        if !is_protected {
            let (pin, len) = (USER_PIN.as_ptr().cast_mut(), USER_PIN.len() as CK_ULONG);
            must!(module.table, C_Login, session, CKU_USER, pin, len);
        }
        Self { slot, session }
    }

    fn make_keys(self, module: &LoadedModule) {
        let public = |label| Template::new(CKO_PUBLIC_KEY, label).flag(CKA_VERIFY, true);
        let rsa = public("rsa").number(CKA_MODULUS_BITS, 2048).bytes(CKA_PUBLIC_EXPONENT, &[1, 0, 1]);
        self.make_pair(module, CKM_RSA_PKCS_KEY_PAIR_GEN, rsa, "rsa");
        self.make_pair(module, CKM_EC_KEY_PAIR_GEN, public("p256").bytes(CKA_EC_PARAMS, P256), "p256");
        let secret = |label, kind, len| {
            let value = vec![7; len];
            Template::new(CKO_SECRET_KEY, label).number(CKA_KEY_TYPE, kind).bytes(CKA_VALUE, &value)
        };
        let hmac = secret("hmac", CKK_GENERIC_SECRET, 32).flag(CKA_SIGN, true);
        let aes = secret("aes", CKK_AES, 16).flag(CKA_ENCRYPT, true);
        for template in [hmac, aes] {
            self.create_object(module, template.flag(CKA_PRIVATE, true));
        }
    }

    fn make_pair(self, module: &LoadedModule, kind: CK_MECHANISM_TYPE, mut public: Template, label: &str) {
        let mut private = Template::new(CKO_PRIVATE_KEY, label)
            .flag(CKA_PRIVATE, true)
            .flag(CKA_SIGN, true)
            .flag(CKA_SENSITIVE, true);
        let (mut public, mut private) = (public.attributes(), private.attributes());
        let mut mechanism = crate::module::mechanism(kind, &mut []);
        let (mut first, mut second) = (0, 0);
        must!(
            module.table,
            C_GenerateKeyPair,
            self.session,
            &mut mechanism,
            public.as_mut_ptr(),
            public.len() as CK_ULONG,
            private.as_mut_ptr(),
            private.len() as CK_ULONG,
            &mut first,
            &mut second,
        );
    }

    /// Creates a public key that every application sees. Its point is that of the key `p256`.
    pub(crate) fn create_public_key(self, module: &LoadedModule, number: usize, point: &[u8]) {
        let template = Template::new(CKO_PUBLIC_KEY, &object_name(number))
            .number(CKA_KEY_TYPE, CKK_EC)
            .flag(CKA_PRIVATE, false)
            .bytes(CKA_EC_PARAMS, P256)
            .bytes(CKA_EC_POINT, point);
        self.create_object(module, template);
    }

    /// Returns the point of the key `p256`, in DER.
    pub(crate) fn point(self, module: &LoadedModule) -> Vec<u8> {
        let key = find_key(module, self.session, CKO_PUBLIC_KEY, "p256");
        let mut point = vec![0; 100];
        let mut attribute = attribute(CKA_EC_POINT, &mut point);
        must!(module.table, C_GetAttributeValue, self.session, key, &mut attribute, 1);
        point.truncate(attribute.ulValueLen as usize);
        point
    }

    fn create_object(self, module: &LoadedModule, mut template: Template) {
        let mut attributes = template.attributes();
        let mut object = 0;
        let count = attributes.len() as CK_ULONG;
        must!(module.table, C_CreateObject, self.session, attributes.as_mut_ptr(), count, &mut object);
    }
}

/// Returns an attribute with a value.
pub(crate) fn attribute(kind: CK_ATTRIBUTE_TYPE, value: &mut [u8]) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE { type_: kind, pValue: value.as_mut_ptr().cast(), ulValueLen: value.len() as CK_ULONG }
}

/// Returns the label of a numbered object, which is also its id.
pub(crate) fn object_name(number: usize) -> String {
    format!("object {number:05}")
}

/// Opens a session.
pub(crate) fn open_session(module: &LoadedModule, slot: CK_SLOT_ID, flags: CK_FLAGS) -> CK_SESSION_HANDLE {
    let mut session = 0;
    must!(module.table, C_OpenSession, slot, CKF_SERIAL_SESSION | flags, null_mut(), None, &mut session);
    session
}

/// Finds the object with some attributes.
pub(crate) fn find(
    module: &LoadedModule,
    session: CK_SESSION_HANDLE,
    attributes: &mut [CK_ATTRIBUTE],
) -> CK_OBJECT_HANDLE {
    let (mut object, mut count) = (0, 0);
    must!(module.table, C_FindObjectsInit, session, attributes.as_mut_ptr(), attributes.len() as CK_ULONG);
    must!(module.table, C_FindObjects, session, &mut object, 1, &mut count);
    must!(module.table, C_FindObjectsFinal, session);
    assert_eq!(count, 1, "the object is not there");
    object
}

/// Finds a key by class and label.
pub(crate) fn find_key(
    module: &LoadedModule,
    session: CK_SESSION_HANDLE,
    class: CK_OBJECT_CLASS,
    label: &str,
) -> CK_OBJECT_HANDLE {
    let mut template = Template(Vec::new()).number(CKA_CLASS, class).bytes(CKA_LABEL, label.as_bytes());
    find(module, session, &mut template.attributes())
}

/// Returns the first slot with a token, after waiting for one if there is none.
fn first_slot(module: &LoadedModule) -> CK_SLOT_ID {
    loop {
        let (mut slots, mut count) = ([0; 64], 64);
        must!(module.table, C_GetSlotList, 1, slots.as_mut_ptr(), &mut count);
        if count > 0 {
            return slots[0];
        }
        // The slot of a store has a token only after C_InitToken.
        count = 64;
        must!(module.table, C_GetSlotList, 0, slots.as_mut_ptr(), &mut count);
        let mut info = CK_SLOT_INFO::default();
        must!(module.table, C_GetSlotInfo, slots[0], &mut info);
        if info.flags & CKF_REMOVABLE_DEVICE == 0 {
            return slots[0];
        }
        let mut changed = 0;
        must!(module.table, C_WaitForSlotEvent, 0, &mut changed, null_mut());
    }
}
