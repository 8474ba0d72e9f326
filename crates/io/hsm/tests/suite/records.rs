//! Records under secret keys of tokens, against the same keys here.

use std::sync::Arc;
use std::thread;

use cryptoki::mechanism::MechanismType;
use cryptoki::object::{Attribute, KeyType};
use oarlock::engine_api::Holder;
use oarlock::{
    Accelerator, AeadAlg, BlockCipher, Column, DigestAlg, InputSource, JobError, KeySource, MacAlg,
    OutputSink, Records, Span, Status,
};
use oarlock_hsm::{HsmKey, HsmSet, HsmState};
use oarlock_keytable::{
    Batch, BatchBuilder, BatchEntry, BatchOutcome, BatchTask, EntryIv, EntryOutput, KeyPolicy, KeyTable,
    KeyType as SecretType, MAX_HELD_RECORDS,
};

use crate::own_process::{TestToken, import_secret, uri, with_faults, with_faults_and_spare, with_token};

/// A table with keys of a token and the same keys here.
struct TwinKeys {
    table: KeyTable,
    accelerator: Accelerator,
}

const AES128: [u8; 16] = [0x11; 16];
const AES256: [u8; 32] = [0x22; 32];
/// SoftHSM wants keys as long as the code.
const HMAC: [u8; 64] = [0x33; 64];

impl TwinKeys {
    fn at(holder: impl Holder + 'static) -> Self {
        let (table, name) = (KeyTable::new(), holder.name().to_owned());
        let types =
            [(SecretType::Aes128, &AES128[..]), (SecretType::Aes256, &AES256), (SecretType::Hmac, &HMAC)];
        for (key_type, value) in types {
            let policy = KeyPolicy::any_data(key_type);
            table.insert(format!("here-{key_type}"), key_type, value, policy).unwrap();
        }
        for label in ["aes128", "aes256", "cbc128", "cbc256", "hmac", "sealer", "none"] {
            let reference = format!("pkcs11:object={label};type=secret-key");
            table.insert_held(label, &name, &reference).unwrap();
        }
        let accelerator = Accelerator::builder().lazy().threads(1).holder(Arc::new(holder)).build().unwrap();
        Self { table, accelerator }
    }

    fn key(&self, name: &str) -> u32 {
        self.table.index(name).unwrap()
    }

    fn run(&self, batch: &BatchBuilder) -> BatchOutcome {
        self.table.run(&self.accelerator, &batch.batch()).unwrap()
    }

    /// Runs one record and returns its result.
    fn run_one(&self, entry: BatchEntry<'_>) -> Result<Vec<u8>, (Status, String)> {
        let mut batch = BatchBuilder::new();
        batch.add(entry).unwrap();
        let outcome = self.run(&batch);
        let batch = batch.batch();
        match outcome.error(&self.table, &batch, 0) {
            None => Ok(outcome.result(&batch, 0).unwrap().to_vec()),
            Some(error) => Err((error.status, error.to_string())),
        }
    }

    /// Seals under a new IV. Returns the IV, the ciphertext and the tag.
    fn seal(&self, alg: AeadAlg, key: &str, aad: &[u8], text: &[u8]) -> [Vec<u8>; 3] {
        let mut batch = BatchBuilder::new();
        let entry = BatchEntry::new(BatchTask::seal(alg)).key(self.key(key)).iv(EntryIv::Generated);
        batch.add(entry.aad(aad).input(text)).unwrap();
        let outcome = self.run(&batch);
        let batch = batch.batch();
        assert_eq!(outcome.statuses(), [Status::Done], "{:?}", outcome.error(&self.table, &batch, 0));
        let parts = [outcome.iv(&batch, 0), outcome.result(&batch, 0), outcome.tag(&batch, 0)];
        parts.map(|part| part.unwrap().to_vec())
    }

    fn open(
        &self,
        alg: AeadAlg,
        key: &str,
        aad: &[u8],
        [iv, text, tag]: &[Vec<u8>; 3],
    ) -> Result<Vec<u8>, (Status, String)> {
        let entry = BatchEntry::new(BatchTask::open(alg)).key(self.key(key)).iv(EntryIv::Bytes(iv));
        self.run_one(entry.aad(aad).input(text).tag(tag))
    }
}

/// Makes the keys of [`TwinKeys`] in a token.
fn import_keys(token: &TestToken, label: &str) {
    let session = token.user_session_of(label);
    let cbc = [Attribute::AllowedMechanisms(vec![MechanismType::AES_CBC])];
    import_secret(&session, "aes128", KeyType::AES, &AES128, &[]);
    import_secret(&session, "aes256", KeyType::AES, &AES256, &[]);
    import_secret(&session, "cbc128", KeyType::AES, &AES128, &cbc);
    import_secret(&session, "cbc256", KeyType::AES, &AES256, &cbc);
    import_secret(&session, "hmac", KeyType::GENERIC_SECRET, &HMAC, &[]);
    import_secret(&session, "sealer", KeyType::AES, &AES256, &[Attribute::Decrypt(false)]);
}

#[test]
fn a_secret_key_is_found_by_its_uri_with_its_type() {
    with_token(|token| {
        import_keys(token, "mail");
        import_secret(&token.user_session(), "aes192", KeyType::AES, &[1; 24], &[]);
        let hsm = token.hsm();
        let look_up = |text: &str| {
            let (sender, answers) = std::sync::mpsc::channel();
            hsm.look_up(&uri(text), "hsm", move |found| sender.send(found).unwrap());
            answers.recv().unwrap()
        };
        for (label, expected) in
            [("aes128", SecretType::Aes128), ("aes256", SecretType::Aes256), ("hmac", SecretType::Hmac)]
        {
            let text = format!("pkcs11:object={label};type=secret-key");
            match look_up(&text).unwrap() {
                HsmKey::Secret { reference, key_type } => {
                    assert_eq!((&*reference, key_type), (&*text, expected));
                }
                HsmKey::Private(key) => panic!("{key:?}"),
            }
        }
        for (text, expected) in [
            ("pkcs11:object=none;type=secret-key", "no object of token \"mail\" is"),
            ("pkcs11:object=aes192;type=secret-key", "AES with 24 bytes, expected 16 or 32"),
            ("pkcs11:object=aes128", "no object of token"),
            ("pkcs11:object=aes128;type=data", "the name of a key is"),
        ] {
            let error = look_up(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(hsm.key(&uri("pkcs11:object=aes128;type=secret-key")).is_err());
    });
}

#[test]
fn every_mechanism_gives_what_the_same_key_gives_here() {
    with_token(|token| {
        import_keys(token, "mail");
        let keys = TwinKeys::at(token.hsm());
        let pairs =
            [(BlockCipher::Aes128, "cbc128", "here-aes128"), (BlockCipher::Aes256, "cbc256", "here-aes256")];
        for (alg, held, here) in pairs {
            for len in [0, 16, 48, 4096] {
                let (iv, text) = ([7; 16], vec![9; len]);
                for task in [BatchTask::encrypt(alg), BatchTask::decrypt(alg)] {
                    let entry = |key| BatchEntry::new(task).key(keys.key(key)).input(&text);
                    for iv in [EntryIv::Bytes(&iv), EntryIv::Zero] {
                        let [held, here] = [held, here].map(|key| keys.run_one(entry(key).iv(iv)).unwrap());
                        assert_eq!(held, here, "{task} {len}");
                    }
                }
            }
        }
        let macs = [
            (MacAlg::Aes128Cmac, "aes128", "here-aes128"),
            (MacAlg::Aes256Cmac, "aes256", "here-aes256"),
            (MacAlg::HmacSha1, "hmac", "here-hmac"),
            (MacAlg::HmacSha256, "hmac", "here-hmac"),
            (MacAlg::HmacSha384, "hmac", "here-hmac"),
            (MacAlg::HmacSha512, "hmac", "here-hmac"),
        ];
        for (alg, held, here) in macs {
            for len in [0, 1, 16, 1000] {
                let text = vec![5; len];
                for output in [EntryOutput::Output, EntryOutput::Leading(8)] {
                    let entry = BatchEntry::new(BatchTask::mac(alg)).input(&text).output(output);
                    let [held, here] =
                        [held, here].map(|key| keys.run_one(entry.key(keys.key(key))).unwrap());
                    assert_eq!(held, here, "{alg} {len}");
                }
            }
        }
    });
}

#[test]
fn gcm_is_opened_on_either_side_and_a_forgery_by_none() {
    with_token(|token| {
        import_keys(token, "mail");
        let hsm = token.hsm();
        let keys = TwinKeys::at(hsm.clone());
        let pairs =
            [(AeadAlg::Aes128Gcm, "aes128", "here-aes128"), (AeadAlg::Aes256Gcm, "aes256", "here-aes256")];
        for (alg, held, here) in pairs {
            for (aad, text) in [(&b""[..], &b""[..]), (b"header", b""), (b"", b"a"), (b"header", &[3; 5000])]
            {
                let sealed = keys.seal(alg, held, aad, text);
                assert_eq!(keys.open(alg, here, aad, &sealed).unwrap(), text);
                let sealed = keys.seal(alg, here, aad, text);
                assert_eq!(keys.open(alg, held, aad, &sealed).unwrap(), text);
            }
            let sealed = keys.seal(alg, held, b"header", b"a text");
            assert_ne!(sealed[0], keys.seal(alg, held, b"header", b"a text")[0], "a new IV each time");
            for part in 0..3 {
                let mut forged = sealed.clone();
                forged[part][0] ^= 1;
                assert_eq!(
                    keys.open(alg, held, b"header", &forged).unwrap_err().0,
                    Status::Rejected,
                    "{part}"
                );
            }
            assert_eq!(keys.open(alg, held, b"another", &sealed).unwrap_err().0, Status::Rejected);
        }
        assert_eq!((hsm.report().wrong, hsm.report().abandoned), (0, 0));
    });
}

#[test]
fn a_bad_record_fails_alone_with_its_reason() {
    with_token(|token| {
        import_keys(token, "mail");
        let keys = TwinKeys::at(token.hsm());
        let cbc = BatchTask::encrypt(BlockCipher::Aes256);
        let good = BatchEntry::new(cbc).key(keys.key("aes256")).iv(EntryIv::Generated).input(&[1; 16]);
        let mac = BatchEntry::new(BatchTask::mac(MacAlg::HmacSha256)).key(keys.key("hmac")).input(b"text");
        let gcm = BatchEntry::new(BatchTask::seal(AeadAlg::Aes256Gcm)).key(keys.key("aes256"));
        let open = BatchEntry::new(BatchTask::open(AeadAlg::Aes256Gcm)).key(keys.key("aes256"));
        let mut batch = BatchBuilder::new();
        let slot = batch.slot(16);
        let no_key = u32::MAX >> 1;
        let cases = [
            (good, Status::Done, ""),
            (good.input(&[1; 17]), Status::BadLength, "a multiple of 16 bytes"),
            (mac, Status::Done, ""),
            (good.key(keys.key("none")), Status::UnknownKey, "no object of token \"mail\""),
            (good.key(no_key), Status::UnknownKey, ""),
            (mac.key(keys.key("aes256")), Status::WrongKeyType, "are not supported: aes256, expected hmac"),
            (
                mac.task(BatchTask::mac(MacAlg::HmacSha224)),
                Status::Unsupported,
                "hmac-sha224 with a key in a device is not available",
            ),
            (
                good.task(BatchTask::encrypt(BlockCipher::Tdes3)).input(&[1; 8]),
                Status::Unsupported,
                "tdes3-cbc-encrypt with a key in a device",
            ),
            (BatchEntry::new(BatchTask::digest(DigestAlg::Sha256)), Status::Unsupported, "sha256 with a key"),
            (good.output(EntryOutput::Slot(slot)), Status::Unsupported, "slots"),
            (gcm.iv(EntryIv::Bytes(&[1; 12])), Status::Forbidden, "under an IV that is not random"),
            (good.iv(EntryIv::Bytes(&[1; 16])), Status::Forbidden, "under an IV that is not random"),
            (gcm.iv(EntryIv::Zero), Status::IvForbidden, ""),
            (good.iv(EntryIv::KeyItself), Status::IvForbidden, ""),
            (gcm.iv(EntryIv::Bytes(&[1; 13])), Status::BadLength, ""),
            (open.iv(EntryIv::Bytes(&[1; 12])).tag(&[1; 16]), Status::Rejected, ""),
            (open.iv(EntryIv::Bytes(&[1; 12])).tag(&[1; 4]), Status::BadLength, ""),
            (mac.output(EntryOutput::Leading(3)), Status::BadLength, ""),
            (mac.output(EntryOutput::Leading(33)), Status::BadLength, ""),
            (good.key(keys.key("sealer")), Status::Done, ""),
            (
                BatchEntry::new(BatchTask::decrypt(BlockCipher::Aes256))
                    .key(keys.key("sealer"))
                    .iv(EntryIv::Zero)
                    .input(&[1; 16]),
                Status::Forbidden,
                "the token does not allow this key to decrypt",
            ),
            (mac, Status::Done, ""),
        ];
        for (entry, ..) in &cases {
            batch.add(*entry).unwrap();
        }
        let outcome = keys.run(&batch);
        for (index, (_, status, reason)) in cases.iter().enumerate() {
            let error = outcome.error(&keys.table, &batch.batch(), index);
            let text = error.map_or_else(String::new, |error| error.to_string());
            assert_eq!((index, outcome.statuses()[index]), (index, *status), "{text}");
            assert!(text.contains(reason), "{index}: {text}");
        }
        let [first, last] = [2, cases.len() - 1].map(|index| outcome.result(&batch.batch(), index).unwrap());
        assert_eq!(first, last);
    });
}

#[test]
fn a_batch_that_no_holder_takes_is_refused_as_a_whole() {
    with_token(|token| {
        import_keys(token, "mail");
        let keys = TwinKeys::at(token.hsm());
        let mac = BatchEntry::new(BatchTask::mac(MacAlg::HmacSha256)).key(keys.key("hmac")).input(b"text");
        let mut batch = BatchBuilder::new();
        for _ in 0..=MAX_HELD_RECORDS {
            batch.add(mac).unwrap();
        }
        let refused = keys.table.run(&keys.accelerator, &batch.batch());
        assert!(matches!(refused, Err(JobError::Malformed { .. })));
        // Few bytes, which every record reads.
        let span = |len| Span::new(0, len).unwrap();
        let records = Records {
            len: MAX_HELD_RECORDS,
            data: vec![0; 1024].into(),
            output_len: 32,
            key: Column::One(KeySource::Table(keys.key("hmac"))),
            input: Column::One(InputSource::Data(span(1024))),
            output: Column::One(OutputSink::Output(span(32))),
            ..Records::default()
        };
        let batch = Batch::uniform(BatchTask::mac(MacAlg::HmacSha256), records);
        let refused = keys.table.run(&keys.accelerator, &batch);
        assert!(matches!(refused, Err(JobError::Malformed { .. })));
    });
}

#[test]
fn a_token_without_gcm_says_so_and_lets_callers_choose_ivs() {
    with_faults(|token| {
        import_keys(token, "mail");
        token.plant("no_gcm");
        let keys = TwinKeys::at(token.hsm());
        let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes256Gcm)).key(keys.key("aes256"));
        let (status, reason) = keys.run_one(seal.iv(EntryIv::Generated).input(b"text")).unwrap_err();
        assert_eq!(status, Status::Unsupported);
        assert!(reason.contains("token \"mail\" does not offer CKM_AES_GCM"), "{reason}");
        let cbc = BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes256)).key(keys.key("aes256"));
        keys.run_one(cbc.iv(EntryIv::Bytes(&[1; 16])).input(&[1; 16])).unwrap();
    });
}

/// Codes over the numbers of the records.
fn thousand_codes(keys: &TwinKeys) -> BatchBuilder {
    let mut batch = BatchBuilder::new();
    for index in 0..1000_u32 {
        let entry = BatchEntry::new(BatchTask::mac(MacAlg::HmacSha256)).key(keys.key("hmac"));
        batch.add(entry.input(&index.to_be_bytes())).unwrap();
    }
    batch
}

/// Checks the codes that are there, and returns their number.
fn right_codes(keys: &TwinKeys, batch: &BatchBuilder, outcome: &BatchOutcome) -> usize {
    let batch = batch.batch();
    let done = (0..1000_u32).filter(|index| {
        let Some(code) = outcome.result(&batch, *index as usize) else { return false };
        let here = BatchEntry::new(BatchTask::mac(MacAlg::HmacSha256)).key(keys.key("here-hmac"));
        assert_eq!(keys.run_one(here.input(&index.to_be_bytes())).unwrap(), code, "{index}");
        true
    });
    done.count()
}

#[test]
fn a_thousand_records_use_all_sessions_and_survive_lost_ones() {
    with_faults(|token| {
        import_keys(token, "mail");
        let hsm = token.hsm();
        let keys = TwinKeys::at(hsm.clone());
        let batch = thousand_codes(&keys);
        for fault in ["", "once.logged_out", "once.no_session", "once.removed_briefly"] {
            if !fault.is_empty() {
                token.plant(fault);
            }
            let outcome = keys.run(&batch);
            let error = outcome.errors(&keys.table, &batch.batch()).next();
            assert_eq!(right_codes(&keys, &batch, &outcome), 1000, "{fault}: {error:?}");
        }
        assert_eq!(hsm.report().failed, 0);
    });
}

/// Runs a batch on a thread, and removes the device `mail` while it computes.
fn removed_while_it_runs(
    token: &TestToken,
    keys: &TwinKeys,
    remove: impl FnOnce(),
) -> (BatchBuilder, BatchOutcome) {
    token.make_gate();
    token.plant("hang");
    let batch = thousand_codes(keys);
    let outcome = thread::scope(|scope| {
        let running = scope.spawn(|| keys.run(&batch));
        let gate = token.hold_gate();
        remove();
        token.remove_fault("hang");
        drop(gate);
        running.join().unwrap()
    });
    (batch, outcome)
}

#[test]
fn a_device_that_is_removed_fails_the_records_that_it_has_not_done() {
    with_faults(|token| {
        import_keys(token, "mail");
        let keys = TwinKeys::at(token.hsm());
        let (batch, outcome) = removed_while_it_runs(token, &keys, || token.plant("removed"));
        let done = right_codes(&keys, &batch, &outcome);
        assert!((1..=2).contains(&done), "one or both sessions were in a call: {done}");
        for (index, status) in outcome.statuses().iter().enumerate() {
            assert!(matches!(status, Status::Done | Status::EngineFailed), "{index}: {status}");
            let reason = outcome.refusal(index).map(|reason| JobError::clone(reason));
            assert_eq!(*status == Status::Done, reason.is_none());
            assert!(matches!(reason, None | Some(JobError::HolderFailed { .. })), "{reason:?}");
        }
        token.remove_fault("removed");
    });
}

#[test]
fn records_of_a_device_that_fails_go_to_another_one() {
    with_faults_and_spare(|token| {
        ["mail", "spare"].iter().for_each(|label| import_keys(token, label));
        token.plant_in("mail", "device_error");
        let settings = ["mail", "spare"].map(|label| token.settings_of(label, &token.module));
        let checker = Accelerator::builder().lazy().threads(1).build().unwrap();
        let set = HsmSet::open(settings, &checker).unwrap();
        // Both start the module at once.
        while set.report().iter().any(|device| device.sessions.state != HsmState::Ready) {
            thread::yield_now();
        }
        let keys = TwinKeys::at(set.clone());
        let batch = thousand_codes(&keys);
        let outcome = keys.run(&batch);
        let error = outcome.errors(&keys.table, &batch.batch()).next();
        assert_eq!(right_codes(&keys, &batch, &outcome), 1000, "{error:?}");
        let counts: Vec<u64> = set.report().iter().map(|device| device.sessions.failed).collect();
        assert_eq!(counts, [1000, 0], "they went to the first device before");
        token.plant("device_error");
        let outcome = keys.run(&batch);
        assert_eq!(right_codes(&keys, &batch, &outcome), 0);
        assert!(matches!(outcome.refusal(7).map(|reason| &**reason), Some(JobError::HolderFailed { .. })));
        let nobody = KeyTable::new();
        let index =
            nobody.insert_held("other", "hsm", "pkcs11:token=other;object=hmac;type=secret-key").unwrap();
        let mut batch = BatchBuilder::new();
        batch.add(BatchEntry::new(BatchTask::mac(MacAlg::HmacSha256)).key(index)).unwrap();
        let outcome = nobody.run(&keys.accelerator, &batch.batch()).unwrap();
        let error = outcome.error(&nobody, &batch.batch(), 0).unwrap().to_string();
        assert!(error.contains("no device of the settings has the token"), "{error}");
    });
}
