//! Constructed messages, and the numbers of the paper.

use super::*;

/// Encodes a name.
fn name(labels: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for label in labels {
        out.push(label.len() as u8);
        out.extend(label.as_bytes());
    }
    out.push(0);
    out
}

fn record(owner: &[u8], kind: u16, ttl_s: u32, data: &[u8]) -> Vec<u8> {
    let fixed = [&kind.to_be_bytes()[..], &[0, 1], &ttl_s.to_be_bytes(), &(data.len() as u16).to_be_bytes()];
    [owner, &fixed.concat(), data].concat()
}

fn rrsig(owner: &[u8], covered: u8, key_tag: u8, ttl_s: u32) -> Vec<u8> {
    let fixed = [0, covered, 13, 2, 0, 0, 14, 16, 0, 0, 0, 9, 0, 0, 0, 1, 0, key_tag];
    record(owner, 46, ttl_s, &[&fixed[..], &name(&["Example"]), &[1; 64]].concat())
}

/// Encodes a response about `www.example.` with records: one each in the first two sections, the others in the third.
fn response(records: &[Vec<u8>]) -> Vec<u8> {
    let rest = records.len().saturating_sub(2) as u8;
    let head = [0, 1, 0x84, 0, 0, 1, 0, records.len().min(1) as u8, 0, u8::from(records.len() > 1), 0, rest];
    [&head[..], &name(&["www", "example"]), &[0, 1, 0, 1], &records.concat()].concat()
}

fn query() -> Vec<u8> {
    [&[0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0], &name(&["a"])[..], &[0, 1, 0, 1]].concat()
}

/// A pointer to the name of the question.
const POINTER: [u8; 2] = [0xc0, 12];

fn signatures(message: &[u8]) -> (MessageSummary, Vec<SignatureRecord>) {
    let mut seen = Vec::new();
    let walked = walk_message(message, &mut |signature| seen.push(signature)).unwrap();
    (walked, seen)
}

#[test]
fn signatures_are_counted_in_every_section() {
    let records = [
        rrsig(&POINTER, 1, 7, 300),
        rrsig(&POINTER, 2, 7, 300),
        record(&[0], 41, 0, &[]),
        rrsig(&[0], 6, 7, 9999),
    ];
    let (walked, seen) = signatures(&response(&records));
    assert_eq!((walked.is_response, walked.questions, walked.signatures, walked.fault), (true, 1, 3, None));
    // The original TTL is 3600.
    assert_eq!(seen.iter().map(|signature| signature.ttl_s).collect::<Vec<_>>(), [300, 300, 3600]);
    let (walked, seen) = signatures(&query());
    assert!(!walked.is_response && walked.fault.is_none() && seen.is_empty());
}

#[test]
fn a_signature_has_the_same_identity_with_any_spelling_of_its_owner() {
    let plain = rrsig(&name(&["WWW", "example"]), 1, 7, 300);
    let half = [&b"\x03www"[..], &[0xc0, 16]].concat();
    let records = [
        rrsig(&POINTER, 1, 7, 300),
        plain,
        rrsig(&half, 1, 7, 300),
        rrsig(&POINTER, 1, 8, 300),
        rrsig(&POINTER, 2, 7, 300),
    ];
    let (_, seen) = signatures(&response(&records));
    assert!(seen[0].id == seen[1].id && seen[0].id == seen[2].id);
    assert!(seen[0].id != seen[3].id && seen[0].id != seen[4].id);
}

#[test]
fn counts_a_malformed_message_up_to_its_fault() {
    assert_eq!(walk_message(&[0; 11], &mut |_| ()), Err(DnsMessageError::Header));
    let whole = response(&[rrsig(&POINTER, 1, 7, 300), rrsig(&POINTER, 2, 7, 300)]);
    for cut in [1, 20, 70, 95] {
        let (walked, seen) = signatures(&whole[..whole.len() - cut]);
        assert_eq!((walked.fault, seen.len()), (Some(DnsMessageError::Short), 1), "{cut}");
    }
    let itself = 12 + 13 + 4;
    for owner in [[0xc0, itself], [0xc0, 200], [0xff, 0xff]] {
        let (walked, _) = signatures(&response(&[rrsig(&owner, 1, 7, 300)]));
        assert_eq!(walked.fault, Some(DnsMessageError::Name), "{owner:?}");
    }
    let (walked, _) = signatures(&response(&[rrsig(&[0x80, 0], 1, 7, 300)]));
    assert_eq!(walked.fault, Some(DnsMessageError::Name));
    let endless = vec![1; 300];
    let (walked, _) = signatures(&response(&[rrsig(&endless, 1, 7, 300)]));
    assert_eq!(walked.fault, Some(DnsMessageError::Name));
    for data in [vec![0; 17], [vec![0; 18], vec![5, 1]].concat(), vec![0; 19]] {
        let (walked, _) = signatures(&response(&[record(&POINTER, 46, 1, &data)]));
        assert_eq!(walked.fault, Some(DnsMessageError::Signature));
    }
}

/// RFC 1035 4.1.1, RFC 1996, RFC 2136: IQUERY, STATUS, NOTIFY, UPDATE, DSO.
#[test]
fn messages_of_other_opcodes_are_neither_queries_nor_responses() {
    let mut traffic = Traffic::new(TrafficLimits::default());
    for opcode in [1, 2, 4, 5, 6] {
        for message in [query(), response(&[rrsig(&POINTER, 1, 7, 300)])] {
            let mut message = message;
            message[2] |= opcode << 3;
            let (walked, seen) = signatures(&message);
            assert_eq!((walked.opcode, seen.len(), walked.fault), (opcode, 0, None));
            traffic.message(Some(100), &message);
        }
    }
    traffic.message(Some(100), &query());
    assert_eq!(traffic.totals(), TrafficCounts { queries: 1, ..TrafficCounts::default() });
    assert_eq!((traffic.other_opcodes(), traffic.malformed()), (10, 0));
}

#[test]
fn traffic_is_counted_by_its_second() {
    let mut traffic = Traffic::new(TrafficLimits::default());
    for (at_s, queries) in [(100, 3), (101, 1), (109, 6)] {
        for _ in 0..queries {
            traffic.message(Some(at_s), &query());
        }
    }
    traffic.message(Some(101), &response(&[rrsig(&POINTER, 1, 7, 300), rrsig(&POINTER, 2, 7, 300)]));
    traffic.message(Some(101), &response(&[]));
    traffic.message(None, &query());
    traffic.query(105);
    traffic.message(Some(105), &[0; 5]);
    let mut silent = query();
    silent[5] = 0;
    traffic.message(Some(105), &silent);
    let expected = TrafficCounts { queries: 12, responses: 2, signed: 1, signatures: 2, verified: 2 };
    assert_eq!(traffic.totals(), expected);
    assert_eq!((traffic.unplaced(), traffic.malformed()), (1, 2));
    let burst = traffic.burst().unwrap();
    assert_eq!((burst.seconds, burst.max, burst.p50, burst.p90, burst.p99), (10, 6, 0, 3, 6));
    assert!((burst.mean - 1.1).abs() < 1e-9);
    assert_eq!(traffic.intervals(10).len(), 1);
}

#[test]
fn time_between_inputs_is_not_observed_and_common_time_counts_once() {
    let mut traffic = Traffic::new(TrafficLimits::default());
    for at_s in [10, 19, 1_000_000, 1_000_004] {
        traffic.query(at_s);
        if at_s == 19 {
            traffic.end_input();
        }
    }
    assert_eq!(traffic.observed_s(), 15);
    traffic.end_input();
    for at_s in [15, 24] {
        traffic.query(at_s);
    }
    assert_eq!(traffic.observed_s(), 20);
    assert_eq!(Traffic::new(TrafficLimits::default()).burst(), None);
}

#[test]
fn limits_memory_and_counts_the_rest() {
    let mut traffic = Traffic::new(TrafficLimits { seconds: 5, cache_entries: 4 });
    for at_s in 0..20 {
        traffic.query(at_s);
        traffic.message(Some(at_s), &response(&[rrsig(&POINTER, 1, at_s as u8, 300)]));
    }
    assert_eq!((traffic.totals().queries, traffic.unplaced()), (20, 30));
    assert_eq!(traffic.totals().verified, 20);
    assert_eq!(traffic.intervals(1).len(), 5);
}

#[test]
fn extreme_times_cost_no_work() {
    let mut traffic = Traffic::new(TrafficLimits::default());
    for at_s in [0, 5, u64::MAX] {
        traffic.query(at_s);
    }
    assert_eq!((traffic.observed_s(), traffic.burst().unwrap().p99_9), (u64::MAX, 0));
    assert!(traffic.fit(1, |counts| counts.queries, |counts| counts.responses).is_some());
}

#[test]
fn a_cached_signature_is_not_verified_again_until_it_expires() {
    let mut traffic = Traffic::new(TrafficLimits::default());
    let message = response(&[rrsig(&POINTER, 1, 7, 300)]);
    for (at_s, verified) in [(0, 1), (1, 1), (299, 1), (300, 2), (301, 2), (700, 3)] {
        traffic.message(Some(at_s), &message);
        assert_eq!(traffic.totals().verified, verified, "second {at_s}");
    }
    let volatile = response(&[rrsig(&POINTER, 2, 7, 0)]);
    traffic.message(Some(700), &volatile);
    traffic.message(Some(700), &volatile);
    assert_eq!(traffic.totals().verified, 5);
}

#[test]
fn a_full_cache_keeps_the_signatures_that_expire_last() {
    let mut cache = cache::SignatureCache::new(4);
    for id in 0..4 {
        assert!(cache.must_verify(Some(0), SignatureRecord { id, ttl_s: 100 + id as u32 }));
    }
    assert!(cache.must_verify(Some(1), SignatureRecord { id: 9, ttl_s: 50 }));
    assert!(!cache.must_verify(Some(1), SignatureRecord { id: 3, ttl_s: 1 }));
    assert!(cache.must_verify(Some(1), SignatureRecord { id: 0, ttl_s: 1 }));
}

#[test]
fn fits_lines_with_their_standard_error() {
    let exact = LineFit::new(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)], 0).unwrap();
    assert!((exact.coefficient - 2.0).abs() < 1e-12 && (exact.intercept - 3.0).abs() < 1e-12);
    assert!((exact.r_squared - 1.0).abs() < 1e-12 && exact.standard_error < 1e-6);
    // Anscombe 1973, the first of four.
    let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
    let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
    let points: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
    let fit = LineFit::new(&points, 0).unwrap();
    assert!((fit.coefficient - 0.5001).abs() < 1e-4 && (fit.intercept - 3.0001).abs() < 1e-4, "{fit:?}");
    assert!((fit.r_squared - 0.6665).abs() < 1e-4 && (fit.standard_error - 0.1179).abs() < 1e-4, "{fit:?}");
    let with_zeros: Vec<_> = points.iter().copied().chain([(0.0, 0.0); 3]).collect();
    let (one, two) = (LineFit::new(&points, 3).unwrap(), LineFit::new(&with_zeros, 0).unwrap());
    assert!(
        (one.coefficient - two.coefficient).abs() < 1e-9
            && (one.standard_error - two.standard_error).abs() < 1e-9
    );
    for none in [&[(1.0, 1.0), (2.0, 2.0)][..], &[(3.0, 1.0), (3.0, 2.0), (3.0, 3.0)], &[]] {
        assert_eq!(LineFit::new(none, 0), None);
    }
}

#[test]
fn the_worst_case_of_the_paper_is_174_rounded_to_200() {
    let model = DemandModel::WORST_CASE;
    assert_eq!((model.a(), model.b()), (3.0, 0.0));
    assert_eq!(model.signatures(58.0, 1), 174.0);
    assert_eq!(round_up_requirement(174.0), 200.0);
}

#[test]
fn functions_are_composed_as_the_paper_composes_them() {
    let function =
        |coefficient, intercept| ModelFunction { coefficient, intercept, origin: FunctionOrigin::ByHand };
    let model = DemandModel {
        r: function(0.9, 1.0),
        a_s: function(0.6, 2.0),
        s: function(2.0, 3.0),
        a_v: function(0.5, 4.0),
        b: None,
    };
    let through = |q: f64| 0.5 * (2.0 * (0.6 * (0.9 * q + 1.0) + 2.0) + 3.0) + 4.0;
    assert!((model.signatures(100.0, 1) - through(100.0)).abs() < 1e-9);
    assert!((model.b() - through(0.0)).abs() < 1e-9);
    assert_eq!(DemandModel { b: Some(7.0), ..DemandModel::WORST_CASE }.signatures(1.0, 60), 10.0);
    assert_eq!(DemandModel { b: Some(-7.0), ..DemandModel::WORST_CASE }.signatures(1.0, 1), 0.0);
}

#[test]
fn a_model_is_measured_as_lines_or_else_as_quotients() {
    let mut traffic = Traffic::new(TrafficLimits::default());
    let signed = response(&[rrsig(&POINTER, 1, 7, 0), rrsig(&POINTER, 2, 7, 0)]);
    for at_s in 0..12 {
        for _ in 0..=at_s {
            traffic.message(Some(at_s), &query());
            traffic.message(Some(at_s), &signed);
        }
    }
    let [r, a_s, s, a_v] = DemandModel::measured(&traffic, 1).map(Option::unwrap);
    assert!([r, a_s, s, a_v].iter().all(|function| matches!(function.origin, FunctionOrigin::Fit(_))));
    let model = DemandModel { r, a_s, s, a_v, b: None };
    assert!((model.a() - 2.0).abs() < 1e-9 && model.b().abs() < 1e-9, "{model:?}");
    let coarse = DemandModel::measured(&traffic, 60).map(Option::unwrap);
    assert!(coarse.iter().all(|function| function.origin == FunctionOrigin::Ratio));
    assert_eq!(coarse.map(|function| function.coefficient), [1.0, 1.0, 2.0, 1.0]);
    let mut log = Traffic::new(TrafficLimits::default());
    log.query(5);
    assert_eq!(DemandModel::measured(&log, 1), [None; 4]);
}

#[test]
fn requirements_are_rounded_up_to_one_digit() {
    let cases = [
        (0.0, 0.0),
        (0.3, 1.0),
        (1.0, 1.0),
        (9.2, 10.0),
        (10.0, 10.0),
        (11.0, 20.0),
        (174.0, 200.0),
        (200.0, 200.0),
        (201.0, 300.0),
        (999.0, 1000.0),
        (1001.0, 2000.0),
        (0.1 + 0.2 + 9.7, 10.0),
        (f64::NAN, 0.0),
        (-5.0, 0.0),
    ];
    for (signatures, expected) in cases {
        assert_eq!(round_up_requirement(signatures), expected, "{signatures}");
    }
}

#[test]
fn the_budget_includes_overhead_cores_and_share() {
    let budget = CpuBudget { cores: 2.0, cpu_share: 0.5, overhead_us: OVERHEAD_US };
    // 25 000 per second take 40 µs each; with 37 more, 77.
    assert!((budget.validations_per_s(25_000.0) - 1e6 / 77.0).abs() < 1e-6);
    assert!((budget.capacity_per_s(25_000.0) - 1e6 / 77.0).abs() < 1e-6);
    let bare = CpuBudget { overhead_us: 0.0, ..budget };
    assert!((bare.validations_per_s(786.4) - 786.4).abs() < 1e-9);
}
