//! No lock is held while anything is computed, and a key is opened once per login.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oarlock::engine_api::{BatchSize, Engine, EngineFault, Jobs};
use oarlock::{Accelerator, Outcomes, Shape};
use oarlock_cryptoki::{
    AttributeType as A, CallOutput, Cryptoki, KeyTypeNumber, Mechanism, MechanismParameters as P,
    MechanismType as M, MemoryToken, ReturnCode, SessionHandle, SlotSettings, UserType,
};

use crate::common::watched_token::WatchedToken;
use crate::common::*;

/// An engine that waits in one computation until it is released.
#[derive(Debug)]
struct BlockingEngine {
    scalar: Accelerator,
    blocks_next: Arc<AtomicBool>,
    begun: Mutex<Sender<()>>,
    released: Mutex<Receiver<()>>,
}

impl Engine for BlockingEngine {
    fn name(&self) -> &'static str {
        "blocking"
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        self.scalar.diagnostics().referee().offers(shape)
    }

    fn confirms(&self, shape: Shape) -> bool {
        self.scalar.diagnostics().referee().confirms(shape)
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        if self.blocks_next.swap(false, Ordering::AcqRel) {
            self.begun.lock().unwrap().send(()).unwrap();
            self.released.lock().unwrap().recv().unwrap();
        }
        self.scalar.diagnostics().referee().run(jobs, out)
    }
}

/// The time after which a test has failed that waits for the engine.
const DEADLINE: Duration = Duration::from_secs(60);

/// A library whose engine can be made to wait.
struct BlockingLibrary {
    cryptoki: Cryptoki,
    blocks_next: Arc<AtomicBool>,
    begun: Receiver<()>,
    release: Sender<()>,
}

impl BlockingLibrary {
    fn new() -> Self {
        let (begun, blocks_next) = (channel(), Arc::new(AtomicBool::new(false)));
        let release = channel();
        let engine = BlockingEngine {
            scalar: accelerator(),
            blocks_next: Arc::clone(&blocks_next),
            begun: Mutex::new(begun.0),
            released: Mutex::new(release.1),
        };
        // All work goes to the engine that waits: the other one is not named, so it is only asked if results differ.
        let builder = Accelerator::builder().engine(Arc::new(engine)).engines(["blocking"]);
        let accelerator = builder.threads(2).cross_check(0.0).lazy().build().unwrap();
        let token = Arc::new(MemoryToken::initialized("a token", SO_PIN, USER_PIN));
        let cryptoki = Cryptoki::new(accelerator, vec![SlotSettings::new(SLOT, "a slot", token)]);
        Self { cryptoki, blocks_next, begun: begun.1, release: release.0 }
    }

    fn open(&self) -> SessionHandle {
        self.cryptoki.open_session(SLOT, READ_WRITE).unwrap()
    }

    fn create(&self, session: SessionHandle, template: &Template) -> oarlock_cryptoki::ObjectHandle {
        self.cryptoki.create_object(session, &template.entries()).unwrap()
    }

    /// Runs `other` while the engine computes `operation` on another thread.
    fn during<T: Send>(&self, operation: impl Fn() -> T + Sync, other: impl FnOnce()) -> T {
        // The first use of a shape tests the engine, and others wait for the end of that.
        operation();
        std::thread::scope(|scope| {
            self.blocks_next.store(true, Ordering::Release);
            let computed = scope.spawn(&operation);
            self.begun.recv_timeout(DEADLINE).expect("the engine computes the operation");
            other();
            self.release.send(()).unwrap();
            computed.join().unwrap()
        })
    }

    /// Uses a session in every way, which needs each lock that exists.
    fn use_everything(&self, busy: SessionHandle) {
        let cryptoki = &self.cryptoki;
        let session = self.open();
        let key = Template::secret(KeyTypeNumber::GENERIC_SECRET, &[3; 20]).flag(A::SIGN, true);
        let key = self.create(session, &key.flag(A::TOKEN, true).bytes(A::LABEL, b"another"));
        cryptoki.sign_init(session, &Mechanism::plain(M::SHA256_HMAC), key).unwrap();
        take(|output| cryptoki.sign(session, b"a message", output)).unwrap();
        assert_eq!(find(cryptoki, session, &Template::new().bytes(A::LABEL, b"another")), [key]);
        let renamed = Template::new().bytes(A::LABEL, b"renamed");
        cryptoki.set_attribute_value(session, key, &renamed.entries()).unwrap();
        cryptoki.destroy_object(session, key).unwrap();
        cryptoki.generate_random(session, &mut [0; 8]).unwrap();
        cryptoki.close_session(session).unwrap();
        // The session that computes can be looked at, and can begin another operation.
        cryptoki.session_description(busy).unwrap();
        cryptoki.digest_init(busy, &Mechanism::plain(M::SHA256)).unwrap();
        take(|output| cryptoki.digest(busy, b"a message", output)).unwrap();
        cryptoki.token_description(SLOT).unwrap();
    }
}

#[test]
fn other_sessions_work_while_one_computes() {
    let library = BlockingLibrary::new();
    let cryptoki = &library.cryptoki;
    let session = library.open();
    cryptoki.login(session, UserType::User, Some(USER_PIN)).unwrap();
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let private = Template::new().flag(A::TOKEN, true);
    let pair = || {
        let mechanism = Mechanism::plain(M::EC_KEY_PAIR_GEN);
        cryptoki.generate_key_pair(session, &mechanism, &public.entries(), &private.entries()).unwrap()
    };
    let (public, private) = pair();
    let aes = Template::secret(KeyTypeNumber::AES, &[1; 16]).flag(A::ENCRYPT, true).flag(A::SIGN, true);
    let aes = library.create(session, &aes);

    library.use_everything(session);

    let sign = || {
        cryptoki.sign_init(session, &Mechanism::plain(M::ECDSA_SHA256), private).unwrap();
        let mut signature = [0; 64];
        cryptoki.sign(session, b"m", &mut CallOutput::new(&mut signature)).map(|()| signature)
    };
    let signature = library.during(sign, || library.use_everything(session)).unwrap();
    let verify = || {
        cryptoki.verify_init(session, &Mechanism::plain(M::ECDSA_SHA256), public).unwrap();
        cryptoki.verify(session, b"m", &signature)
    };
    assert_eq!(library.during(verify, || library.use_everything(session)), Ok(()));

    let encrypt = || {
        cryptoki.encrypt_init(session, &Mechanism::new(M::AES_CBC, P::Iv(&[0; 16])), aes).unwrap();
        let mut out = [0; 32];
        cryptoki.encrypt(session, &[2; 32], &mut CallOutput::new(&mut out)).map(|()| out)
    };
    let encrypted = library.during(encrypt, || library.use_everything(session));
    assert_eq!(encrypted, encrypt());

    let mac = || {
        cryptoki.sign_init(session, &Mechanism::plain(M::AES_CMAC), aes).unwrap();
        let mut out = [0; 16];
        cryptoki.sign(session, b"m", &mut CallOutput::new(&mut out)).map(|()| out)
    };
    let computed = library.during(mac, || library.use_everything(session));
    assert_eq!(computed, mac());
}

/// A logout does not wait for what is computed, and takes nothing away from it.
#[test]
fn a_logout_does_not_wait_for_a_signature() {
    let library = BlockingLibrary::new();
    let cryptoki = &library.cryptoki;
    let session = library.open();
    cryptoki.login(session, UserType::User, Some(USER_PIN)).unwrap();
    let (public, private) = (Template::new().bytes(A::EC_PARAMS, P256), Template::new());
    let mechanism = Mechanism::plain(M::EC_KEY_PAIR_GEN);
    let pair = cryptoki.generate_key_pair(session, &mechanism, &public.entries(), &private.entries());
    let (_, key) = pair.unwrap();
    let sign = || {
        cryptoki.sign_init(session, &Mechanism::plain(M::ECDSA_SHA256), key).unwrap();
        let mut signature = [0; 64];
        cryptoki.sign(session, b"m", &mut CallOutput::new(&mut signature))
    };
    let signed = library.during(sign, || cryptoki.logout(session).unwrap());
    assert!(signed.is_ok() || signed == Err(ReturnCode::OperationNotInitialized), "{signed:?}");
    assert_eq!(cryptoki.logout(session), Err(ReturnCode::UserNotLoggedIn));
}

#[test]
fn a_key_is_opened_once_per_login() {
    let token = Arc::new(WatchedToken::new());
    let slot = || SlotSettings::new(SLOT, "a slot", token.clone());
    let first = Cryptoki::new(accelerator(), vec![slot()]);
    let session = first.open_session(SLOT, READ_WRITE).unwrap();
    first.login(session, UserType::User, Some(USER_PIN)).unwrap();
    let key = Template::secret(KeyTypeNumber::AES, &[1; 16]).flag(A::TOKEN, true).flag(A::SIGN, true);
    let key = key.flag(A::ENCRYPT, true).bytes(A::LABEL, b"key");
    first.create_object(session, &key.entries()).unwrap();

    // Another process finds the key on the token.
    let library = Cryptoki::new(accelerator(), vec![slot()]);
    let session = library.open_session(SLOT, READ_WRITE).unwrap();
    for login in 1..=3 {
        library.login(session, UserType::User, Some(USER_PIN)).unwrap();
        for round in 0..50_u8 {
            let other = library.open_session(SLOT, READ_WRITE).unwrap();
            let [key] = find(&library, other, &Template::new().bytes(A::LABEL, b"key"))[..] else { panic!() };
            library.sign_init(other, &Mechanism::plain(M::AES_CMAC), key).unwrap();
            take(|output| library.sign(other, &[round], output)).unwrap();
            let cbc = Mechanism::new(M::AES_CBC, P::Iv(&[0; 16]));
            library.encrypt_init(other, &cbc, key).unwrap();
            take(|output| library.encrypt(other, &[round; 16], output)).unwrap();
            if round == 25 {
                // A change of another object, and one of its own attributes, leave the key open.
                let id = Template::new().bytes(A::ID, &[login, round]);
                library.set_attribute_value(other, key, &id.entries()).unwrap();
            }
            library.close_session(other).unwrap();
        }
        assert_eq!(token.opened(), usize::from(login));
        library.logout(session).unwrap();
    }
}
