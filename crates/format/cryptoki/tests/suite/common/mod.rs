//! A token in memory, and short forms of templates.

pub(crate) mod watched_token;

use std::sync::{Arc, OnceLock};

use oarlock::Accelerator;
use oarlock_cryptoki::{
    AttributeQuery, AttributeType as A, CallOutput, Cryptoki, KeyTypeNumber, Mechanism, MechanismType,
    MemoryToken, ObjectClass, ObjectHandle, ReturnCode, SessionHandle, SlotId, SlotSettings, TemplateEntry,
    UserType, session_flags,
};

pub(crate) const SO_PIN: &[u8] = b"officer's pin";
pub(crate) const USER_PIN: &[u8] = b"user's pin";
pub(crate) const SLOT: SlotId = SlotId(7);
pub(crate) const READ_ONLY: u64 = session_flags::SERIAL_SESSION;
pub(crate) const READ_WRITE: u64 = session_flags::SERIAL_SESSION | session_flags::RW_SESSION;
pub(crate) const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
pub(crate) const P384: &[u8] = &[6, 5, 0x2b, 0x81, 4, 0, 0x22];
pub(crate) const ED25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];
pub(crate) const X25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x6e];

/// A session of the user, and the library around it.
pub(crate) struct User {
    pub(crate) cryptoki: Cryptoki,
    pub(crate) session: SessionHandle,
    pub(crate) token: Arc<MemoryToken>,
}

/// An owned template.
#[derive(Clone, Default)]
pub(crate) struct Template(Vec<(A, Vec<u8>)>);

impl Template {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn class(class: ObjectClass) -> Self {
        Self::new().number(A::CLASS, class.0)
    }

    /// A secret key from its value.
    pub(crate) fn secret(key_type: KeyTypeNumber, value: &[u8]) -> Self {
        Self::class(ObjectClass::SECRET_KEY).number(A::KEY_TYPE, key_type.0).bytes(A::VALUE, value)
    }

    pub(crate) fn bytes(mut self, kind: A, value: &[u8]) -> Self {
        self.0.push((kind, value.to_vec()));
        self
    }

    pub(crate) fn number(self, kind: A, value: u64) -> Self {
        self.bytes(kind, &usize::try_from(value).unwrap().to_ne_bytes())
    }

    pub(crate) fn flag(self, kind: A, value: bool) -> Self {
        self.bytes(kind, &[u8::from(value)])
    }

    pub(crate) fn readable(self) -> Self {
        self.flag(A::SENSITIVE, false).flag(A::EXTRACTABLE, true)
    }

    pub(crate) fn entries(&self) -> Vec<TemplateEntry<'_>> {
        self.0.iter().map(|(kind, value)| TemplateEntry::new(*kind, value)).collect()
    }
}

pub(crate) fn accelerator() -> Accelerator {
    static SHARED: OnceLock<Accelerator> = OnceLock::new();
    SHARED.get_or_init(|| Accelerator::builder().engines(["scalar"]).lazy().build().unwrap()).clone()
}

impl User {
    /// A logged-in user on a strict token.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut SlotSettings)) -> Self {
        let user = Self::logged_out(change);
        user.cryptoki.login(user.session, UserType::User, Some(USER_PIN)).unwrap();
        user
    }

    pub(crate) fn logged_out(change: impl FnOnce(&mut SlotSettings)) -> Self {
        let token = Arc::new(MemoryToken::initialized("a token", SO_PIN, USER_PIN));
        let mut settings = SlotSettings::new(SLOT, "a slot", token.clone());
        change(&mut settings);
        let cryptoki = Cryptoki::new(accelerator(), vec![settings]);
        let session = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
        Self { cryptoki, session, token }
    }

    /// A logged-in user whose operations go to one accelerator, and no other test's do.
    pub(crate) fn on(accelerator: Accelerator) -> Self {
        let token = Arc::new(MemoryToken::initialized("a token", SO_PIN, USER_PIN));
        let settings = SlotSettings::new(SLOT, "a slot", token.clone());
        let cryptoki = Cryptoki::new(accelerator, vec![settings]);
        let session = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
        cryptoki.login(session, UserType::User, Some(USER_PIN)).unwrap();
        Self { cryptoki, session, token }
    }

    /// Another library that reads the same token, with the user logged in.
    pub(crate) fn reopened(&self) -> Self {
        let settings = SlotSettings::new(SLOT, "a slot", self.token.clone());
        let cryptoki = Cryptoki::new(accelerator(), vec![settings]);
        let session = cryptoki.open_session(SLOT, READ_WRITE).unwrap();
        cryptoki.login(session, UserType::User, Some(USER_PIN)).unwrap();
        Self { cryptoki, session, token: self.token.clone() }
    }

    pub(crate) fn create(&self, template: &Template) -> Result<ObjectHandle, ReturnCode> {
        self.cryptoki.create_object(self.session, &template.entries())
    }

    pub(crate) fn generate(
        &self,
        kind: MechanismType,
        template: &Template,
    ) -> Result<ObjectHandle, ReturnCode> {
        self.cryptoki.generate_key(self.session, &Mechanism::plain(kind), &template.entries())
    }

    pub(crate) fn pair(
        &self,
        kind: MechanismType,
        public: &Template,
        private: &Template,
    ) -> Result<(ObjectHandle, ObjectHandle), ReturnCode> {
        let mechanism = Mechanism::plain(kind);
        self.cryptoki.generate_key_pair(self.session, &mechanism, &public.entries(), &private.entries())
    }

    pub(crate) fn get(&self, object: ObjectHandle, kind: A) -> Result<Vec<u8>, ReturnCode> {
        let mut queries = [AttributeQuery::length_only(kind)];
        self.cryptoki.get_attribute_value(self.session, object, &mut queries)?;
        let mut value = vec![0; queries[0].len.unwrap()];
        let mut queries = [AttributeQuery::new(kind, &mut value)];
        self.cryptoki.get_attribute_value(self.session, object, &mut queries)?;
        Ok(value)
    }

    pub(crate) fn is_true(&self, object: ObjectHandle, kind: A) -> bool {
        self.get(object, kind).unwrap() == [1]
    }

    pub(crate) fn set(&self, object: ObjectHandle, template: &Template) -> Result<(), ReturnCode> {
        self.cryptoki.set_attribute_value(self.session, object, &template.entries())
    }

    pub(crate) fn find(&self, template: &Template) -> Vec<ObjectHandle> {
        find(&self.cryptoki, self.session, template)
    }

    pub(crate) fn sign(
        &self,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        data: &[u8],
    ) -> Result<Vec<u8>, ReturnCode> {
        self.cryptoki.sign_init(self.session, mechanism, key)?;
        take(|output| self.cryptoki.sign(self.session, data, output))
    }

    pub(crate) fn verify(
        &self,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        data: &[u8],
        signature: &[u8],
    ) -> Result<(), ReturnCode> {
        self.cryptoki.verify_init(self.session, mechanism, key)?;
        self.cryptoki.verify(self.session, data, signature)
    }

    pub(crate) fn encrypt(
        &self,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        data: &[u8],
    ) -> Result<Vec<u8>, ReturnCode> {
        self.cryptoki.encrypt_init(self.session, mechanism, key)?;
        take(|output| self.cryptoki.encrypt(self.session, data, output))
    }

    pub(crate) fn decrypt(
        &self,
        mechanism: &Mechanism<'_>,
        key: ObjectHandle,
        data: &[u8],
    ) -> Result<Vec<u8>, ReturnCode> {
        self.cryptoki.decrypt_init(self.session, mechanism, key)?;
        take(|output| self.cryptoki.decrypt(self.session, data, output))
    }
}

pub(crate) fn find(cryptoki: &Cryptoki, session: SessionHandle, template: &Template) -> Vec<ObjectHandle> {
    cryptoki.find_objects_init(session, &template.entries()).unwrap();
    let mut found = Vec::new();
    loop {
        // Two at a time, so that a search takes several calls.
        let mut some = [ObjectHandle(0); 2];
        let count = cryptoki.find_objects(session, &mut some).unwrap();
        found.extend_from_slice(&some[..count]);
        if count == 0 {
            cryptoki.find_objects_final(session).unwrap();
            return found;
        }
    }
}

/// Asks for the length, tries a buffer one byte short, and then takes the output.
pub(crate) fn take(
    mut call: impl FnMut(&mut CallOutput<'_>) -> Result<(), ReturnCode>,
) -> Result<Vec<u8>, ReturnCode> {
    let mut output = CallOutput::length_only();
    call(&mut output)?;
    let max = output.len();
    let mut buffer = vec![0xAA; max];
    if let Some(short) = max.checked_sub(1) {
        let mut output = CallOutput::new(&mut buffer[..short]);
        match call(&mut output) {
            Err(ReturnCode::BufferTooSmall) => assert!(output.len() > short),
            // Only an output whose length depends on the content may fit.
            Ok(()) => {
                let len = output.len();
                assert!(len <= short);
                buffer.truncate(len);
                return Ok(buffer);
            }
            Err(code) => return Err(code),
        }
    }
    let mut output = CallOutput::new(&mut buffer);
    call(&mut output)?;
    let len = output.len();
    buffer.truncate(len);
    Ok(buffer)
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}
