//! TLS records by the kernel, against AWS-LC. Without the kernel's TLS most tests say SKIPPED; `cargo xtask
//! kernel-test` runs them in a guest whose kernel has it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod records;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

use oarlock_kernel_tls::{
    KernelCipher, KernelKeys, KernelStep, KernelTlsError, KernelTlsVersion, ReceivedRecord, RecordOwner,
    SplicePipe, SpliceResult, TlsRecordKind, UserSpaceReason, attach, attach_receiving, connected_pair,
    probe, receive_record, rekey_support, send_close_notify, send_file, send_key_update, send_record,
    send_whole_file, update_receiving,
};
use records::{TestDirection, all_records};

/// Set by `cargo xtask kernel-test`: a skipped test is then a failure.
const REQUIRED: &str = "OARLOCK_REQUIRE_KERNEL_TLS";

/// Says SKIPPED if the kernel refuses a version and cipher.
fn kernel_takes(version: KernelTlsVersion, cipher: KernelCipher) -> bool {
    let (stream, _peer) = connected_pair().unwrap();
    let keys = TestDirection::new(version, cipher, 1).keys(0);
    let attached = attach(&stream, &keys, &keys, &[]);
    let takes = attached.why_not.is_empty();
    if !takes {
        println!("SKIPPED: {version} {cipher}: {}", attached.why_not[0]);
        assert!(std::env::var_os(REQUIRED).is_none(), "{:?}", attached.why_not);
    }
    takes
}

const USUAL: (KernelTlsVersion, KernelCipher) = (KernelTlsVersion::Tls13, KernelCipher::Aes128Gcm);

/// Every version and cipher that the kernel takes. The guest's kernel lacks the module of one of them.
fn taken_by_kernel() -> Vec<(KernelTlsVersion, KernelCipher)> {
    if !kernel_takes(USUAL.0, USUAL.1) {
        return Vec::new();
    }
    let all = KernelTlsVersion::ALL
        .into_iter()
        .flat_map(|version| KernelCipher::ALL.map(|cipher| (version, cipher)));
    let report = probe().unwrap();
    let taken = all.filter(|(version, cipher)| {
        let entry = report.cipher(*version, *cipher).unwrap();
        entry.send.works() && entry.receive.works()
    });
    taken.collect()
}

/// Text that is the same at every run, and has no short period.
fn content(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * at / 7 + at) as u8).collect()
}

fn file_with(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file
}

/// Reads to the end on a thread of its own, so that the sender never waits.
fn read_all(mut peer: TcpStream) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        peer.read_to_end(&mut all).unwrap();
        all
    })
}

#[test]
fn a_probe_answers_on_every_kernel() {
    let report = probe().unwrap();
    assert_eq!(report.ciphers.len(), 6);
    assert!(report.plain_write_costs.nanoseconds(100) > 0.0);
    if !report.ulp.works() {
        println!("{}", report.ulp);
        assert!(report.ciphers.iter().all(|entry| !entry.send.works() && !entry.receive.works()));
        assert!(!report.rekey.works() && !report.send_file.works() && report.send_file_costs.is_none());
        assert!(matches!(rekey_support(), Err(KernelTlsError::NoRekey(_))));
    }
}

#[test]
fn a_kernel_without_tls_leaves_both_directions() {
    if probe().unwrap().ulp.works() {
        println!("SKIPPED: this kernel has TLS");
        return;
    }
    let (stream, mut peer) = connected_pair().unwrap();
    let keys = TestDirection::new(USUAL.0, USUAL.1, 1).keys(0);
    let attached = attach(&stream, &keys, &keys, &[]);
    assert_eq!((attached.sent_by, attached.received_by), (RecordOwner::UserSpace, RecordOwner::UserSpace));
    let [UserSpaceReason::Both(refusal)] = attached.why_not[..] else { panic!("{attached:?}") };
    assert_eq!((refusal.step, refusal.errno), (KernelStep::Ulp, 2), "{refusal}");
    assert!(refusal.to_string().contains("modprobe tls"), "{refusal}");
    // The connection is as it was.
    (&stream).write_all(b"plain").unwrap();
    let mut read = [0; 5];
    peer.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"plain");
    assert!(matches!(send_key_update(&stream, &keys, false), Err(KernelTlsError::NoRekey(_))));
}

/// Half a record in user space, and early application data: the kernel must not begin in the middle.
#[test]
fn unopened_bytes_keep_receiving_in_user_space() {
    let from_peer = TestDirection::new(USUAL.0, USUAL.1, 2);
    let record = from_peer.seal(0, TlsRecordKind::ApplicationData, &content(500));
    for read in [1, 4, 5, 6, record.len() - 1] {
        let (stream, _peer) = connected_pair().unwrap();
        let to_peer = TestDirection::new(USUAL.0, USUAL.1, 1);
        let attached = attach(&stream, &to_peer.keys(0), &from_peer.keys(0), &record[..read]);
        assert_eq!(attached.received_by, RecordOwner::UserSpace);
        let missing = if read < 5 { 5 - read } else { record.len() - read };
        let reason = UserSpaceReason::PartialRecord { read, missing };
        assert!(attached.why_not.contains(&reason), "{attached:?}");
    }
    let (stream, _peer) = connected_pair().unwrap();
    let early = [&record[..], &record].concat();
    let keys = from_peer.keys(0);
    let attached = attach(&stream, &keys, &keys, &early);
    assert!(attached.why_not.contains(&UserSpaceReason::UnopenedRecords { records: 2 }), "{attached:?}");
    assert_eq!(attached.received_by, RecordOwner::UserSpace);
}

#[test]
fn the_kernel_seals_what_aws_lc_opens() {
    for (version, cipher) in taken_by_kernel() {
        let (stream, peer) = connected_pair().unwrap();
        let to_peer = TestDirection::new(version, cipher, 1);
        let other = TestDirection::new(version, cipher, 2);
        let attached = attach(&stream, &to_peer.keys(5), &other.keys(0), &[]);
        assert_eq!(attached.sent_by, RecordOwner::Kernel, "{attached:?}");
        let all = read_all(peer);
        let sent = content(100_000);
        (&stream).write_all(&sent).unwrap();
        send_record(&stream, TlsRecordKind::Handshake, b"a ticket").unwrap();
        send_close_notify(&stream).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let opened = to_peer.open_all(5, &all.join().unwrap());
        let kinds: Vec<u8> = opened.iter().map(|(kind, _)| kind.number()).collect();
        assert_eq!(&kinds[kinds.len() - 3..], [23, 22, 21], "{version} {cipher}");
        let (data, last) = opened.split_at(opened.len() - 2);
        let data: Vec<u8> = data.iter().flat_map(|(_, content)| content.clone()).collect();
        assert_eq!(data, sent, "{version} {cipher}");
        assert_eq!((&last[0].1[..], &last[1].1[..]), (&b"a ticket"[..], &[1, 0][..]));
    }
}

#[test]
fn the_kernel_opens_what_aws_lc_seals() {
    for (version, cipher) in taken_by_kernel() {
        let (stream, mut peer) = connected_pair().unwrap();
        let to_peer = TestDirection::new(version, cipher, 1);
        let other = TestDirection::new(version, cipher, 2);
        // These records wait in the socket before the hand-over: no byte of them may be lost.
        let sent = content(40_000);
        for (number, part) in (7..).zip(sent[..20_000].chunks(9000)) {
            peer.write_all(&other.seal(number, TlsRecordKind::ApplicationData, part)).unwrap();
        }
        let attached = attach(&stream, &to_peer.keys(0), &other.keys(7), &[]);
        assert_eq!(attached.received_by, RecordOwner::Kernel, "{attached:?}");
        for (number, part) in (10..).zip(sent[20_000..].chunks(10_000)) {
            peer.write_all(&other.seal(number, TlsRecordKind::ApplicationData, part)).unwrap();
        }
        peer.write_all(&other.seal(12, TlsRecordKind::Alert, &[1, 0])).unwrap();
        drop(peer);
        let (received, last) = receive_data(&stream);
        assert_eq!(received, sent, "{version} {cipher}");
        assert_eq!(last, Some((TlsRecordKind::Alert, vec![1, 0])));
        assert_eq!(receive_record(&stream, &mut [0; 100]).unwrap(), None);
    }
}

/// Receives application data up to another record, which is returned, or the end.
fn receive_data(stream: &TcpStream) -> (Vec<u8>, Option<(TlsRecordKind, Vec<u8>)>) {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 17_000]);
    while let Some(ReceivedRecord { kind, len }) = receive_record(stream, &mut buffer).unwrap() {
        match kind {
            TlsRecordKind::ApplicationData => all.extend_from_slice(&buffer[..len]),
            _ => return (all, Some((kind, buffer[..len].to_vec()))),
        }
    }
    (all, None)
}

#[test]
fn receiving_is_handed_over_after_the_rest_of_a_record() {
    if !kernel_takes(USUAL.0, USUAL.1) {
        return;
    }
    let (stream, mut peer) = connected_pair().unwrap();
    let (to_peer, other) = (TestDirection::new(USUAL.0, USUAL.1, 1), TestDirection::new(USUAL.0, USUAL.1, 2));
    let first = other.seal(0, TlsRecordKind::ApplicationData, b"first");
    peer.write_all(&first).unwrap();
    peer.write_all(&other.seal(1, TlsRecordKind::ApplicationData, b"second")).unwrap();
    let mut leftover = vec![0; 9];
    (&stream).read_exact(&mut leftover).unwrap();
    let attached = attach(&stream, &to_peer.keys(0), &other.keys(0), &leftover);
    assert_eq!((attached.sent_by, attached.received_by), (RecordOwner::Kernel, RecordOwner::UserSpace));
    let [UserSpaceReason::PartialRecord { read: 9, missing }] = attached.why_not[..] else {
        panic!("{attached:?}")
    };
    let mut rest = vec![0; missing];
    (&stream).read_exact(&mut rest).unwrap();
    leftover.extend(rest);
    assert_eq!(other.open_all(0, &leftover)[0].1, b"first");
    attach_receiving(&stream, &other.keys(1), &[]).unwrap();
    drop(peer);
    assert_eq!(receive_data(&stream), (b"second".to_vec(), None));
}

#[test]
fn a_forged_record_is_an_error() {
    if !kernel_takes(USUAL.0, USUAL.1) {
        return;
    }
    let (stream, mut peer) = connected_pair().unwrap();
    let other = TestDirection::new(USUAL.0, USUAL.1, 2);
    let _ = attach(&stream, &other.keys(0), &other.keys(0), &[]);
    let mut record = other.seal(0, TlsRecordKind::ApplicationData, b"text");
    *record.last_mut().unwrap() ^= 1;
    peer.write_all(&record).unwrap();
    let error = receive_record(&stream, &mut [0; 100]).unwrap_err();
    assert!(error.to_string().starts_with("EBADMSG: a record was forged"), "{error}");
}

#[test]
fn a_key_update_is_sent_only_where_the_kernel_takes_new_keys() {
    if !kernel_takes(USUAL.0, USUAL.1) {
        return;
    }
    let (stream, mut peer) = connected_pair().unwrap();
    let (to_peer, next) = (TestDirection::new(USUAL.0, USUAL.1, 1), TestDirection::new(USUAL.0, USUAL.1, 3));
    let other = TestDirection::new(USUAL.0, USUAL.1, 2);
    let _ = attach(&stream, &to_peer.keys(0), &other.keys(0), &[]);
    let result = send_key_update(&stream, &next.keys(0), false);
    (&stream).write_all(b"behind it").unwrap();
    peer.write_all(&other.seal(0, TlsRecordKind::Handshake, &[24, 0, 0, 1, 0])).unwrap();
    let received = receive_record(&stream, &mut [0; 100]).unwrap();
    assert_eq!(received, Some(ReceivedRecord { kind: TlsRecordKind::Handshake, len: 5 }));
    let updated = update_receiving(&stream, &next.keys(0));
    peer.shutdown(Shutdown::Write).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let sent = all_records(&read_all(peer).join().unwrap());
    match result {
        Ok(()) => {
            assert_eq!(to_peer.open_all(0, &sent[0]), [(TlsRecordKind::Handshake, vec![24, 0, 0, 1, 0])]);
            assert_eq!(next.open_all(0, &sent[1]), [(TlsRecordKind::ApplicationData, b"behind it".to_vec())]);
            updated.unwrap();
        }
        Err(error) => {
            // Linux before 6.14. The peer saw no KeyUpdate, and the old keys are in force.
            assert!(error.to_string().starts_with("no KeyUpdate was sent: EBUSY: "), "{error}");
            assert_eq!(
                to_peer.open_all(0, &sent[0]),
                [(TlsRecordKind::ApplicationData, b"behind it".to_vec())]
            );
            assert_eq!(sent.len(), 1);
            let error = updated.unwrap_err();
            assert!(error.to_string().starts_with("EBUSY: this kernel takes keys once"), "{error}");
        }
    }
}

#[test]
fn a_file_is_sent_without_user_space() {
    let sent = content(300_000);
    let file = file_with(&sent);
    // Without TLS first: that works on every kernel.
    let (stream, peer) = connected_pair().unwrap();
    let all = read_all(peer);
    let mut offset = 299_000;
    assert_eq!(send_file(&stream, &file, &mut offset, usize::MAX).unwrap(), 1000);
    assert_eq!(offset, 300_000);
    assert_eq!(send_file(&stream, &file, &mut offset, usize::MAX).unwrap(), 0);
    // The file ends early.
    assert_eq!(send_whole_file(&stream, &file, 100_000, u64::MAX).unwrap(), 200_000);
    drop(stream);
    assert_eq!(all.join().unwrap(), [&sent[299_000..], &sent[100_000..]].concat());
    for (version, cipher) in taken_by_kernel() {
        let (stream, peer) = connected_pair().unwrap();
        let to_peer = TestDirection::new(version, cipher, 1);
        let _ = attach(&stream, &to_peer.keys(0), &to_peer.keys(0), &[]);
        let all = read_all(peer);
        assert_eq!(send_whole_file(&stream, &file, 0, 300_000).unwrap(), 300_000);
        send_close_notify(&stream).unwrap();
        drop(stream);
        let mut opened = to_peer.open_all(0, &all.join().unwrap());
        assert_eq!(opened.pop(), Some((TlsRecordKind::Alert, vec![1, 0])));
        let data: Vec<u8> = opened.into_iter().flat_map(|(_, content)| content).collect();
        assert_eq!(data, sent, "{version} {cipher}");
    }
}

#[test]
fn plain_sockets_are_spliced() {
    let (mut client, from) = connected_pair().unwrap();
    let (to, backend) = connected_pair().unwrap();
    let all = read_all(backend);
    let sent = content(200_000);
    let data = sent.clone();
    let writer = thread::spawn(move || client.write_all(&data).unwrap());
    let (mut pipe, mut moved) = (SplicePipe::new().unwrap(), 0);
    loop {
        match pipe.splice(&from, &to, 1 << 16).unwrap() {
            SpliceResult::Bytes(bytes) => moved += bytes,
            SpliceResult::End => break,
            other => panic!("{other:?}"),
        }
    }
    writer.join().unwrap();
    drop(to);
    assert_eq!((moved, all.join().unwrap()), (sent.len(), sent));
}

#[test]
fn a_close_notify_is_found_while_connections_are_spliced() {
    if !kernel_takes(USUAL.0, USUAL.1) {
        return;
    }
    let (mut client, from) = connected_pair().unwrap();
    let (to, backend) = connected_pair().unwrap();
    let (to_peer, other) = (TestDirection::new(USUAL.0, USUAL.1, 1), TestDirection::new(USUAL.0, USUAL.1, 2));
    let _ = attach(&from, &to_peer.keys(0), &other.keys(0), &[]);
    let _ = attach(&to, &to_peer.keys(0), &to_peer.keys(0), &[]);
    let sent = content(30_000);
    for (number, part) in (0..).zip(sent.chunks(10_000)) {
        client.write_all(&other.seal(number, TlsRecordKind::ApplicationData, part)).unwrap();
    }
    client.write_all(&other.seal(3, TlsRecordKind::Alert, &[1, 0])).unwrap();
    let all = read_all(backend);
    let mut pipe = SplicePipe::new().unwrap();
    let mut moved = 0;
    let alert = loop {
        match pipe.splice(&from, &to, 1 << 16).unwrap() {
            SpliceResult::Bytes(bytes) => moved += bytes,
            other => break other,
        }
    };
    assert_eq!(alert, SpliceResult::Record { kind: TlsRecordKind::Alert, content: vec![1, 0] });
    drop(client);
    assert_eq!(pipe.splice(&from, &to, 1 << 16).unwrap(), SpliceResult::End);
    send_close_notify(&to).unwrap();
    drop(to);
    assert_eq!(moved, sent.len());
    let mut opened = to_peer.open_all(0, &all.join().unwrap());
    assert_eq!(opened.pop(), Some((TlsRecordKind::Alert, vec![1, 0])));
    assert_eq!(opened.into_iter().flat_map(|(_, content)| content).collect::<Vec<_>>(), sent);
}

#[test]
fn keys_of_a_wrong_length_are_rejected() {
    let error = KernelKeys::new(USUAL.0, USUAL.1, &[1; 32], &[0; 12], 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the key has 32 bytes, but aes128-gcm takes 16: pass the key of the negotiated suite"
    );
}
