//! The contender that is a module: its operations.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::ptr::null_mut;

use cryptoki_sys::*;
use rustix::event::{PollFd, PollFlags, poll};

use crate::meter::{Turn, TurnLength, WorkClock, repeat};
use crate::module::{LoadedModule, VendorOutputs, inputs, mechanism};
use crate::plan::{BenchRow, BenchTask, SigningKey};
use crate::token::{BenchToken, attribute, find, find_key, object_name, open_session};
use crate::{call_function, must};

/// A message, which is also as long as a digest for P-256.
pub(crate) const MESSAGE: &[u8] = &[5; 32];
/// The bytes of a block of AES.
pub(crate) const BLOCK: usize = 16;
/// The space of a signature.
const SIGNATURE: usize = 256;
/// The number of calls between two looks at the clock, for calls that last less than a microsecond.
const SHORT_CALLS: u64 = 64;

pub(crate) struct ModuleSigner {
    module: &'static LoadedModule,
    token: Option<BenchToken>,
    objects: usize,
}

/// A session with an active key.
struct KeySession {
    module: &'static LoadedModule,
    session: CK_SESSION_HANDLE,
    key: CK_OBJECT_HANDLE,
    mechanism: CK_MECHANISM_TYPE,
}

/// An asynchronous session with a signature in flight.
struct AsyncSession {
    keys: KeySession,
    table: &'static CK_FUNCTION_LIST_3_2,
    descriptor: BorrowedFd<'static>,
    signature: [u8; SIGNATURE],
    len: CK_ULONG,
}

impl ModuleSigner {
    pub(crate) fn load(path: &Path) -> Self {
        Self { module: Box::leak(Box::new(LoadedModule::load(path))), token: None, objects: 0 }
    }

    /// Makes the token with its keys and objects. Returns the turn of the objects.
    pub(crate) fn prepare(&mut self, objects: usize) -> Turn {
        self.token = Some(BenchToken::create(self.module));
        self.create_objects(objects)
    }

    /// Logs in to the token.
    pub(crate) fn open(&mut self) -> Turn {
        self.token = Some(BenchToken::open(self.module));
        WorkClock::start().stop(0)
    }

    pub(crate) fn create_objects(&mut self, objects: usize) -> Turn {
        let token = self.token();
        let point = token.point(self.module);
        let clock = WorkClock::start();
        for number in self.objects..self.objects + objects {
            token.create_public_key(self.module, number, &point);
        }
        self.objects += objects;
        clock.stop(objects as u64)
    }

    pub(crate) fn run(&mut self, row: &BenchRow, threads: usize, length: TurnLength) -> Turn {
        let session = self.token().session;
        match row.task {
            BenchTask::Sign(key) => {
                let calls = if key == SigningKey::Hmac { SHORT_CALLS } else { 1 };
                let sessions: Vec<_> = (0..threads).map(|_| self.key_session(key, 0)).collect();
                let mut steps: Vec<_> =
                    sessions.iter().map(|session| || (0..calls).map(|_| session.sign()).sum()).collect();
                let turn = repeat(length, &mut steps);
                sessions.into_iter().for_each(KeySession::close);
                turn
            }
            BenchTask::SignMany(key) => {
                let keys = self.key_session(key, 0);
                let data = MESSAGE.repeat(row.batch);
                let mut output = OutputMemory::new(row.batch, SIGNATURE);
                let turn = repeat(length, &mut [|| keys.sign_many(&data, &mut output)]);
                keys.close();
                turn
            }
            BenchTask::SignAsync(key) => self.sign_async(key, row.batch, length),
            BenchTask::OpenClose => {
                let open_close = || {
                    let opened = open_session(self.module, self.token().slot, 0);
                    must!(self.module.table, C_CloseSession, opened);
                };
                repeat(
                    length,
                    &mut [|| {
                        (0..SHORT_CALLS).for_each(|_| open_close());
                        SHORT_CALLS
                    }],
                )
            }
            BenchTask::FindById => self.find_each(session, CKA_ID, length),
            BenchTask::FindByLabel => self.find_each(session, CKA_LABEL, length),
            BenchTask::Create => self.create_objects(row.batch),
            BenchTask::EncryptBlocks => {
                let key = find_key(self.module, session, CKO_SECRET_KEY, "aes");
                let data = vec![7; BLOCK * row.batch];
                match self.module.vendor {
                    Some(_) => {
                        let mut output = OutputMemory::new(row.batch, BLOCK);
                        repeat(length, &mut [|| self.encrypt_many(key, &data, &mut output)])
                    }
                    None => repeat(length, &mut [|| self.encrypt_each(key, &data)]),
                }
            }
        }
    }

    fn token(&self) -> BenchToken {
        self.token.unwrap_or_else(|| panic!("nobody has prepared a token"))
    }

    fn key_session(&self, key: SigningKey, flags: CK_FLAGS) -> KeySession {
        let (class, label, mechanism) = match key {
            SigningKey::Rsa2048 => (CKO_PRIVATE_KEY, "rsa", CKM_SHA256_RSA_PKCS),
            SigningKey::P256 => (CKO_PRIVATE_KEY, "p256", CKM_ECDSA),
            SigningKey::Hmac => (CKO_SECRET_KEY, "hmac", CKM_SHA256_HMAC),
        };
        let session = open_session(self.module, self.token().slot, flags);
        let key = find_key(self.module, session, class, label);
        KeySession { module: self.module, session, key, mechanism }
    }

    /// Keeps a signature in flight in each session, with one thread that polls all of them.
    fn sign_async(&self, key: SigningKey, count: usize, length: TurnLength) -> Turn {
        let mut sessions: Vec<_> =
            (0..count).map(|_| AsyncSession::new(self.key_session(key, CKF_ASYNC_SESSION))).collect();
        sessions.iter_mut().for_each(AsyncSession::begin);
        let turn = repeat(
            length,
            &mut [|| {
                let mut polled: Vec<_> =
                    sessions.iter().map(|one| PollFd::new(&one.descriptor, PollFlags::IN)).collect();
                poll(&mut polled, None).unwrap();
                let ready: Vec<bool> =
                    polled.iter().map(|one| one.revents().contains(PollFlags::IN)).collect();
                let mut completed = 0;
                for (session, _) in sessions.iter_mut().zip(ready).filter(|(_, is_ready)| *is_ready) {
                    if session.complete() {
                        session.begin();
                        completed += 1;
                    }
                }
                completed
            }],
        );
        for session in sessions {
            session.keys.close();
        }
        turn
    }

    /// Finds one object after the other by an attribute that all of them have.
    fn find_each(&self, session: CK_SESSION_HANDLE, kind: CK_ATTRIBUTE_TYPE, length: TurnLength) -> Turn {
        let mut number = 0;
        repeat(
            length,
            &mut [|| {
                for _ in 0..SHORT_CALLS {
                    // A step that visits all objects, and not in their order.
                    number = (number + 7919) % self.objects;
                    let mut name = object_name(number).into_bytes();
                    find(self.module, session, &mut [attribute(kind, &mut name)]);
                }
                SHORT_CALLS
            }],
        )
    }

    fn encrypt_many(&self, key: CK_OBJECT_HANDLE, data: &[u8], output: &mut OutputMemory) -> u64 {
        let mut iv = [0; BLOCK];
        let mut mechanism = mechanism(CKM_AES_CBC, &mut iv);
        let (inputs, outputs) = (inputs(data, BLOCK), output.lend());
        let session = self.token().session;
        must!(
            self.module.vendor.unwrap(),
            O_EncryptMany,
            session,
            &mut mechanism,
            key,
            &inputs,
            std::ptr::null(),
            0,
            &outputs
        );
        output.check()
    }

    fn encrypt_each(&self, key: CK_OBJECT_HANDLE, data: &[u8]) -> u64 {
        let session = self.token().session;
        for block in data.chunks(BLOCK).take(SHORT_CALLS as usize) {
            let (mut iv, mut output, mut len) = ([0; BLOCK], [0_u8; BLOCK], BLOCK as CK_ULONG);
            let mut mechanism = mechanism(CKM_AES_CBC, &mut iv);
            must!(self.module.table, C_EncryptInit, session, &mut mechanism, key);
            let input = block.as_ptr().cast_mut();
            must!(self.module.table, C_Encrypt, session, input, len, output.as_mut_ptr(), &mut len);
        }
        SHORT_CALLS
    }
}

impl KeySession {
    fn sign(&self) -> u64 {
        let mut mechanism = mechanism(self.mechanism, &mut []);
        let (mut signature, mut len) = ([0_u8; SIGNATURE], SIGNATURE as CK_ULONG);
        let (message, message_len) = (MESSAGE.as_ptr().cast_mut(), MESSAGE.len() as CK_ULONG);
        must!(self.module.table, C_SignInit, self.session, &mut mechanism, self.key);
        must!(
            self.module.table,
            C_Sign,
            self.session,
            message,
            message_len,
            signature.as_mut_ptr(),
            &mut len
        );
        1
    }

    fn sign_many(&self, data: &[u8], output: &mut OutputMemory) -> u64 {
        let mut mechanism = mechanism(self.mechanism, &mut []);
        let (inputs, outputs) = (inputs(data, MESSAGE.len()), output.lend());
        let vendor = self.module.vendor.unwrap();
        if self.mechanism == CKM_SHA256_HMAC {
            must!(vendor, O_MacMany, self.session, &mut mechanism, self.key, &inputs, &outputs);
        } else {
            must!(vendor, O_SignMany, self.session, &mut mechanism, self.key, &inputs, &outputs);
        }
        output.check()
    }

    fn close(self) {
        must!(self.module.table, C_CloseSession, self.session);
    }
}

impl AsyncSession {
    fn new(keys: KeySession) -> Self {
        let table = keys.module.table_3_2.unwrap();
        let mut descriptor = -1;
        must!(keys.module.vendor.unwrap(), O_Descriptor, keys.session, &mut descriptor);
        // SAFETY: the descriptor lives as long as the session, which this object closes at its end.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
        Self { keys, table, descriptor, signature: [0; SIGNATURE], len: 0 }
    }

    fn begin(&mut self) {
        let mut mechanism = mechanism(self.keys.mechanism, &mut []);
        must!(self.table, C_SignInit, self.keys.session, &mut mechanism, self.keys.key);
        self.len = SIGNATURE as CK_ULONG;
        let (message, message_len) = (MESSAGE.as_ptr().cast_mut(), MESSAGE.len() as CK_ULONG);
        let signature = self.signature.as_mut_ptr();
        let session = self.keys.session;
        let begun =
            call_function!(self.table, C_Sign, session, message, message_len, signature, &mut self.len);
        assert_eq!(begun, CKR_PENDING);
    }

    /// Takes the signature, if it is there.
    fn complete(&mut self) -> bool {
        let mut answer =
            CK_ASYNC_DATA { ulVersion: 0, pValue: null_mut(), ulValue: 0, hObject: 0, hAdditionalObject: 0 };
        let name = c"C_Sign".as_ptr().cast_mut().cast();
        match call_function!(self.table, C_AsyncComplete, self.keys.session, name, &mut answer) {
            CKR_PENDING => false,
            CKR_OK => true,
            failed => panic!("C_AsyncComplete: {failed:#x}"),
        }
    }
}

/// The memory of many outputs. A program uses it for one call after the other.
struct OutputMemory {
    bytes: Vec<u8>,
    stride: usize,
    lens: Vec<CK_ULONG>,
    results: Vec<CK_RV>,
}

impl OutputMemory {
    fn new(count: usize, stride: usize) -> Self {
        Self {
            bytes: vec![0; count * stride],
            stride,
            lens: vec![0; count],
            results: vec![CKR_FUNCTION_FAILED; count],
        }
    }

    /// Lends the memory to a call, which must write every result.
    fn lend(&mut self) -> VendorOutputs {
        self.results.fill(CKR_FUNCTION_FAILED);
        VendorOutputs {
            data: self.bytes.as_mut_ptr(),
            data_len: self.bytes.len() as CK_ULONG,
            stride: self.stride as CK_ULONG,
            lens: self.lens.as_mut_ptr(),
            results: self.results.as_mut_ptr(),
        }
    }

    /// Checks that every operation has succeeded, and returns their number.
    fn check(&self) -> u64 {
        assert!(self.results.iter().all(|result| *result == CKR_OK));
        self.results.len() as u64
    }
}
