//! Engines and holders that the tests invent, over arithmetic that anyone can check.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use oarlock_core::{
    BatchSize, Completion, Curve, EcPrivateParts, Engine, EngineFault, EngineLocation, Fingerprint, Holder,
    Input, Job, Jobs, Key, KeyKind, KeyParts, LatticePrivate, LatticePrivateParts, MlDsaSet, NonceInput,
    Operation, OperationSet, Outcomes, OwnedJob, OwnedJobs, RsaExponent, RsaPrivateParts, RsaPublicParts,
    Scheme, SecondInput, SecretBytes, Shape, SlhDsaSet, Status, X25519PrivateParts,
};

pub const SIGN: Shape = Shape::EcdsaSign { curve: Curve::P256 };
pub const VERIFY: Shape = Shape::EcdsaVerify { curve: Curve::P256 };
pub const PRIVATE: Shape = Shape::RsaPrivate { bits: 1024 };
pub const PUBLIC: Shape = Shape::RsaPublic { bits: 1024, exponent: RsaExponent::F4 };
pub const DERIVE: Shape = Shape::X25519;
pub const LATTICE_SIGN: Shape = Shape::MlDsaSign { set: MlDsaSet::MlDsa44 };
pub const LATTICE_VERIFY: Shape = Shape::MlDsaVerify { set: MlDsaSet::MlDsa44 };
pub const HASH_SIGN: Shape = Shape::SlhDsaSign { set: SlhDsaSet::Sha2_128s };
pub const HASH_VERIFY: Shape = Shape::SlhDsaVerify { set: SlhDsaSet::Sha2_128s };

pub const LANES: usize = 8;

/// The number of looks for work before a worker sleeps. An interpreter is slow at spinning.
pub const SPINS: u32 = if cfg!(miri) { 5 } else { 2_000 };

/// The time after which a batch counts as hung: longer than a thread waits for a core of a loaded machine.
pub const HANG_AFTER: Duration = Duration::from_millis(if cfg!(miri) { 5_000 } else { 2_000 });

/// Returns one size for machines and a smaller one for interpreters.
pub const fn sized(full: usize, interpreted: usize) -> usize {
    if cfg!(miri) { interpreted } else { full }
}

/// The correct results of the invented engines. An input that begins with 0xFF is out of range.
pub fn truth(shape: Shape, operation: &Operation<'_>) -> (Status, Vec<u8>) {
    let input = operation.input;
    if input.first() == Some(&0xFF) {
        return (Status::OutOfRange, vec![0; shape.output_len()]);
    }
    let answer = match shape {
        Shape::EcdsaSign { .. } => signature(input, operation.extra),
        Shape::EcdsaVerify { .. } | Shape::MlDsaVerify { .. } | Shape::SlhDsaVerify { .. } => {
            let digest = mixed(input, 17);
            let is_good =
                matches!(operation.extra, SecondInput::Signature(bytes) if bytes.starts_with(&digest));
            return (if is_good { Status::Done } else { Status::Rejected }, vec![]);
        }
        Shape::MlDsaSign { .. } | Shape::SlhDsaSign { .. } => {
            let mut bytes = mixed(input, 17);
            bytes.resize(shape.output_len(), 0);
            bytes
        }
        Shape::RsaPrivate { .. } => rotated(input, 1),
        Shape::RsaPublic { .. } => rotated(input, input.len() - 1),
        _ => mixed(input, 3),
    };
    (Status::Done, answer)
}

fn mixed(input: &[u8], by: u8) -> Vec<u8> {
    input.iter().map(|byte| byte.wrapping_mul(5).wrapping_add(by)).collect()
}

fn signature(input: &[u8], extra: SecondInput<'_>) -> Vec<u8> {
    let mut bytes = mixed(input, 17);
    match extra {
        SecondInput::NonceInput(NonceInput::Hedged(nonce)) => bytes.extend_from_slice(nonce),
        _ => bytes.extend([0; 32]),
    }
    bytes
}

/// Keeps the first byte below 0xFF, so that results are in range.
fn rotated(input: &[u8], by: usize) -> Vec<u8> {
    let mut bytes = input.to_vec();
    bytes.rotate_left(by);
    bytes
}

/// The misbehaviour of an invented engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Honest,
    /// Flips a bit of every third result of this shape, or turns its verdict.
    Lies(Shape),
    LiesAlways,
    /// Changes the first result of every batch of this shape where a verification does not look, each time differently.
    Grafts(Shape),
    Fails,
    Panics,
    LeavesUndone,
    /// Waits at the gate in every run.
    Hangs,
    /// Finds that RSA private keys contradict themselves: in all operations, or in every second one.
    FindsBadKeys {
        every_second: bool,
    },
}

#[derive(Debug)]
pub struct Invented {
    pub name: &'static str,
    pub lanes: BatchSize,
    pub location: EngineLocation,
    pub confirms: bool,
    pub manner: Mutex<Manner>,
    pub runs: AtomicUsize,
    pub ops: AtomicUsize,
    pub largest: AtomicUsize,
    pub judged: AtomicUsize,
    pub gate: Gate,
}

impl Invented {
    pub fn referee() -> Arc<Self> {
        Arc::new(Self { confirms: true, ..Self::bare("referee", 1, Manner::Honest) })
    }

    pub fn lanes(manner: Manner) -> Arc<Self> {
        Arc::new(Self::bare("lanes", LANES, manner))
    }

    pub fn far() -> Arc<Self> {
        Arc::new(Self { location: EngineLocation::Far, ..Self::bare("far", 64, Manner::Honest) })
    }

    pub fn bare(name: &'static str, best: usize, manner: Manner) -> Self {
        Self {
            name,
            lanes: BatchSize { preferred: best, max: 8 * best },
            location: EngineLocation::Near,
            confirms: false,
            manner: Mutex::new(manner),
            runs: AtomicUsize::new(0),
            ops: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
            judged: AtomicUsize::new(0),
            gate: Gate::default(),
        }
    }

    pub fn set(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    fn write(&self, shape: Shape, index: usize, operation: &Operation<'_>, out: &mut Outcomes) {
        if operation.is_cancelled() {
            return out.set(index, Status::Cancelled);
        }
        let (status, bytes) = truth(shape, operation);
        out.set(index, status);
        out.result_mut(index).copy_from_slice(&bytes);
        if self.finds_bad_key(shape, status) {
            out.set(index, Status::BadKey);
            return out.result_mut(index).fill(0);
        }
        if *self.manner.lock().unwrap() == Manner::Grafts(shape) && index == 0 {
            let runs = self.runs.load(Ordering::SeqCst) as u8;
            *out.result_mut(index).last_mut().unwrap() = 2 * runs + u8::from(self.confirms);
        }
        let is_lie = match *self.manner.lock().unwrap() {
            Manner::Lies(about) => about == shape && index % 3 == 1,
            Manner::LiesAlways => true,
            _ => false,
        };
        if !is_lie {
            return;
        }
        match out.result_mut(index).first_mut() {
            Some(byte) => *byte ^= 1,
            None if status == Status::Done => out.set(index, Status::Rejected),
            None => out.set(index, Status::Done),
        }
    }
}

impl Invented {
    fn finds_bad_key(&self, shape: Shape, status: Status) -> bool {
        let Manner::FindsBadKeys { every_second } = *self.manner.lock().unwrap() else { return false };
        let is_meant = shape == PRIVATE && status == Status::Done;
        is_meant && (self.judged.fetch_add(1, Ordering::SeqCst) % 2 == 1 || !every_second)
    }
}

impl Engine for Invented {
    fn name(&self) -> &'static str {
        self.name
    }

    fn offers(&self, shape: Shape) -> Option<BatchSize> {
        [SIGN, VERIFY, PRIVATE, PUBLIC, DERIVE, LATTICE_SIGN, LATTICE_VERIFY, HASH_SIGN, HASH_VERIFY]
            .contains(&shape)
            .then_some(self.lanes)
    }

    fn confirms(&self, _: Shape) -> bool {
        self.confirms
    }

    fn location(&self) -> EngineLocation {
        self.location
    }

    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.ops.fetch_add(jobs.len(), Ordering::SeqCst);
        self.largest.fetch_max(jobs.len(), Ordering::SeqCst);
        let manner = *self.manner.lock().unwrap();
        match manner {
            Manner::Fails => {
                return Err(EngineFault::Failed { engine: self.name, reason: "it was told to".into() });
            }
            Manner::Panics => panic!("it was told to"),
            Manner::LeavesUndone => return Ok(()),
            Manner::Hangs => self.gate.pass(),
            _ => {}
        }
        let Jobs::Operations(shape, operations) = *jobs else { return Ok(()) };
        for (index, operation) in operations.iter().enumerate() {
            self.write(shape, index, operation, out);
        }
        Ok(())
    }
}

/// Holds threads until it is opened.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    pub fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.1 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.0).unwrap());
    }

    /// Blocks until so many threads have come to the gate.
    pub fn await_arrivals(&self, arrivals: usize) {
        drop(self.changed.wait_while(self.state.lock().unwrap(), |state| state.1 < arrivals).unwrap());
    }

    pub fn open(&self) {
        self.state.lock().unwrap().0 = true;
        self.changed.notify_all();
    }

    /// Holds every thread that arrives from now on.
    pub fn shut(&self) {
        self.state.lock().unwrap().0 = false;
    }
}

/// A holder that answers as its rule says.
#[derive(Debug)]
pub struct InventedHolder {
    pub rule: HolderRule,
    pub is_started: AtomicBool,
    pub kept: Mutex<Vec<Completion>>,
    /// The threads that started jobs.
    pub threads: Mutex<Vec<ThreadId>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HolderRule {
    /// Echoes every input.
    Answers,
    /// Echoes every second input and drops the rest.
    DropsEverySecond,
    Panics,
    /// Never answers and keeps the completion.
    Silent,
    /// Answers each job twice, differently.
    AnswersTwice,
}

impl InventedHolder {
    pub fn new(rule: HolderRule) -> Arc<Self> {
        Arc::new(Self {
            rule,
            is_started: AtomicBool::new(false),
            kept: Mutex::default(),
            threads: Mutex::default(),
        })
    }
}

impl Holder for InventedHolder {
    fn name(&self) -> &str {
        "vault"
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        self.is_started.store(true, Ordering::SeqCst);
        self.threads.lock().unwrap().push(std::thread::current().id());
        match self.rule {
            HolderRule::Panics => panic!("it was told to"),
            HolderRule::Silent => self.kept.lock().unwrap().push(done),
            rule => {
                for (index, job) in jobs.iter().enumerate() {
                    if rule == HolderRule::DropsEverySecond && index % 2 == 1 {
                        continue;
                    }
                    assert!(done.complete(index, Ok(job.as_job().input.bytes().to_vec())));
                    if rule == HolderRule::AnswersTwice {
                        assert!(!done.complete(index, Ok(vec![0])));
                    }
                }
            }
        }
    }
}

pub fn p256_key() -> Key {
    let parts =
        EcPrivateParts { curve: Curve::P256, scalar: SecretBytes::new(vec![1; 32]), public: vec![4; 65] };
    Key::local(KeyParts::EcPrivate(parts), Fingerprint::new([1; 32]))
}

pub fn rsa_key() -> Key {
    let secret = || SecretBytes::new(vec![0x81; 64]);
    let public = RsaPublicParts { n: vec![0xFF; 128], e: vec![1, 0, 1] };
    let (d, p, q, dp, dq, qinv) = (secret(), secret(), secret(), secret(), secret(), secret());
    Key::local(
        KeyParts::RsaPrivate(RsaPrivateParts { public, d, p, q, dp, dq, qinv }),
        Fingerprint::new([2; 32]),
    )
}

pub fn x25519_key() -> Key {
    let parts = X25519PrivateParts { scalar: SecretBytes::new(vec![1; 32]), public: [0; 32] };
    Key::local(KeyParts::X25519Private(parts), Fingerprint::new([3; 32]))
}

pub fn ml_dsa_key() -> Key {
    let (set, private) = (MlDsaSet::MlDsa44, LatticePrivate::Seed(SecretBytes::new(vec![1; 32])));
    let parts = LatticePrivateParts { set, private, public: vec![0; set.public_len()] };
    Key::local(KeyParts::MlDsaPrivate(parts), Fingerprint::new([5; 32]))
}

/// Returns a job for the holder.
pub fn held_job(message: &[u8]) -> OwnedJob {
    let key = Key::held(KeyKind::Ed25519Private, "vault", "its-name", None, Fingerprint::new([4; 32]));
    Job::with_scheme(Scheme::Ed25519Sign, &key, Input::Message(message), &[]).into()
}

pub fn slh_dsa_key() -> Key {
    let parts = KeyParts::SlhDsaPrivate(SlhDsaSet::Sha2_128s, SecretBytes::new(vec![1; 64]));
    Key::local(parts, Fingerprint::new([6; 32]))
}

pub fn key_for(shape: Shape) -> Key {
    match shape {
        Shape::RsaPrivate { .. } | Shape::RsaPublic { .. } => rsa_key(),
        Shape::X25519 => x25519_key(),
        Shape::MlDsaSign { .. } | Shape::MlDsaVerify { .. } => ml_dsa_key(),
        Shape::SlhDsaSign { .. } | Shape::SlhDsaVerify { .. } => slh_dsa_key(),
        _ => p256_key(),
    }
}

/// The input of job `n`: distinct, in range.
pub fn input(shape: Shape, n: usize) -> Vec<u8> {
    let mut bytes = vec![0x11; shape.input_len().unwrap_or(64)];
    bytes[1..9].copy_from_slice(&(n as u64).to_le_bytes());
    bytes.iter_mut().for_each(|byte| *byte &= 0x7F);
    bytes[9] = (n >> 7) as u8 & 0x7F;
    bytes
}

/// Adds job `n` of a shape; verifications get a good signature for even `n` and a bad one for odd.
pub fn push(set: &mut OperationSet, key: &Key, n: usize) {
    let shape = set.shape();
    let input = input(shape, n);
    match shape {
        Shape::EcdsaVerify { .. } => {
            let mut good = signature(&input, SecondInput::None);
            good[0] ^= (n % 2) as u8;
            set.push(key, &input, SecondInput::Signature(&good)).unwrap();
        }
        Shape::EcdsaSign { .. } | Shape::MlDsaSign { .. } | Shape::SlhDsaSign { .. } => {
            set.push(key, &input, SecondInput::NonceInput(NonceInput::Hedged(&[n as u8; 32]))).unwrap();
        }
        _ => set.push(key, &input, SecondInput::None).unwrap(),
    }
}

pub fn set_of(shape: Shape, first: usize, count: usize) -> OperationSet {
    let key = key_for(shape);
    let mut set = OperationSet::new(shape);
    (first..first + count).for_each(|n| push(&mut set, &key, n));
    set
}

/// Panics if an answer is wrong.
pub fn assert_true(set: &OperationSet, results: &oarlock_dispatch::Results) {
    assert_eq!(results.len(), set.len());
    for (index, operation) in set.iter().enumerate() {
        let (status, bytes) = truth(set.shape(), &operation);
        match results.get(index) {
            Ok(result) => {
                assert_eq!(status, Status::Done, "job {index} of {}", set.shape());
                assert_eq!(result, bytes, "job {index} of {}", set.shape());
            }
            Err(error) => {
                let expected = status.error(set.shape());
                assert_eq!(Some(error), expected, "job {index} of {}", set.shape());
            }
        }
    }
}
