//! Every suite: what is sealed can be opened, alone, in flights and in pieces, and all ways agree.

use oarlock_sockets::{
    Content, Flight, KeyUpdate, OpenFlight, Opened, OpeningError, PlannedRecord, Protocol, RecordChoices,
    SealingError, Suite,
};

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

/// Three connections of every suite, several records each, with chosen IVs and padding so that results are equal.
#[test]
fn a_flight_seals_what_single_records_are() {
    let mut singles: Vec<_> =
        Suite::ALL.iter().flat_map(|suite| (0..3).map(|seed| sealer(*suite, 10 * seed + 1))).collect();
    let mut batched: Vec<_> =
        Suite::ALL.iter().flat_map(|suite| (0..3).map(|seed| sealer(*suite, 10 * seed + 1))).collect();
    let mut flight = Flight::default();
    for round in 0..2 {
        let mut expected = Vec::new();
        for record in 0..4 {
            for (single, batch) in singles.iter_mut().zip(&mut batched) {
                let suite = single.suite();
                let payload = bytes(record, 20 + 37 * record as usize);
                let iv = bytes(record + 7 * round, suite.explicit_iv_len());
                let padding = valid_padding(suite, payload.len());
                let choices = RecordChoices {
                    explicit_iv: (!iv.is_empty()).then_some(&iv),
                    padding: padding.as_deref(),
                    zeros: 0,
                };
                let mut wire = Vec::new();
                single.seal_with(data_of(suite), &[&payload], &choices, &mut wire).unwrap();
                expected.push(wire);
                flight.add_with(batch, data_of(suite), &[&payload[..5], &payload[5..]], &choices).unwrap();
            }
        }
        assert_eq!(flight.len(), expected.len());
        let sealed = flight.seal_all(accelerator());
        for (number, expected) in expected.iter().enumerate() {
            let mut wire = Vec::new();
            sealed.append(number, &mut wire).unwrap();
            assert_eq!(&wire, expected, "round {round}, record {number}");
        }
        flight = sealed.into_flight();
        assert!(flight.is_empty());
    }
}

/// Returns padding of ones that fills the last block of a packet.
fn valid_padding(suite: Suite, payload_len: usize) -> Option<Vec<u8>> {
    if suite.protocol() != Protocol::Ssh {
        return None;
    }
    // 48 is a multiple of every block, and every suite counts the length of 4 bytes or not.
    let with_length = !suite.to_string().contains("openssh.com");
    let padded = payload_len + 1 + if with_length { 4 } else { 0 };
    Some(vec![1; 48 + padded.next_multiple_of(48) - padded])
}

#[test]
fn a_flight_opens_records_of_all_suites_and_a_bad_one_fails_alone() {
    let mut openers: Vec<_> = Suite::ALL.iter().map(|suite| opener(*suite, 5)).collect();
    let mut flight = OpenFlight::default();
    let mut numbers = Vec::new();
    for (position, opener) in openers.iter_mut().enumerate() {
        let mut sealer = sealer(opener.suite(), 5);
        for record in 0..3 {
            let mut wire = seal(&mut sealer, &bytes(record, 50));
            // The second record of every third connection is spoilt in its last byte.
            if record == 1 && position % 3 == 0 {
                *wire.last_mut().unwrap() ^= 1;
            }
            let PlannedRecord::Added { number, used } = flight.add(opener, &wire).unwrap() else { panic!() };
            assert_eq!(used, wire.len());
            numbers.push((position, record, number));
        }
    }
    let mut opened = flight.open_all(accelerator());
    for (position, record, number) in numbers {
        let opener = &mut openers[position];
        let suite = opener.suite();
        let result = opened.take(number, opener).map(|record| record.data.to_vec());
        let expected = match record {
            1 if position % 3 == 0 => Err(OpeningError::Rejected),
            2 if position % 3 == 0 => Err(OpeningError::AfterEnd),
            _ => Ok(bytes(record, 50)),
        };
        assert_eq!(result, expected, "{suite}, record {record}");
    }
}

#[test]
fn a_record_of_a_flight_belongs_to_its_opener() {
    let suite = Suite::TLS12_AES_128_GCM;
    let (mut own, mut other) = (opener(suite, 6), opener(suite, 6));
    let mut flight = OpenFlight::default();
    flight.add(&mut own, &seal(&mut sealer(suite, 6), b"x")).unwrap();
    let mut opened = flight.open_all(accelerator());
    assert_eq!(opened.take(0, &mut other).unwrap_err(), OpeningError::OtherOpener);
    assert_eq!(opened.take(1, &mut own).unwrap_err(), OpeningError::OtherOpener);
    assert_eq!(opened.take(0, &mut own).unwrap().data, b"x");
}

#[test]
fn records_behind_a_key_update_of_the_same_flight_are_opened() {
    let suite = Suite::TLS13_AES_256_GCM;
    let (mut sealer, mut opener) = (sealer(suite, 7), opener(suite, 7));
    let mut wires = vec![seal(&mut sealer, b"old")];
    let mut update = Vec::new();
    sealer.update_keys(true, &mut update).unwrap();
    wires.push(update);
    wires.extend([seal(&mut sealer, b"new"), seal(&mut sealer, b"newer")]);
    let mut flight = OpenFlight::default();
    for wire in &wires {
        flight.add(&mut opener, wire).unwrap();
    }
    let mut opened = flight.open_all(accelerator());
    assert_eq!(opened.take(0, &mut opener).unwrap().data, b"old");
    assert_eq!(opened.take(1, &mut opener).unwrap().key_update, Some(KeyUpdate::Requested));
    assert_eq!(opened.take(2, &mut opener).unwrap().data, b"new");
    assert_eq!(opened.take(3, &mut opener).unwrap().data, b"newer");
    assert_eq!(opener.sequence(), 2);
}

#[test]
fn pieces_give_the_same_frame_as_the_whole() {
    for suite in Suite::ALL.into_iter().filter(|suite| suite.is_piecemeal()) {
        let (mut whole, mut pieces) = (sealer(suite, 8), sealer(suite, 8));
        for (record, piece_len) in [1, 7, 16, 4096, 16_384].into_iter().enumerate() {
            let payload = bytes(record as u64, 9_001);
            let iv = bytes(record as u64, suite.explicit_iv_len());
            let padding = valid_padding(suite, payload.len());
            let choices = RecordChoices {
                explicit_iv: (!iv.is_empty()).then_some(&iv),
                padding: padding.as_deref(),
                zeros: 0,
            };
            let mut expected = Vec::new();
            whole.seal_with(data_of(suite), &[&payload], &choices, &mut expected).unwrap();
            let mut wire = Vec::new();
            let mut frame =
                pieces.begin_frame_with(data_of(suite), payload.len(), &choices, &mut wire).unwrap();
            for piece in payload.chunks(piece_len) {
                frame.push(piece, &mut wire).unwrap();
            }
            frame.finish(&mut wire).unwrap();
            assert_eq!(wire, expected, "{suite}, pieces of {piece_len}");
        }
    }
}

#[test]
fn aeads_refuse_pieces_and_an_abandoned_frame_ends_the_connection() {
    let mut out = Vec::new();
    let suite = Suite::TLS13_AES_128_GCM;
    let refused = sealer(suite, 9).begin_frame(Content::ApplicationData, 10, &mut out).unwrap_err();
    assert_eq!(refused, SealingError::WholeFramesOnly { suite });

    let mut sealer = sealer(Suite::TLS12_AES_128_CBC_SHA, 9);
    let mut frame = sealer.begin_frame(Content::ApplicationData, 10, &mut out).unwrap();
    let long = frame.push(&[0; 11], &mut out).unwrap_err();
    assert_eq!(long, SealingError::FrameLength { announced: 10, found: 11 });
    frame.push(&[0; 9], &mut out).unwrap();
    assert_eq!(frame.finish(&mut out).unwrap_err(), SealingError::FrameLength { announced: 10, found: 9 });
    let later = sealer.seal(Content::ApplicationData, &[b"x"], &mut out).unwrap_err();
    assert_eq!(later, SealingError::Unfinished);
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

#[test]
fn a_flight_takes_one_call_for_each_shape() {
    let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let calls = || accelerator.histograms().runs.iter().map(|runs| runs.operations.count()).sum::<u64>();
    let suites = [Suite::TLS12_AES_128_CBC_SHA, Suite::TLS13_AES_128_GCM, Suite::TLS12_AES_128_GCM];
    let (before, mut flight) = (calls(), Flight::default());
    let mut openers = Vec::new();
    for seed in 0..20 {
        for suite in suites {
            flight.add(&mut sealer(suite, seed), Content::ApplicationData, &[&bytes(seed, 100)]).unwrap();
        }
    }
    let sealed = flight.seal_all(&accelerator);
    // Both suites of GCM have one shape.
    assert_eq!(calls() - before, 2);

    let (before, mut flight) = (calls(), OpenFlight::default());
    for number in 0..sealed.len() {
        let mut wire = Vec::new();
        sealed.append(number, &mut wire).unwrap();
        let mut opener = opener(suites[number % 3], number as u64 / 3);
        flight.add(&mut opener, &wire).unwrap();
        openers.push(opener);
    }
    let mut opened = flight.open_all(&accelerator);
    assert_eq!(calls() - before, 2);
    for (number, opener) in openers.iter_mut().enumerate() {
        assert_eq!(opened.take(number, opener).unwrap().data, bytes(number as u64 / 3, 100));
    }
}

#[test]
fn packets_of_cbc_in_ssh_take_a_call_for_each_packet_of_a_connection() {
    let suite = Suite::SSH_3DES_CBC_SHA1;
    let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let calls = || accelerator.histograms().runs.iter().map(|runs| runs.operations.count()).sum::<u64>();
    let mut sealers: Vec<_> = (0..8).map(|seed| sealer(suite, seed)).collect();
    let (before, mut flight) = (calls(), Flight::default());
    for record in 0..3 {
        for sealer in &mut sealers {
            flight.add(sealer, Content::Packet, &[&bytes(record, 40)]).unwrap();
        }
    }
    let sealed = flight.seal_all(&accelerator);
    assert_eq!(calls() - before, 3);
    let mut openers: Vec<_> = (0..8).map(|seed| opener(suite, seed)).collect();
    for number in 0..sealed.len() {
        let mut wire = Vec::new();
        sealed.append(number, &mut wire).unwrap();
        assert_eq!(open(&mut openers[number % 8], &wire).1, bytes(number as u64 / 8, 40));
    }
}
