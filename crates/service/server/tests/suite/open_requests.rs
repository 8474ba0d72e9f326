//! Requests for records that stay open.

use oarlock::batch::{BatchBuilder, BatchEntry, BatchOutcome, BatchTask, EntryIv};
use oarlock::table::{KeyPolicy, KeyTable, KeyType};
use oarlock::{Accelerator, AeadAlg, BlockCipher, DigestAlg, MacAlg, Status};
use oarlock_wire::append::{AppendLayout, RecordAppender};
use oarlock_wire::proto::{self, Code, IvRule, OpenRecords, open_key, request, response};
use oarlock_wire::{LinkError, LinkTransport, MessageLimits, OpenRequest, ServerLink, task};

use crate::test_server::{TestServer, engines, open, open_resident};

/// Keys by type, which tests bring.
const KEYS: [(&str, usize); 3] = [("tdes2", 16), ("aes128", 16), ("hmac", 32)];

fn opening(tasks: &[BatchTask], iv_rule: IvRule, aad_len: u32) -> OpenRecords {
    let tasks = tasks.iter().map(|task| task::write(*task).unwrap()).collect();
    OpenRecords { tasks, iv_rule: iv_rule.into(), aad_len }
}

fn layout(open: &OpenRecords) -> AppendLayout {
    AppendLayout::read(open, &MessageLimits::default()).unwrap()
}

fn secret(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|at| (at as u8).wrapping_mul(29) ^ seed).collect()
}

/// Opens the keys of a test, `each` of every type. Key `number` of type `kind` has the handle `kind * each + number`.
async fn open_own(link: &ServerLink, each: u32) {
    for (kind, (name, len)) in (0_u32..).zip(KEYS) {
        for number in 0..each {
            let handle = kind * each + number;
            let secret = secret(len, handle as u8).into();
            open(link, handle, open_key::Source::Symmetric(proto::Symmetric { r#type: name.into(), secret }))
                .await;
        }
    }
}

/// Makes the same keys in a table, by the same indices.
fn own_table(each: u32) -> KeyTable {
    let table = KeyTable::new();
    for (kind, (name, len)) in (0_u32..).zip(KEYS) {
        let key_type = KeyType::ALL.into_iter().find(|own| own.to_string() == name).unwrap();
        for number in 0..each {
            let handle = kind * each + number;
            let secret: oarlock::SecretBytes = secret(len, handle as u8).into();
            let added =
                table.insert(format!("key {handle}"), key_type, secret, KeyPolicy::any_data(key_type));
            assert_eq!(added.unwrap().index, handle);
        }
    }
    table
}

/// Returns the codes and the outputs of all records, in order, and the number of answers.
async fn collect(open: &mut OpenRequest<'_>) -> (Vec<u8>, Vec<u8>, usize) {
    let (mut codes, mut output, mut answers) = (Vec::new(), Vec::new(), 0);
    while let Some(results) = open.results().await.unwrap() {
        assert_eq!(results.first as usize, codes.len());
        let count = results.count as usize;
        codes.extend(oarlock_wire::records::codes(&results, count).unwrap().map(|code| code as u8));
        output.extend_from_slice(&results.output);
        answers += 1;
    }
    (codes, output, answers)
}

/// A record of a test: the index of its task, its handle, IV, associated data and input.
type TestRecord = (u8, u32, Vec<u8>, Vec<u8>, Vec<u8>);

async fn append_all(
    open: &mut OpenRequest<'_>,
    layout: &AppendLayout,
    records: &[TestRecord],
    sizes: &[usize],
) {
    let mut appender = RecordAppender::new(layout.clone());
    let mut sizes = sizes.iter().cycle();
    let mut rest = records;
    while !rest.is_empty() {
        let (now, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
        for (task, key, iv, aad, input) in now {
            appender.add(*task, *key, iv, aad, input).unwrap();
        }
        open.append(appender.take().unwrap()).await.unwrap();
        rest = later;
    }
}

/// Computes the same records in this process.
fn computed(
    tasks: &[BatchTask],
    iv: IvRule,
    table: &KeyTable,
    records: &[TestRecord],
) -> (Vec<bool>, Vec<u8>) {
    let mut builder = BatchBuilder::new();
    for (index, key, given, aad, input) in records {
        let task = tasks[usize::from(*index)];
        let mut entry = BatchEntry::new(task).key(*key);
        let source = match iv {
            IvRule::IvGiven => EntryIv::Bytes(given),
            _ => EntryIv::Zero,
        };
        if matches!(task.shape(), oarlock::Shape::Cipher { .. } | oarlock::Shape::Aead { .. }) {
            entry = entry.iv(source);
        }
        entry = match task.shape() {
            oarlock::Shape::Aead { direction: oarlock::Direction::Decrypt, .. } => {
                let at = input.len().saturating_sub(16);
                entry.aad(aad).input(&input[..at]).tag(&input[at..])
            }
            oarlock::Shape::Aead { .. } => entry.aad(aad).input(input),
            _ => entry.input(input),
        };
        builder.add(entry).unwrap();
    }
    let accelerator: Accelerator = engines().build().unwrap();
    let outcome: BatchOutcome = accelerator.run_batch(table, &builder.batch()).unwrap();
    let done = outcome.statuses().iter().map(|status| *status == Status::Done).collect();
    (done, outcome.output().to_vec())
}

fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + seed * 31) as u8).collect()
}

#[tokio::test]
async fn records_have_the_results_that_they_have_in_process() {
    let server = TestServer::with(|config, _| config.limits.may_bring_keys = true).await;
    let ciphers = [BatchTask::encrypt(BlockCipher::Tdes2), BatchTask::decrypt(BlockCipher::Tdes2)];
    let seal = [BatchTask::seal(AeadAlg::Aes128Gcm)];
    let macs = [BatchTask::mac(MacAlg::HmacSha256), BatchTask::digest(DigestAlg::Sha1)];
    let cases: [(&[BatchTask], IvRule, usize, usize, u32); 4] = [
        (&ciphers, IvRule::IvGiven, 8, 0, 0),
        (&ciphers[..1], IvRule::IvZero, 0, 0, 0),
        (&seal, IvRule::IvGiven, 12, 5, 3),
        (&macs, IvRule::IvGiven, 0, 0, 6),
    ];
    let table = own_table(3);
    for endpoint in [server.unix(), server.tls()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        open_own(&link, 3).await;
        for (tasks, iv_rule, iv_len, aad_len, first_key) in cases {
            let open = opening(tasks, iv_rule, aad_len as u32);
            for (count, uneven, sizes) in
                [(1, true, &[1][..]), (700, true, &[1, 3, 200]), (700, false, &[64]), (3000, false, &[1000])]
            {
                let record = |at: usize| {
                    let blocks = if uneven { 1 + at % 9 } else { 5 };
                    let task = if uneven { (at % tasks.len()) as u8 } else { 0 };
                    let key = first_key + (at % 3) as u32;
                    (task, key, bytes(iv_len, at), bytes(aad_len, at + 1), bytes(8 * blocks, at + 2))
                };
                let records: Vec<TestRecord> = (0..count).map(record).collect();
                let mut request = link.open_records(open.clone()).await.unwrap();
                append_all(&mut request, &layout(&open), &records, sizes).await;
                let (codes, output, _) = collect(&mut request).await;
                assert_eq!(codes, vec![0; count], "{tasks:?} {iv_rule:?}");
                let (done, expected) = computed(tasks, iv_rule, &table, &records);
                assert!(done.iter().all(|done| *done));
                assert_eq!(output, expected, "{tasks:?} {iv_rule:?} {count} {sizes:?}");
                request.close().await.unwrap();
                assert_eq!(request.under_way(), 0);
            }
        }
    }
}

#[tokio::test]
async fn sealed_records_with_generated_ivs_can_be_opened() {
    let server = TestServer::with(|config, _| config.limits.may_bring_keys = true).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let cbc = opening(&[BatchTask::encrypt(BlockCipher::Tdes2)], IvRule::IvGenerated, 0);
    open_own(&link, 1).await;
    let mut request = link.open_records(cbc.clone()).await.unwrap();
    let records: Vec<TestRecord> =
        (0..50).map(|at| (0, 0, vec![], vec![], bytes(8 + 8 * (at % 3), at))).collect();
    append_all(&mut request, &layout(&cbc), &records, &[7]).await;
    let (codes, output, _) = collect(&mut request).await;
    assert_eq!(codes, [0; 50]);
    let back = opening(&[BatchTask::decrypt(BlockCipher::Tdes2)], IvRule::IvGiven, 0);
    let mut request = link.open_records(back.clone()).await.unwrap();
    let mut rest = &output[..];
    let sealed: Vec<TestRecord> = records
        .iter()
        .map(|(.., input)| {
            let (own, later) = rest.split_at(8 + input.len());
            rest = later;
            (0, 0, own[..8].to_vec(), vec![], own[8..].to_vec())
        })
        .collect();
    append_all(&mut request, &layout(&back), &sealed, &[50]).await;
    let (codes, output, _) = collect(&mut request).await;
    assert_eq!(codes, [0; 50]);
    assert_eq!(output, records.iter().flat_map(|record| record.4.clone()).collect::<Vec<u8>>());
}

#[tokio::test]
async fn a_bad_record_fails_alone() {
    let server = TestServer::with(|config, _| config.limits.may_bring_keys = true).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_own(&link, 1).await;
    let open = opening(&[BatchTask::open(AeadAlg::Aes128Gcm)], IvRule::IvGiven, 0);
    let mut request = link.open_records(open.clone()).await.unwrap();
    // A wrong tag, an input shorter than a tag, a handle without a key, and a key of another kind.
    let records: Vec<TestRecord> = vec![
        (0, 1, vec![0; 12], vec![], vec![1; 24]),
        (0, 1, vec![0; 12], vec![], vec![1; 3]),
        (0, 9, vec![0; 12], vec![], vec![1; 24]),
        (0, 0, vec![0; 12], vec![], vec![1; 24]),
    ];
    append_all(&mut request, &layout(&open), &records, &[4]).await;
    let (codes, output, _) = collect(&mut request).await;
    let expected = [Code::Rejected, Code::Invalid, Code::NoSuchKey, Code::WrongKey].map(|code| code as u8);
    assert_eq!(codes, expected);
    assert!(output.iter().all(|byte| *byte == 0));
    assert_eq!(output.len(), 8 + 8 + 8);
}

#[tokio::test]
async fn a_malformed_append_ends_its_request_and_no_record_before_it() {
    let server = TestServer::with(|config, _| config.limits.may_bring_keys = true).await;
    for endpoint in [server.unix(), server.tls()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        open_own(&link, 1).await;
        let open = opening(&[BatchTask::encrypt(BlockCipher::Tdes2)], IvRule::IvZero, 0);
        let good = || {
            let mut appender = RecordAppender::new(layout(&open));
            (0..100).for_each(|_| appender.add(0, 0, &[], &[], &[1; 16]).unwrap());
            appender.take().unwrap()
        };
        let bad = [
            proto::AppendRecords { count: 7, ..good() },
            proto::AppendRecords { task_of: vec![1; 100].into(), ..good() },
            proto::AppendRecords { key_of: vec![0; 12].into(), ..good() },
            proto::AppendRecords { input_lens: vec![255; 4].into(), ..good() },
            proto::AppendRecords { count: u32::MAX, ..good() },
        ];
        for bad in bad {
            let mut request = link.open_records(open.clone()).await.unwrap();
            request.append(good()).await.unwrap();
            request.append(bad).await.unwrap();
            let results = request.results().await.unwrap().unwrap();
            assert_eq!((results.first, results.count, results.codes.len()), (0, 100, 0));
            let error = request.results().await.unwrap_err();
            let LinkError::Refused(fault) = error else { panic!("{error:?}") };
            assert!(matches!(fault.code(), Code::Invalid | Code::ResourceExhausted), "{fault:?}");
            // The request has ended.
            request.append(good()).await.unwrap();
            let error = request.results().await.unwrap_err();
            assert!(error.to_string().contains("no request for records is open"), "{error}");
        }
        // The stream goes on.
        let mut request = link.open_records(open.clone()).await.unwrap();
        request.append(good()).await.unwrap();
        assert_eq!(collect(&mut request).await.0, [0; 100]);
    }
}

#[tokio::test]
async fn what_cannot_be_opened_is_refused_with_a_reason() {
    let server = TestServer::new().await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let encrypt = BatchTask::encrypt(BlockCipher::Tdes2);
    let mut unknown = opening(&[encrypt], IvRule::IvZero, 0);
    unknown.tasks[0].algorithm = "rot13".into();
    let translate = BatchTask::translate(BlockCipher::Tdes2, BlockCipher::Tdes2);
    for (open, code, reason) in [
        (opening(&[], IvRule::IvZero, 0), Code::Invalid, "tasks is missing"),
        (opening(&[translate], IvRule::IvZero, 0), Code::Unsupported, "task of an open request"),
        (opening(&[encrypt], IvRule::IvSlot, 0), Code::Unsupported, "IV rule of an open request"),
        (unknown, Code::Unsupported, "rot13"),
        (
            opening(&[encrypt, BatchTask::encrypt(BlockCipher::Aes128)], IvRule::IvGiven, 0),
            Code::Invalid,
            "tasks whose IVs have 8 bytes each",
        ),
        (opening(&[encrypt], IvRule::IvZero, u32::MAX), Code::ResourceExhausted, "aad_len"),
    ] {
        let error = link.open_records(open).await.unwrap_err();
        let LinkError::Refused(fault) = error else { panic!("{error:?}") };
        assert_eq!(fault.code(), code, "{}", fault.message);
        assert!(fault.message.contains(reason), "{}", fault.message);
    }
    let mut all = Vec::new();
    loop {
        match link.open_records(opening(&[encrypt], IvRule::IvZero, 0)).await {
            Ok(request) => all.push(request),
            Err(error) => {
                assert!(error.to_string().contains("64 requests for records are open"), "{error}");
                break;
            }
        }
    }
    assert_eq!(all.len(), 64);
    // A closed request makes space for another one.
    all[5].close().await.unwrap();
    link.open_records(opening(&[encrypt], IvRule::IvZero, 0)).await.unwrap();
}

#[tokio::test]
async fn a_key_may_be_closed_after_the_append_that_uses_it() {
    let server = TestServer::new().await;
    for endpoint in [server.unix(), server.tls()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        open_resident(&link, 3, "tdes2").await;
        let open = opening(&[BatchTask::encrypt(BlockCipher::Tdes2)], IvRule::IvZero, 0);
        let mut request = link.open_records(open.clone()).await.unwrap();
        let mut appender = RecordAppender::new(layout(&open));
        for _ in 0..20 {
            (0..500).for_each(|_| appender.add(0, 3, &[], &[], &[1; 16]).unwrap());
            request.append(appender.take().unwrap()).await.unwrap();
        }
        link.call(request::Body::CloseKey(proto::CloseKey { handle: 3 })).await.unwrap();
        (0..5).for_each(|_| appender.add(0, 3, &[], &[], &[1; 16]).unwrap());
        request.append(appender.take().unwrap()).await.unwrap();
        let (codes, ..) = collect(&mut request).await;
        assert_eq!(codes[..10_000], [0; 10_000]);
        assert_eq!(codes[10_000..], [Code::NoSuchKey as u8; 5]);
    }
}

#[tokio::test]
async fn an_append_that_is_longer_than_the_ring_keeps_its_place() {
    let server = TestServer::with(|config, _| config.limits.max_ring_bytes = 1 << 14).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    assert_eq!(*link.transport(), LinkTransport::Ring);
    open_resident(&link, 0, "tdes2").await;
    let open = opening(&[BatchTask::encrypt(BlockCipher::Tdes2)], IvRule::IvZero, 0);
    let mut request = link.open_records(open.clone()).await.unwrap();
    let mut appender = RecordAppender::new(layout(&open));
    let mut expected = 0;
    for round in 0..60_usize {
        let len = if round % 7 == 3 { 40_000 } else { 80 };
        (0..3).for_each(|at| appender.add(0, 0, &[], &[], &bytes(len, round * 3 + at)).unwrap());
        request.append(appender.take().unwrap()).await.unwrap();
        expected += 3 * len;
    }
    let (codes, output, _) = collect(&mut request).await;
    assert_eq!((codes, output.len()), (vec![0; 180], expected));
    // Decrypting by whole messages gives the inputs back, in their order.
    let mut at = 0;
    for round in 0..60_usize {
        let len = if round % 7 == 3 { 40_000 } else { 80 };
        let mut builder = BatchBuilder::new();
        for _ in 0..3 {
            let decrypt = BatchEntry::new(BatchTask::decrypt(BlockCipher::Tdes2));
            builder.add(decrypt.key(0).iv(EntryIv::Zero).input(&output[at..at + len])).unwrap();
            at += len;
        }
        let message = oarlock_wire::records::write(&builder.batch(), |index| index).unwrap();
        let response::Body::RecordResults(results) =
            link.call(request::Body::Records(message)).await.unwrap()
        else {
            panic!("results of records");
        };
        let inputs: Vec<u8> = (0..3).flat_map(|at| bytes(len, round * 3 + at)).collect();
        assert_eq!(results.output, inputs, "round {round}");
    }
}

/// A producer that appends and never reads is not read any more, and does not grow the server's memory.
#[tokio::test]
async fn appends_of_a_client_that_reads_nothing_stay_within_its_bytes() {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use oarlock_wire::Message;
    let server = TestServer::with(|config, _| {
        config.limits.may_bring_keys = true;
        config.limits.max_message_bytes = 1 << 20;
        config.limits.max_bytes_per_client = 8 << 20;
        config.limits.max_stall_seconds = 1;
    })
    .await;
    let path = server.addresses.unix.clone().unwrap();
    let blocked = tokio::task::spawn_blocking(move || {
        let mut socket = UnixStream::connect(path).unwrap();
        socket.write_all(oarlock_wire::frame::PREAMBLE).unwrap();
        let digest = opening(&[BatchTask::digest(DigestAlg::Sha512)], IvRule::IvZero, 0);
        let mut appender = RecordAppender::new(layout(&digest));
        (0..4096).for_each(|_| appender.add(0, 0, &[], &[], &[1; 8]).unwrap());
        let append = appender.take().unwrap();
        let mut send = |body| {
            let message = proto::Request { id: 1, body: Some(body) }.encode_to_vec();
            let mut frame = (message.len() as u32).to_le_bytes().to_vec();
            frame.extend_from_slice(&message);
            socket.write_all(&frame)
        };
        send(request::Body::OpenRecords(digest)).unwrap();
        // The server stops reading, and ends the connection of a client that takes no answers.
        let mut sent = 0;
        while sent < 10_000 && send(request::Body::AppendRecords(append.clone())).is_ok() {
            sent += 1;
        }
        sent
    })
    .await
    .unwrap();
    assert!(blocked < 10_000, "the server took {blocked} appends, whose results have 2.6 GB");
    let link = ServerLink::open(&server.tls()).await.unwrap();
    open_resident(&link, 0, "tdes2").await;
}
