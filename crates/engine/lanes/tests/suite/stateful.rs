//! HSS and XMSS on every leaf beside the scalar engine: good and damaged signatures of every hash function in one
//! batch, for every number of jobs.

use oarlock_core::*;
use oarlock_engine_kit::stateful::KNOWN_SIGNATURES;
use oarlock_scalar::ScalarEngine;

use crate::common::{leaves_for, run_operations};

struct KnownSignature {
    key: Key,
    message: Vec<u8>,
    signature: Vec<u8>,
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns a signature for each hash function, and behind them the same with a change of the randomizer, a chain, and
/// the path.
fn signatures(scheme: &str) -> Vec<KnownSignature> {
    let lines = KNOWN_SIGNATURES.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let known = lines.filter(|words| words[0] == scheme).map(|words| {
        let public = hex(words[1]);
        let parts = match scheme {
            "hss" => KeyParts::HssPublic(HssPublicKey::parse(&public).unwrap()),
            _ => KeyParts::XmssPublic(XmssPublicKey::parse(&public).unwrap()),
        };
        let key = Key::local(parts, Fingerprint::new([1; 32]));
        KnownSignature { key, message: hex(words[2]), signature: hex(words[3]) }
    });
    let good: Vec<_> = known.collect();
    let damaged = (0..3).flat_map(|part| {
        good.iter().map(move |case| {
            let mut signature = case.signature.clone();
            let len = signature.len();
            signature[[20, len / 2, len - 1][part]] ^= 1;
            KnownSignature { key: case.key.clone(), message: case.message.clone(), signature }
        })
    });
    let damaged: Vec<_> = damaged.collect();
    good.into_iter().chain(damaged).collect()
}

#[test]
fn verdicts_agree_with_scalar_for_every_number_of_jobs() {
    let scalar = ScalarEngine::detect().unwrap();
    for (scheme, shape) in [("hss", Shape::HssVerify), ("xmss", Shape::XmssVerify)] {
        let cases = signatures(scheme);
        let operations: Vec<_> = cases
            .iter()
            .map(|case| {
                let signature = SecondInput::Signature(&case.signature);
                Operation::new(shape, &case.key, &case.message, signature).unwrap()
            })
            .collect();
        let expected = run_operations(&scalar, shape, &operations);
        let good = expected.iter().take_while(|verdict| verdict.is_ok()).count();
        assert_eq!((good, operations.len()), (4, 16));
        assert!(expected[good..].iter().all(|verdict| *verdict == Err(Status::Rejected)));
        for engine in leaves_for(shape) {
            let leaf = engine.leaf(shape).unwrap().name;
            let counts = if leaf == "portable" { 6..=6 } else { 0..=operations.len() };
            for count in counts {
                let verdicts = run_operations(&engine, shape, &operations[..count]);
                assert_eq!(verdicts, expected[..count], "{leaf} {scheme} {count}");
            }
        }
    }
}

#[test]
fn jobs_without_a_signature_leave_their_neighbours_alone() {
    for (scheme, shape) in [("hss", Shape::HssVerify), ("xmss", Shape::XmssVerify)] {
        let cases = signatures(scheme);
        let case = &cases[0];
        let operation = |extra| Operation::new(shape, &case.key, &case.message, extra).unwrap();
        let good = operation(SecondInput::Signature(&case.signature));
        let operations = [good, operation(SecondInput::None), operation(SecondInput::Signature(&[])), good];
        let (done, malformed) = (Ok(Vec::new()), Err(Status::Malformed));
        let expected = [done.clone(), malformed, Err(Status::Rejected), done];
        for engine in leaves_for(shape) {
            assert_eq!(run_operations(&engine, shape, &operations), expected, "{engine:?}");
        }
    }
}
