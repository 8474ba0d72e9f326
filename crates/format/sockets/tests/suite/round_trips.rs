//! Every suite: what is sealed can be opened.

use oarlock_sockets::{Content, KeyUpdate, Opened, Protocol, RecordChoices, SealingError, Suite};

use crate::common::{accelerator, bytes, data_of, keys, open, opener, seal, sealer};

/// Lengths around the seams of blocks, padding and records.
fn lengths(suite: Suite) -> Vec<usize> {
    let mut lengths: Vec<usize> = (1..70).collect();
    lengths.extend([127, 128, 255, 256, 257, 1000, 4096, 16_383, 16_384]);
    if suite.protocol() == Protocol::Ssh {
        lengths.extend([32_768, 34_800]);
    } else {
        lengths.push(0);
    }
    lengths
}

#[test]
fn every_suite_opens_what_it_seals() {
    for suite in Suite::ALL {
        let (mut sealer, mut opener) = (sealer(suite, 1), opener(suite, 1));
        for len in lengths(suite) {
            let payload = bytes(len as u64, len);
            let wire = seal(&mut sealer, &payload);
            assert_eq!(open(&mut opener, &wire), (data_of(suite), payload), "{suite}, {len} bytes");
        }
        assert_eq!(sealer.sequence(), opener.sequence());
    }
}

#[test]
fn a_buffer_with_the_largest_overhead_takes_every_record() {
    for suite in Suite::ALL {
        let (mut sealer, mut opener) = (sealer(suite, 17), opener(suite, 17));
        let mut largest = 0;
        for len in 1..100 {
            let payload = bytes(len as u64, len);
            let mut buffer = vec![0xAA; len + suite.max_overhead() + 7];
            let used = sealer.seal_into(data_of(suite), &[&payload], &mut buffer).unwrap();
            assert_eq!(open(&mut opener, &buffer[..used]).1, payload, "{suite}");
            largest = largest.max(used - len);
            assert!(buffer[used..].iter().all(|byte| *byte == 0xAA));
        }
        assert_eq!(largest, suite.max_overhead(), "{suite}");
        let short =
            sealer.seal_into(data_of(suite), &[b"x"], &mut vec![0; suite.max_overhead()]).unwrap_err();
        assert!(matches!(short, SealingError::BufferTooSmall { .. }), "{suite}: {short}");
        assert_eq!(sealer.sequence(), 99, "no number is lost");
    }
}

#[test]
fn parts_are_joined_and_bytes_behind_a_record_are_left_alone() {
    for suite in Suite::ALL {
        let (mut sealer, mut opener) = (sealer(suite, 2), opener(suite, 2));
        let mut wire = b"before".to_vec();
        sealer.seal(data_of(suite), &[b"one ", b"", b"two"], &mut wire).unwrap();
        sealer.seal(data_of(suite), &[b"next"], &mut wire).unwrap();
        let behind = wire.clone();
        let mut rest = &mut wire[6..];
        let used = match opener.next(rest).unwrap() {
            Opened::Record(record) => {
                assert_eq!(record.data, b"one two", "{suite}");
                record.used
            }
            Opened::NeedMore(_) => panic!("{suite}"),
        };
        assert_eq!(rest[used..], behind[6 + used..], "{suite}");
        rest = &mut rest[used..];
        let Opened::Record(record) = opener.next(rest).unwrap() else { panic!("{suite}") };
        assert_eq!(record.data, b"next", "{suite}");
        assert!(wire.starts_with(b"before"));
    }
}

#[test]
fn a_record_cut_anywhere_asks_for_no_more_than_is_missing() {
    for suite in Suite::ALL {
        let (mut sealer, mut opener) = (sealer(suite, 3), opener(suite, 3));
        let mut wire = seal(&mut sealer, &bytes(3, 100));
        for cut in 0..wire.len() {
            let mut front = wire[..cut].to_vec();
            let Opened::NeedMore(missing) = opener.next(&mut front).unwrap() else {
                panic!("{suite}, cut {cut}")
            };
            assert!((1..=wire.len() - cut).contains(&missing), "{suite}, cut {cut}: {missing}");
            assert_eq!(front, wire[..cut], "{suite}");
        }
        assert!(matches!(opener.next(&mut wire), Ok(Opened::Record(_))), "{suite}");
    }
}

#[test]
fn zeros_hide_the_length_of_a_record_of_tls_1_3() {
    let suite = Suite::TLS13_CHACHA20_POLY1305;
    let (mut sealer, mut opener) = (sealer(suite, 11), opener(suite, 11));
    for zeros in [0, 1, 40, 16_379] {
        let mut wire = Vec::new();
        let choices = RecordChoices { zeros, ..RecordChoices::default() };
        sealer.seal_with(Content::ApplicationData, &[b"hello"], &choices, &mut wire).unwrap();
        assert_eq!(wire.len(), 5 + 5 + 1 + zeros + 16);
        assert_eq!(open(&mut opener, &wire), (Content::ApplicationData, b"hello".to_vec()));
    }
    let choices = RecordChoices { zeros: 16_380, ..RecordChoices::default() };
    let long = sealer.seal_with(Content::ApplicationData, &[b"hello"], &choices, &mut Vec::new());
    assert!(matches!(long, Err(SealingError::TooLong { max: 16_384, found: 16_385, .. })));
}

#[test]
fn key_updates_go_both_ways() {
    let suite = Suite::TLS13_AES_128_GCM;
    let (mut client_out, mut server_in) = (sealer(suite, 12), opener(suite, 12));
    let (mut server_out, mut client_in) = (sealer(suite, 13), opener(suite, 13));
    for _ in 0..3 {
        let mut wire = Vec::new();
        client_out.update_keys(true, &mut wire).unwrap();
        let Opened::Record(record) = server_in.next(&mut wire).unwrap() else { panic!() };
        assert_eq!(record.key_update, Some(KeyUpdate::Requested));
        let mut answer = Vec::new();
        server_out.update_keys(false, &mut answer).unwrap();
        let Opened::Record(record) = client_in.next(&mut answer).unwrap() else { panic!() };
        assert_eq!(record.key_update, Some(KeyUpdate::NotRequested));
        assert_eq!(client_out.sequence(), 0);
        assert_eq!(open(&mut server_in, &seal(&mut client_out, b"up")).1, b"up");
        assert_eq!(open(&mut client_in, &seal(&mut server_out, b"down")).1, b"down");
    }
    let mut tls12 = sealer(Suite::TLS12_AES_128_GCM, 12);
    let suite = tls12.suite();
    assert_eq!(tls12.update_keys(true, &mut Vec::new()), Err(SealingError::NoKeyUpdate { suite }));
}

#[test]
fn ssh_counts_on_across_a_key_exchange_and_tls_starts_again() {
    for suite in Suite::ALL {
        let (mut sealer, mut opener) = (sealer(suite, 14), opener(suite, 14));
        open(&mut opener, &seal(&mut sealer, b"before"));
        let renewed = || if suite.protocol() == Protocol::Ssh { ssh_keys(suite) } else { keys(suite, 15) };
        sealer.rekey(renewed()).unwrap();
        opener.rekey(renewed()).unwrap();
        assert_eq!(sealer.sequence(), u64::from(suite.protocol() == Protocol::Ssh), "{suite}");
        assert_eq!(open(&mut opener, &seal(&mut sealer, b"after")).1, b"after", "{suite}");
        // Strict key exchange of OpenSSH.
        sealer.rekey(renewed().with_sequence(0)).unwrap();
        opener.rekey(renewed().with_sequence(0)).unwrap();
        assert_eq!(sealer.sequence(), 0);
        assert_eq!(open(&mut opener, &seal(&mut sealer, b"again")).1, b"again", "{suite}");
    }
}

fn ssh_keys(suite: Suite) -> oarlock_sockets::Keys {
    use oarlock_sockets::{Keys, SshExchange, SshFlow};
    let exchange = SshExchange {
        digest: oarlock::DigestAlg::Sha512,
        shared_secret: b"\0\0\0\x01\x07",
        exchange_hash: b"another hash",
        session_id: b"the first hash",
    };
    Keys::ssh_flow(suite, &exchange, SshFlow::ToServer).unwrap()
}

#[test]
fn keys_continue_where_a_sealer_stopped() {
    for suite in Suite::ALL {
        let (mut first, mut opener) = (sealer(suite, 16), opener(suite, 16));
        open(&mut opener, &seal(&mut first, b"one"));
        let mut second = oarlock_sockets::Sealer::new(accelerator(), first.into_keys()).unwrap();
        let mut opener = oarlock_sockets::Opener::new(accelerator(), opener.into_keys()).unwrap();
        assert_eq!(second.sequence(), 1);
        assert_eq!(open(&mut opener, &seal(&mut second, b"two")).1, b"two", "{suite}");
    }
}
