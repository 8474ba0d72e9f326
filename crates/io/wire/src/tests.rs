use bytes::{Bytes, BytesMut};
use oarlock::{
    AeadAlg, BlockCipher, Column, CompositeAlg, Curve, Fingerprint, FpeAlg, KeyKind, KeySource, MacAlg,
    MlDsaSet, MlDsaVariant, MlKemSet, SlhDsaSet, WrapAlg,
};
use oarlock::{DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, NonceRule, SaltLength, Scheme};
use oarlock_keytable::{
    Batch, BatchBuilder, BatchEntry, BatchTask, EntryIv, EntryOutput, IvSource, KeyType, KeyWrap,
};

use crate::column::{WireBytes, WireNumbers, write_bytes, write_numbers};
use crate::proto::{Blame, Code, Fault, Request, request};
use crate::scheme::WireScheme;
use crate::{Message, MessageLimits, WireError, fault, frame, jobs, proto, records, scheme, task};

fn held(kind: KeyKind) -> Key {
    Key::held(kind, "elsewhere", "key", None, Fingerprint::new([7; 32]))
}

fn schemes() -> Vec<Scheme> {
    let (curve, digest, mgf) = (Curve::P384, DigestAlg::Sha384, DigestAlg::Sha256);
    let mut schemes = vec![
        Scheme::RsaPkcs1Decrypt,
        Scheme::RsaOaepDecrypt { digest, mgf },
        Scheme::RsaPssSign { digest, mgf, salt_len: 20 },
        Scheme::RsaPssVerify { digest, mgf, salt: SaltLength::Any },
        Scheme::RsaPssVerify { digest, mgf, salt: SaltLength::Exactly(0) },
        Scheme::Ed25519Sign,
        Scheme::Ed25519Verify,
        Scheme::X25519,
        Scheme::Ecdh { curve },
    ];
    for digest in DigestAlg::RSA_AND_ECDSA {
        schemes.extend([Scheme::RsaPkcs1Sign { digest }, Scheme::RsaPkcs1Verify { digest }]);
    }
    for encoding in [EcdsaEncoding::Der, EcdsaEncoding::Fixed] {
        schemes.push(Scheme::EcdsaVerify { curve, digest, encoding });
        for nonce in [NonceRule::Hedged, NonceRule::Deterministic] {
            schemes.push(Scheme::EcdsaSign { curve, digest, encoding, nonce });
        }
    }
    schemes
}

#[test]
fn writes_and_reads_every_scheme() {
    for scheme in schemes() {
        let message = scheme::write(scheme).unwrap();
        let read = WireScheme::read(&proto::Scheme::decode(&*message.encode_to_vec()).unwrap()).unwrap();
        assert_eq!(read.with(KeyKind::EcPrivate(Curve::P384)), scheme);
    }
}

#[test]
fn the_key_says_the_parameter_set_of_a_scheme() {
    let read = |scheme| {
        let message = scheme::write(scheme).unwrap();
        WireScheme::read(&proto::Scheme::decode(&*message.encode_to_vec()).unwrap()).unwrap()
    };
    for set in MlKemSet::ALL {
        for scheme in [Scheme::MlKemEncaps { set }, Scheme::MlKemDecaps { set }] {
            assert_eq!(read(scheme).with(KeyKind::MlKemPrivate(set)), scheme);
            assert_eq!(read(scheme).with(KeyKind::MlKemPublic(set)), scheme);
        }
    }
    let variants = DigestAlg::PRE_HASH.map(MlDsaVariant::PreHash);
    for variant in variants.into_iter().chain([MlDsaVariant::Pure, MlDsaVariant::ExternalMu]) {
        for set in MlDsaSet::ALL {
            let verify = Scheme::MlDsaVerify { set, variant };
            assert_eq!(read(verify).with(KeyKind::MlDsaPublic(set)), verify);
            for nonce in [NonceRule::Hedged, NonceRule::Deterministic] {
                let sign = Scheme::MlDsaSign { set, variant, nonce };
                assert_eq!(read(sign).with(KeyKind::MlDsaPrivate(set)), sign);
            }
        }
    }
    for alg in CompositeAlg::ALL {
        let (sign, verify) = (Scheme::CompositeSign { alg }, Scheme::CompositeVerify { alg });
        assert_eq!(read(sign).with(KeyKind::CompositePrivate(alg)), sign);
        assert_eq!(read(verify).with(KeyKind::CompositePublic(alg)), verify);
    }
    for scheme in [Scheme::HssVerify, Scheme::XmssVerify] {
        assert_eq!(read(scheme).with(KeyKind::Ed25519Public), scheme);
    }
    for pre_hash in [None].into_iter().chain(DigestAlg::PRE_HASH.map(Some)) {
        for set in SlhDsaSet::ALL {
            let verify = Scheme::SlhDsaVerify { set, pre_hash };
            assert_eq!(read(verify).with(KeyKind::SlhDsaPublic(set)), verify);
            for nonce in [NonceRule::Hedged, NonceRule::Deterministic] {
                let sign = Scheme::SlhDsaSign { set, pre_hash, nonce };
                assert_eq!(read(sign).with(KeyKind::SlhDsaPrivate(set)), sign);
            }
        }
    }
}

#[test]
fn digests_have_the_names_of_the_protocol() {
    for digest in DigestAlg::PRE_HASH {
        let (set, variant) = (MlDsaSet::MlDsa44, MlDsaVariant::PreHash(digest));
        let name = scheme::write(Scheme::MlDsaVerify { set, variant }).unwrap().digest().as_str_name();
        assert_eq!(name.to_lowercase().replace('_', "-"), digest.to_string());
    }
    assert!(proto::Digest::try_from(DigestAlg::ALL.len() as i32 + 1).is_err());
}

#[test]
fn rejects_digests_that_a_scheme_does_not_take() {
    let message = |kind: proto::scheme::Kind, digest: proto::Digest, mgf: proto::Digest| {
        let variant = proto::scheme::MlDsaVariant::PreHash;
        let is_ml_dsa = kind == proto::scheme::Kind::MlDsaSign;
        proto::Scheme {
            kind: kind.into(),
            digest: digest.into(),
            mgf_digest: mgf.into(),
            ml_dsa_variant: if is_ml_dsa { variant.into() } else { 0 },
            ..Default::default()
        }
    };
    let refused = |kind, digest, mgf| WireScheme::read(&message(kind, digest, mgf)).unwrap_err().to_string();
    use proto::Digest::{Sha1, Sha256, Sha3256, Sha512256, Shake128, Unspecified};
    use proto::scheme::Kind;
    for (kind, digest) in [
        (Kind::RsaPkcs1Sign, Sha3256),
        (Kind::RsaPssVerify, Shake128),
        (Kind::RsaOaepDecrypt, Sha512256),
        (Kind::EcdsaSign, Sha3256),
        (Kind::EcdsaVerify, Shake128),
    ] {
        assert!(refused(kind, digest, Unspecified).contains("the digest is s"), "{kind:?}");
    }
    let masked = refused(Kind::RsaOaepDecrypt, Sha256, Sha3256);
    assert!(masked.contains("the digest of the mask generation is sha3-256, expected sha1,"), "{masked}");
    assert!(refused(Kind::MlDsaSign, Sha1, Unspecified).contains("the digest of HashML-DSA is sha1"));
    assert!(scheme::write(Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha512_224 }).is_err());
}

#[test]
fn rejects_values_that_slh_dsa_does_not_use() {
    let pure = scheme::write(Scheme::SlhDsaVerify { set: SlhDsaSet::Sha2_128s, pre_hash: None }).unwrap();
    let refused = |message: proto::Scheme| WireScheme::read(&message).unwrap_err().to_string();
    assert_eq!(
        refused(proto::Scheme { ml_dsa_variant: 1, ..pure }),
        "ml_dsa_variant is set, and has no meaning with SLH-DSA"
    );
    let sha1 = proto::Scheme { digest: proto::Digest::Sha1.into(), ..pure };
    assert!(refused(sha1).contains("the digest of HashSLH-DSA is sha1"));
}

#[test]
fn rejects_digests_that_a_variant_of_ml_dsa_does_not_use() {
    let set = MlDsaSet::MlDsa44;
    let of = |variant| scheme::write(Scheme::MlDsaVerify { set, variant }).unwrap();
    let refused = |message: proto::Scheme| WireScheme::read(&message).unwrap_err().to_string();
    let (pure, mu) = (of(MlDsaVariant::Pure), of(MlDsaVariant::ExternalMu));
    let hashed = of(MlDsaVariant::PreHash(DigestAlg::Sha512));
    assert_eq!(refused(proto::Scheme { digest: 0, ..hashed }), "digest is missing");
    assert_eq!(refused(proto::Scheme { digest: 14, ..hashed }), "digest: the value 14 is not known here");
    assert_eq!(
        refused(proto::Scheme { ml_dsa_variant: 3, ..pure }),
        "ML-DSA variant: the value 3 is not known here"
    );
    // Otherwise the client would believe that a digest is signed, and the message would be.
    let digest = proto::Digest::Sha512.into();
    assert_eq!(
        refused(proto::Scheme { digest, ..pure }),
        "digest is set, and has no meaning with the variant PURE"
    );
    assert_eq!(
        refused(proto::Scheme { digest, ..mu }),
        "digest is set, and has no meaning with the variant EXTERNAL_MU"
    );
}

#[test]
fn names_unknown_and_missing_parts_of_a_scheme() {
    let read = |message: proto::Scheme| WireScheme::read(&message).unwrap_err();
    assert_eq!(read(proto::Scheme::default()), WireError::Missing { what: "scheme" });
    let mut message = scheme::write(Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha1 }).unwrap();
    message.digest = 0;
    assert_eq!(read(message), WireError::Missing { what: "digest" });
    message.digest = 77;
    assert_eq!(read(message), WireError::Unknown { what: "digest", value: 77 });
    let salt_len = Some(70_000);
    let message = proto::Scheme {
        kind: proto::scheme::Kind::RsaPssSign.into(),
        digest: 1,
        salt_len,
        ..Default::default()
    };
    assert!(matches!(read(message), WireError::TooMany { what: "salt_len", .. }));
}

fn tasks() -> Vec<BatchTask> {
    let mut tasks = vec![BatchTask::translate(BlockCipher::Tdes2, BlockCipher::Aes256)];
    tasks.extend(BlockCipher::ALL.map(BatchTask::encrypt));
    tasks.extend(BlockCipher::ALL.map(BatchTask::decrypt));
    tasks.extend(FpeAlg::ALL.map(BatchTask::encrypt_format));
    tasks.extend(FpeAlg::ALL.map(BatchTask::decrypt_format));
    tasks.extend(AeadAlg::ALL.map(BatchTask::seal));
    tasks.extend(AeadAlg::ALL.map(BatchTask::open));
    tasks.extend(MacAlg::ALL.map(BatchTask::mac));
    tasks.extend(DigestAlg::ALL.map(BatchTask::digest));
    tasks.extend(WrapAlg::ALL.map(BatchTask::wrap));
    for key in KeyType::ALL {
        tasks.extend(WrapAlg::ALL.map(|wrap| BatchTask::unwrap_key(KeyWrap::Aes(wrap), key)));
        tasks.push(BatchTask::unwrap_key(KeyWrap::LegacyEcb(BlockCipher::Tdes3), key));
        tasks.push(BatchTask::unwrap_key(KeyWrap::LegacyCbc(BlockCipher::Tdes2), key));
    }
    tasks
}

#[test]
fn writes_and_reads_every_task() {
    for task in tasks() {
        assert_eq!(task::read(&task::write(task).unwrap()).unwrap(), task);
    }
    let algorithm = "rot13".to_owned();
    let message = proto::Task { kind: proto::task::Kind::Encrypt.into(), algorithm, ..Default::default() };
    let error = task::read(&message).unwrap_err().to_string();
    assert_eq!(error, "cipher \"rot13\" is not known here; expected des, tdes2, tdes3, aes128, aes256");
}

#[test]
fn knows_names_as_a_whole_only() {
    for key_type in KeyType::ALL {
        let name = key_type.to_string();
        assert_eq!(task::key_type(&name).unwrap(), key_type);
        for other in ["", &name[1..], &name[..name.len() - 1], &format!("{name}x"), &name.to_uppercase()] {
            let known = KeyType::ALL.iter().any(|key_type| key_type.to_string() == other);
            assert_eq!(task::key_type(other).is_ok(), known, "{other:?}");
        }
    }
}

#[test]
fn writes_equal_values_of_a_column_once() {
    for values in [&[][..], &[5], &[5, 5, 5], &[5, 6, 5]] {
        let column = write_numbers(values.iter().copied());
        assert_eq!(column.len(), 4 * if values == [5, 6, 5] { 3 } else { values.len().min(1) });
        let read = WireNumbers::read(&column, values.len(), "test").unwrap();
        assert!((0..values.len()).all(|at| read.at(at) == values[at]));
        assert_eq!(read.sum(values.len()), values.iter().copied().map(u64::from).sum::<u64>());
    }
    for (values, len) in [(&[][..], 0), (&[0, 0], 0), (&[3, 3], 1), (&[0, 3], 2), (&[3, 0], 2), (&[0], 0)] {
        let column = write_bytes(values);
        assert_eq!(column.len(), len, "{values:?}");
        let read = WireBytes::read(&column, values.len(), "test").unwrap();
        assert!((0..values.len()).all(|at| read.at(at) == values[at]));
    }
    assert!(WireNumbers::read(&[0; 5], 1, "test").is_err() && WireNumbers::read(&[0; 8], 3, "test").is_err());
    assert!(WireBytes::read(&[0; 2], 3, "test").is_err());
}

fn message_of(kinds: &[(Key, Scheme, &[u8], &[u8])]) -> proto::Jobs {
    let jobs = (0_u32..).zip(kinds).map(|(handle, (key, scheme, input, second))| {
        (Job::with_scheme(*scheme, key, Input::Message(input), second), handle)
    });
    jobs::write(jobs.collect::<Vec<_>>().into_iter()).unwrap()
}

#[test]
fn writes_and_reads_jobs() {
    let (rsa, edwards) = (held(KeyKind::RsaPrivate(2048)), held(KeyKind::Ed25519Private));
    let sign = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
    let rows = [
        (rsa, sign, &b"one"[..], &b""[..]),
        (edwards.clone(), Scheme::Ed25519Verify, b"", b"a signature"),
        (edwards, Scheme::Ed25519Sign, b"three", b""),
    ];
    let message = message_of(&rows);
    let message = proto::Jobs::decode(&*message.encode_to_vec()).unwrap();
    let columns = jobs::JobColumns::read(&message, &MessageLimits::default()).unwrap();
    assert_eq!((columns.len(), columns.is_empty()), (3, false));
    for (at, (row, (key, scheme, input, second))) in columns.iter().zip(&rows).enumerate() {
        let job = row.with(key);
        assert_eq!((row.handle as usize, job.scheme, job.second), (at, *scheme, *second));
        assert!(matches!(job.input, Input::Message(bytes) if bytes == *input));
    }
}

#[test]
fn writes_and_reads_contexts() {
    let key = held(KeyKind::MlDsaPrivate(MlDsaSet::MlDsa65));
    let (set, variant, nonce) = (MlDsaSet::MlDsa65, MlDsaVariant::Pure, NonceRule::Hedged);
    let long = [7; 300];
    // A context that is too long is the fault of its job, not of the message.
    let contexts = [&b"one"[..], b"", &long];
    let sign = Job::with_scheme(Scheme::MlDsaSign { set, variant, nonce }, &key, Input::Message(b"m"), &[]);
    let jobs = contexts.map(|context| (sign.context(context), 3));
    let message = jobs::write(jobs.into_iter()).unwrap();
    let read = proto::Jobs::decode(&*message.encode_to_vec()).unwrap();
    let columns = jobs::JobColumns::read(&read, &MessageLimits::default()).unwrap();
    for (row, context) in columns.iter().zip(contexts) {
        assert_eq!((row.context, row.with(&key).context, row.second), (context, context, &b""[..]));
    }
    let refused = |change: &dyn Fn(&mut proto::Jobs)| {
        let mut changed = message.clone();
        change(&mut changed);
        jobs::JobColumns::read(&changed, &MessageLimits::default()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|m| m.contexts = Bytes::new()),
        "column contexts: expected 303 bytes, the sum of their lengths, found 0"
    );
    assert_eq!(
        refused(&|m| m.context_lens = Bytes::from_static(&[0; 8])),
        "column context_lens: expected 4 or 12 bytes, found 8"
    );
    let plain = jobs::write([(sign, 3)].into_iter()).unwrap();
    assert!(plain.contexts.is_empty() && plain.context_lens.is_empty());
}

#[test]
fn bounds_the_outputs_that_a_short_message_asks_for() {
    let key = held(KeyKind::MlKemPublic(MlKemSet::MlKem1024));
    let one = jobs::write([(Job::encapsulate(&key), 0)].into_iter()).unwrap();
    let limits = MessageLimits { max_output_bytes: 16_000, ..MessageLimits::default() };
    let many = |count| proto::Jobs { count, ..one.clone() };
    let ten = many(10);
    assert_eq!(jobs::JobColumns::read(&ten, &limits).unwrap().max_output_bytes(), 16_000);
    let error = jobs::JobColumns::read(&many(11), &limits).unwrap_err();
    assert_eq!(error.to_string(), "bytes of outputs: 17600 is more than 16000");
    assert_eq!(error.fault().code(), Code::ResourceExhausted);
    let jobs = vec![(Job::encapsulate(&key), 0); 25];
    let parts = jobs::split_by_outputs(&jobs, &limits);
    assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [10, 10, 5]);
    let tiny = MessageLimits { max_output_bytes: 1, ..limits };
    assert_eq!(jobs::split_by_outputs(&jobs, &tiny).len(), 25);
    let edwards = held(KeyKind::Ed25519Private);
    let sign = Job::with_scheme(Scheme::Ed25519Sign, &edwards, Input::Message(b"m"), &[]);
    assert_eq!(jobs::split_by_outputs(&[(sign, 0); 100], &tiny).len(), 1);
}

#[test]
fn rejects_jobs_whose_columns_do_not_fit() {
    let key = held(KeyKind::Ed25519Private);
    let good = message_of(&[
        (key.clone(), Scheme::Ed25519Sign, b"one", b""),
        (key, Scheme::Ed25519Sign, b"other", b""),
    ]);
    let refused = |change: &dyn Fn(&mut proto::Jobs)| {
        let mut message = good.clone();
        change(&mut message);
        jobs::JobColumns::read(&message, &MessageLimits { max_operations: 10, ..MessageLimits::default() })
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refused(&|m| m.count = 11), "jobs: 11 is more than 10");
    assert_eq!(refused(&|m| m.count = 3), "column input_lens: expected 4 or 12 bytes, found 8");
    assert_eq!(
        refused(&|m| m.inputs = Bytes::new()),
        "column inputs: expected 8 bytes, the sum of their lengths, found 0"
    );
    assert_eq!(refused(&|m| m.schemes.clear()), "schemes is missing");
    assert_eq!(
        refused(&|m| m.scheme_of = Bytes::from_static(&[0, 1])),
        "column scheme_of: an index is beyond the list that it refers to"
    );
    assert_eq!(
        refused(&|m| m.key_of = Bytes::from_static(&[1, 2])),
        "column key_of: expected whole numbers of four bytes, found 2"
    );
    assert_eq!(
        refused(&|m| m.second_lens = Bytes::from_static(&[1, 0, 0, 0])),
        "column seconds: expected 2 bytes, the sum of their lengths, found 0"
    );
}

#[test]
fn writes_and_reads_answers_with_their_faults() {
    let length = JobError::Length { what: "digest", expected: "32".into(), found: 20 };
    let written: Vec<Result<&[u8], JobError>> = vec![
        Ok(b"a signature"),
        Err(JobError::Rejected),
        Ok(b""),
        Err(length.clone()),
        Err(JobError::ShutDown),
    ];
    let message = jobs::write_answers(written.iter().cloned(), jobs::SeparateAnswers::default());
    assert_eq!(message.faults.len(), 2);
    let message = proto::Results::decode(&*message.encode_to_vec()).unwrap();
    let read = jobs::ResultColumns::read(&message, written.len()).unwrap();
    let read: Vec<_> = read.iter("a server").collect();
    assert_eq!((&read[..3]), (&written[..3]));
    let holder = "a server".to_owned();
    assert_eq!(read[3], Err(JobError::HolderRefused { holder: holder.clone(), reason: length.to_string() }));
    let reason = JobError::ShutDown.to_string();
    assert_eq!(read[4], Err(JobError::HolderFailed { holder, reason }));
    assert!(jobs::ResultColumns::read(&message, 4).is_err());
}

#[test]
fn keeps_the_indices_of_refused_jobs_among_the_answers() {
    let written: [Result<&[u8], JobError>; 2] = [Ok(b"one"), Ok(b"two")];
    let refused = |indices: &[u32]| {
        let code = Code::PermissionDenied.into();
        let mut others = jobs::SeparateAnswers::default();
        indices.iter().for_each(|index| others.refuse(*index, &Fault { code, ..Fault::default() }));
        let message = jobs::write_answers(written.iter().cloned(), others);
        let columns = jobs::ResultColumns::read(&message, 2 + indices.len()).unwrap();
        let answers: Vec<_> = columns.iter("s").map(|answer| answer.map(<[u8]>::to_vec).ok()).collect();
        answers.iter().map(|answer| answer.as_ref().map_or(0, |bytes| bytes[0])).collect::<Vec<_>>()
    };
    assert_eq!(refused(&[]), [b'o', b't']);
    assert_eq!(refused(&[0, 1]), [0, 0, b'o', b't']);
    assert_eq!(refused(&[1, 3]), [b'o', 0, b't', 0]);
    assert_eq!(refused(&[2, 3]), [b'o', b't', 0, 0]);
}

#[test]
fn writes_each_fault_once_and_bounds_their_number() {
    let fault = |text: String| Fault { code: Code::NoSuchKey.into(), message: text, ..Fault::default() };
    let none: [Result<&[u8], JobError>; 0] = [];
    let count = 1 << 17;
    let answer = |text: &dyn Fn(u32) -> String| {
        let mut others = jobs::SeparateAnswers::default();
        (0..count).for_each(|index| others.refuse(index, &fault(text(index))));
        jobs::write_answers(none.iter().cloned(), others)
    };
    // Equal faults: one code, one fault.
    let alike = answer(&|_| "not open".to_owned());
    assert!(alike.encoded_len() < 64, "{} bytes", alike.encoded_len());
    // Two faults that alternate.
    let two = answer(&|index| format!("handle {}", index % 2));
    assert_eq!((two.faults.len(), two.faults[1].index), (2, 1));
    let columns = jobs::ResultColumns::read(&two, count as usize).unwrap();
    let reason = |reason: &str| JobError::HolderRefused { holder: "s".into(), reason: reason.into() };
    let read: Vec<_> = columns.iter("s").take(3).map(Result::unwrap_err).collect();
    assert_eq!(read, [reason("handle 0"), reason("handle 1"), reason("handle 0")]);
    // Different, long faults: the table is full, and the codes stay correct.
    let many = answer(&|index| format!("{index}{}", "x".repeat(2000)));
    assert_eq!(many.faults.len(), fault::MAX_FAULTS);
    let bound = 2 * count as usize + fault::MAX_FAULTS * (fault::MAX_FAULT_BYTES + 32);
    assert!(many.encoded_len() < bound, "{} bytes", many.encoded_len());
    let columns = jobs::ResultColumns::read(&many, count as usize).unwrap();
    let last = columns.iter("s").last().unwrap().unwrap_err();
    assert!(matches!(last, JobError::HolderRefused { reason, .. } if reason.starts_with("NO_SUCH_KEY")));
    let mut wrong = two.clone();
    wrong.faults.pop();
    assert!(jobs::ResultColumns::read(&wrong, count as usize).is_err());
}

#[test]
fn gives_faults_their_code_and_blame() {
    let overloaded = fault::fault_of(3, &JobError::Overloaded { queued: 9, bound: 8 });
    assert_eq!((overloaded.code(), overloaded.blame()), (Code::ResourceExhausted, Blame::Machine));
    assert!(overloaded.retry_after_ms > 0);
    let unknown = Fault { code: Code::NoSuchKey.into(), blame: Blame::Caller.into(), ..Fault::default() };
    assert!(matches!(fault::error_of(&unknown, "s"), JobError::HolderRefused { .. }));
}

/// Returns a batch with every kind of column.
fn mixed() -> BatchBuilder {
    let mut builder = BatchBuilder::new();
    let slot = builder.slot(16);
    let unwrap = BatchTask::unwrap_key(KeyWrap::Aes(WrapAlg::Aes128Kw), KeyType::Tdes2);
    builder.add(BatchEntry::new(unwrap).key(3).input(&[9; 24]).output(EntryOutput::Slot(slot))).unwrap();
    let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Tdes2)).key_from(KeySource::Slot(slot));
    builder.add(encrypt.iv(EntryIv::Generated).input(b"12345678")).unwrap();
    builder.add(encrypt.iv(EntryIv::Zero).input(b"1234567812345678")).unwrap();
    let seal = BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm))
        .key(1)
        .aad(b"about")
        .iv(EntryIv::Bytes(&[1; 12]));
    builder.add(seal.input(b"sealed")).unwrap();
    builder
}

fn assert_same(written: &Batch<'_>, read: &Batch<'_>) {
    let (a, b) = (&written.records, &read.records);
    assert_eq!((a.len, a.output_len, &a.data, &written.slots), (b.len, b.output_len, &b.data, &read.slots));
    for at in 0..a.len {
        assert_eq!(written.task.get(at), read.task.get(at));
        let iv = written.iv_from.get(at);
        assert_eq!(iv, read.iv_from.get(at));
        // Only a given IV has a span in the data, which may be shorter than other IVs.
        assert_eq!(a.iv.get(at), b.iv.get(at));
        assert_eq!((a.key.get(at), a.input.get(at)), (b.key.get(at), b.input.get(at)));
        assert_eq!(
            (a.output.get(at), a.tag.get(at), a.aad.get(at)),
            (b.output.get(at), b.tag.get(at), b.aad.get(at))
        );
    }
}

#[test]
fn writes_and_reads_records() {
    let builder = mixed();
    let batch = builder.batch();
    let message = records::write(&batch, |index| index + 10).unwrap();
    let message = proto::Records::decode(&*message.encode_to_vec()).unwrap();
    let read =
        records::read(&message, &MessageLimits::default(), &[], |handle| KeySource::Table(handle - 10))
            .unwrap();
    assert_same(&batch, &read);
    assert!(read.is_complete());
}

#[test]
fn keeps_columns_of_one_value_and_strides() {
    let records = oarlock::Records {
        len: 100,
        data: vec![5; 800].into(),
        output_len: 800,
        input: Column::Stride { first: oarlock::InputSource::Data(span(0, 8)), stride: 8 },
        output: Column::Stride { first: oarlock::OutputSink::Output(span(0, 8)), stride: 8 },
        ..Default::default()
    };
    let batch = Batch {
        iv_from: Column::One(IvSource::Zero),
        ..Batch::uniform(BatchTask::encrypt(BlockCipher::Des), records)
    };
    let message = records::write(&batch, |index| index).unwrap();
    assert!(message.encoded_len() < 900 + 100, "{}", message.encoded_len());
    let read = records::read(&message, &MessageLimits::default(), &[], KeySource::Table).unwrap();
    assert!(matches!(read.records.input, Column::Stride { stride: 8, .. }));
    assert!(matches!(read.records.key, Column::One(KeySource::Table(0))));
    assert_same(&batch, &read);
}

fn span(start: u32, len: u32) -> oarlock::Span {
    oarlock::Span { start, len }
}

#[test]
fn rejects_records_beyond_the_limits() {
    let builder = mixed();
    let good = records::write(&builder.batch(), |index| index).unwrap();
    let limits = MessageLimits { max_operations: 4, max_output_bytes: 200, ..MessageLimits::default() };
    let refused = |change: &dyn Fn(&mut proto::Records)| {
        let mut message = good.clone();
        change(&mut message);
        records::read(&message, &limits, &[], KeySource::Table).unwrap_err().to_string()
    };
    assert_eq!(refused(&|m| m.count = 5), "records: 5 is more than 4");
    assert_eq!(refused(&|m| m.output_len = 201), "output_len: 201 is more than 200");
    assert_eq!(refused(&|m| m.slot_lens = vec![100; 3]), "slot_lens: 300 is more than 200");
    assert_eq!(
        refused(&|m| m.iv_rule = Bytes::from_static(&[9; 4])),
        "IV rule: the value 9 is not known here"
    );
    assert_eq!(refused(&|m| m.tasks.clear()), "tasks is missing");
    let short = proto::Spans { each: Bytes::from_static(&[0; 8]), ..Default::default() };
    assert_eq!(refused(&|m| m.tag = Some(short.clone())), "column tag: expected 32 bytes, found 8");
}

#[test]
fn takes_frames_only_when_they_are_complete() {
    let request = Request { id: 5, body: Some(request::Body::CloseKey(proto::CloseKey { handle: 3 })) };
    let mut all = BytesMut::new();
    frame::write(&request, &mut all).unwrap();
    frame::write(&Request::default(), &mut all).unwrap();
    let mut received = BytesMut::new();
    let mut taken = Vec::new();
    for byte in all {
        received.extend_from_slice(&[byte]);
        taken.extend(frame::take(&mut received, 100).unwrap());
    }
    assert_eq!(taken.len(), 2);
    assert_eq!(Request::decode(taken[0].clone()).unwrap(), request);
    assert!(taken[1].is_empty() && received.is_empty());
    let mut long = BytesMut::from(&[101, 0, 0, 0][..]);
    assert!(matches!(frame::take(&mut long, 100), Err(WireError::TooMany { found: 101, bound: 100, .. })));
}

/// Compares the gRPC statuses in the comments of the protocol with those of the document.
#[test]
fn names_the_same_statuses_in_the_protocol_and_its_document() {
    let (_, list) = include_str!("../proto/oarlock/v1/cryptoserver.proto").split_once("enum Code {").unwrap();
    let lines = list.lines().take_while(|line| *line != "}").map(str::trim).collect::<Vec<_>>().join("\n");
    let document = include_str!("../../../../docs/cryptoserver/clients.md");
    let mut codes = 0;
    for part in lines.split(';').filter(|part| part.contains('=')) {
        let (comment, code) = part.rsplit_once('\n').unwrap();
        let (code, number) = code.split_once(" = ").unwrap();
        assert_eq!(Code::try_from(number.parse::<i32>().unwrap()).unwrap().as_str_name(), code);
        let (_, status) = comment.rsplit_once("gRPC: ").unwrap();
        let status = status.trim_end_matches('.').split(',').next().unwrap();
        assert!(document.contains(&format!("\n| `{code}` | `{status}`")), "{code}: {status}");
        codes += 1;
    }
    assert_eq!(codes, 14);
}

#[test]
fn sets_the_packages_of_generated_code_in_other_languages() {
    for option in ["github.com/oarlock/oarlock/gen/go/oarlock/v1;oarlockv1", "io.github.oarlock.v1"] {
        let is_there = proto::DESCRIPTORS.windows(option.len()).any(|bytes| bytes == option.as_bytes());
        assert!(is_there, "{option}");
    }
}

#[test]
fn shows_no_secret_bytes_in_debug() {
    let secret = Bytes::from_static(b"hunter2hunter2hunter2");
    let symmetric = proto::Symmetric { r#type: "hmac".into(), secret };
    let source = Some(proto::open_key::Source::Symmetric(symmetric));
    let open = proto::OpenKey { handle: 1, source, ..Default::default() };
    let body = request::Body::OpenKey(open);
    for text in [format!("{body:?}"), format!("{:?}", Request { id: 1, body: Some(body) })] {
        assert!(!text.contains("hunter") && !text.contains("104"), "{text}");
    }
}
