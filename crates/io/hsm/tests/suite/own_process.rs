//! Tests in processes of their own: a module is one per process, SoftHSM reads its directory from the environment, and
//! a module may crash.

use std::any::type_name;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, mpsc};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use oarlock::engine_api::{Completion, CompletionSink, Holder, OwnedJobs};
use oarlock::{Accelerator, Input, Job, JobError, Key, SigningScheme};
use oarlock_hsm::{Hsm, HsmSettings, Pkcs11Uri};

/// The PIN of every token here.
pub(crate) const PIN: &str = "4711-0815";

const SOFTHSM: &str = "/usr/lib/softhsm/libsofthsm2.so";

/// The directory of the test in its process.
const DIRECTORY_VARIABLE: &str = "OARLOCK_TEST_HSM_DIRECTORY";

/// A token with the label `mail`, and the module that has it.
pub(crate) struct TestToken {
    pub(crate) directory: PathBuf,
    pub(crate) module: PathBuf,
}

/// Runs a test in a process of its own with a new token of SoftHSM.
pub(crate) fn with_token<T: FnOnce(&TestToken)>(test: T) {
    if let Some(output) = run(test, &["mail"], |_| Some(PathBuf::from(SOFTHSM))) {
        assert!(output.status.success(), "{}", shown(&output));
    }
}

/// Runs a test in a process of its own with several tokens of SoftHSM.
pub(crate) fn with_tokens<T: FnOnce(&TestToken)>(labels: &[&str], test: T) {
    if let Some(output) = run(test, labels, |_| Some(PathBuf::from(SOFTHSM))) {
        assert!(output.status.success(), "{}", shown(&output));
    }
}

/// Runs a test in a process of its own with the faulty module and the tokens `mail` and `spare`.
pub(crate) fn with_faults_and_spare<T: FnOnce(&TestToken)>(test: T) {
    if let Some(output) = run(test, &["mail", "spare"], compile_faulty) {
        assert!(output.status.success(), "{}", shown(&output));
    }
}

/// Runs a test in a process of its own with the faulty module.
pub(crate) fn with_faults<T: FnOnce(&TestToken)>(test: T) {
    if let Some(output) = with_fatal_faults(test) {
        assert!(output.status.success(), "{}", shown(&output));
    }
}

/// As [`with_faults`], but the process may end as it likes. Returns `None` in this process and if the test was skipped.
pub(crate) fn with_fatal_faults<T: FnOnce(&TestToken)>(test: T) -> Option<Output> {
    run(test, &["mail"], compile_faulty)
}

fn run<T: FnOnce(&TestToken)>(
    test: T,
    labels: &[&str],
    module: impl FnOnce(&Path) -> Option<PathBuf>,
) -> Option<Output> {
    if let Some(directory) = std::env::var_os(DIRECTORY_VARIABLE) {
        let directory = PathBuf::from(directory);
        let module = PathBuf::from(fs::read_to_string(directory.join("module")).unwrap());
        test(&TestToken { directory, module });
        return None;
    }
    if !Path::new(SOFTHSM).exists() || Command::new("softhsm2-util").arg("--version").output().is_err() {
        println!("SKIPPED: SoftHSM is not installed ({SOFTHSM}, softhsm2-util)");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let module = module(path)?;
    fs::write(path.join("module"), module.to_str().unwrap()).unwrap();
    write_private(&path.join("pin"), PIN);
    let conf = path.join("softhsm2.conf");
    fs::create_dir(path.join("tokens")).unwrap();
    let tokens = path.join("tokens").display().to_string();
    fs::write(
        &conf,
        format!("directories.tokendir = {tokens}\nobjectstore.backend = file\nlog.level = ERROR\n"),
    )
    .unwrap();
    for label in labels {
        let made = Command::new("softhsm2-util")
            .args(["--init-token", "--free", "--label", label, "--pin", PIN, "--so-pin", "12345678"])
            .env("SOFTHSM2_CONF", &conf)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", shown(&made));
    }
    // The name of a closure ends with the test's path: `suite::faults::hang::{{closure}}`.
    let name = type_name::<T>().strip_prefix("suite::").unwrap().strip_suffix("::{{closure}}").unwrap();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(DIRECTORY_VARIABLE, path)
        .env("SOFTHSM2_CONF", &conf)
        .env("FAULTY_MODULE", SOFTHSM)
        .env("KRYOPTIC_CONF", path.join("kryoptic.conf"))
        .env("FAULTY_DIR", path)
        .output()
        .unwrap();
    let is_run = String::from_utf8_lossy(&ran.stdout).contains("running 1 test");
    assert!(is_run, "no test is named {name}: {}", shown(&ran));
    Some(ran)
}

/// Compiles the faulty module. Returns `None` if there is no compiler.
fn compile_faulty(directory: &Path) -> Option<PathBuf> {
    let module = directory.join("faulty.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faulty/faulty.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&module)
        .args([source, "-ldl", "-lpthread"])
        .output();
    let Ok(compiled) = compiled else {
        println!("SKIPPED: no compiler `cc` for the faulty module");
        return None;
    };
    assert!(compiled.status.success(), "{}", shown(&compiled));
    Some(module)
}

pub(crate) fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

pub(crate) fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

impl TestToken {
    pub(crate) fn settings(&self) -> HsmSettings {
        self.settings_of("mail", &self.module)
    }

    /// Returns the settings of a token of a module that runs in this process.
    pub(crate) fn settings_of(&self, label: &str, module: &Path) -> HsmSettings {
        let text = format!(
            "module = {module:?}\ntoken = {label:?}\npin_file = {:?}\nsessions = 2\npatience_ms = 600000\n\
             isolate = false",
            self.directory.join("pin")
        );
        toml::from_str(&text).unwrap()
    }

    pub(crate) fn hsm(&self) -> Hsm {
        open(self.settings())
    }

    /// Returns a session of SoftHSM itself that can create objects. The process is logged in until it is dropped.
    pub(crate) fn user_session(&self) -> Session {
        self.user_session_of("mail")
    }

    /// As [`user_session`](Self::user_session), of another token.
    pub(crate) fn user_session_of(&self, label: &str) -> Session {
        let (module, slot) = softhsm_slot(label);
        let session = module.open_rw_session(slot).unwrap();
        match session.login(UserType::User, Some(&AuthPin::new(PIN.into()))) {
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => session,
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes a key pair with a label.
    pub(crate) fn generate(&self, label: &str, mechanism: &Mechanism<'_>, public: &[Attribute]) {
        generate(&self.user_session(), (label, label.as_bytes()), mechanism, public, &[]);
    }

    pub(crate) fn generate_p256(&self, label: &str) {
        self.generate(label, &Mechanism::EccKeyPairGen, &[Attribute::EcParams(P256.to_vec())]);
    }

    /// Plants a fault until it is removed.
    pub(crate) fn plant(&self, fault: &str) {
        fs::write(self.directory.join(fault), "").unwrap();
    }

    /// Plants a fault of one token until it is removed.
    pub(crate) fn plant_in(&self, label: &str, fault: &str) {
        let (_, slot) = softhsm_slot(label);
        // Renamed: an empty file would be a fault of all tokens.
        let new = self.directory.join(format!("{fault}.new"));
        fs::write(&new, slot.id().to_string()).unwrap();
        fs::rename(new, self.directory.join(fault)).unwrap();
    }

    /// Plants a fault of the next call.
    pub(crate) fn plant_once(&self, fault: &str) {
        self.plant(&format!("once.{fault}"));
    }

    pub(crate) fn remove_fault(&self, fault: &str) {
        fs::remove_file(self.directory.join(fault)).unwrap();
    }

    /// Makes the gate at which calls hang.
    pub(crate) fn make_gate(&self) {
        assert!(Command::new("mkfifo").arg(self.directory.join("gate")).status().unwrap().success());
    }

    /// Opens the gate and waits until a call hangs there. All such calls go on when the file is dropped.
    pub(crate) fn hold_gate(&self) -> fs::File {
        fs::OpenOptions::new().write(true).open(self.directory.join("gate")).unwrap()
    }

    /// Returns the number of logins that the faulty module has seen.
    pub(crate) fn logins(&self) -> usize {
        fs::read(self.directory.join("logins")).map_or(0, |log| log.len())
    }
}

/// Returns SoftHSM itself, and the slot of a token.
fn softhsm_slot(label: &str) -> (Pkcs11, Slot) {
    let module = Pkcs11::new(SOFTHSM).unwrap();
    // The device may have initialised it.
    let _ = module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK));
    let slots = module.get_slots_with_token().unwrap();
    let is_wanted = |slot: &Slot| module.get_token_info(*slot).unwrap().label() == label;
    let slot = slots.into_iter().find(is_wanted).unwrap();
    (module, slot)
}

/// Opens a device, with a checker that starts at once.
pub(crate) fn open(settings: HsmSettings) -> Hsm {
    Hsm::open("hsm", settings, Accelerator::builder().lazy().threads(1).build().unwrap()).unwrap()
}

pub(crate) const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
pub(crate) const P384: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x22";

pub(crate) fn generate(
    session: &Session,
    (label, id): (&str, &[u8]),
    mechanism: &Mechanism<'_>,
    public: &[Attribute],
    private: &[Attribute],
) -> (ObjectHandle, ObjectHandle) {
    let names = [Attribute::Token(true), Attribute::Label(label.into()), Attribute::Id(id.to_vec())];
    let public = [&names[..], public].concat();
    let uses =
        [Attribute::Sign(true), Attribute::Decrypt(true), Attribute::Derive(true), Attribute::Private(true)];
    let has = |kind| private.iter().any(|attribute: &Attribute| attribute.attribute_type() == kind);
    let uses = uses.into_iter().filter(|attribute| !has(attribute.attribute_type()));
    let private: Vec<Attribute> = names.iter().cloned().chain(uses).chain(private.iter().cloned()).collect();
    session.generate_key_pair(mechanism, &public, &private).unwrap()
}

/// Makes a secret key that may do everything, but for the attributes `more`.
pub(crate) fn import_secret(
    session: &Session,
    label: &str,
    key_type: KeyType,
    value: &[u8],
    more: &[Attribute],
) {
    let has = |kind| more.iter().any(|attribute: &Attribute| attribute.attribute_type() == kind);
    let usual = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(key_type),
        Attribute::Value(value.to_vec()),
        Attribute::Label(label.into()),
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Encrypt(true),
        Attribute::Decrypt(true),
        Attribute::Sign(true),
    ];
    let usual = usual.into_iter().filter(|attribute| !has(attribute.attribute_type()));
    let template: Vec<Attribute> = usual.chain(more.iter().cloned()).collect();
    session.create_object(&template).unwrap();
}

pub(crate) fn uri(text: &str) -> Pkcs11Uri {
    text.parse().unwrap()
}

/// Returns a key by its label.
pub(crate) fn key(hsm: &Hsm, label: &str) -> Key {
    hsm.key(&Pkcs11Uri::of_object(Some(label), None, None)).unwrap()
}

/// The answers of jobs, in the order in which they come.
pub(crate) type Answer = (usize, Result<Vec<u8>, JobError>);

struct Sink(Mutex<mpsc::Sender<Answer>>);

impl CompletionSink for Sink {
    fn done(&self, index: usize, result: Result<Vec<u8>, JobError>) {
        self.0.lock().unwrap().send((index, result)).unwrap();
    }

    fn dropped(&self, index: usize) {
        panic!("job {index} has no answer");
    }
}

/// Starts signatures over one digest with P-256.
pub(crate) fn start(holder: &dyn Holder, key: &Key, jobs: usize) -> mpsc::Receiver<Answer> {
    let digest = [7; 32];
    let job = Job::sign(SigningScheme::ECDSA_P256_SHA256_DER, key, Input::Digest(&digest));
    start_jobs(holder, vec![job; jobs])
}

/// Starts jobs.
pub(crate) fn start_jobs(holder: &dyn Holder, jobs: Vec<Job<'_>>) -> mpsc::Receiver<Answer> {
    let (sender, answers) = mpsc::channel();
    let done = Completion::new(jobs.len(), Box::new(Sink(Mutex::new(sender))));
    holder.start(OwnedJobs::new(jobs.into_iter().map(Into::into).collect()), done);
    answers
}

/// Signs once with P-256.
pub(crate) fn sign(holder: &dyn Holder, key: &Key) -> Result<Vec<u8>, JobError> {
    start(holder, key, 1).recv().unwrap().1
}
