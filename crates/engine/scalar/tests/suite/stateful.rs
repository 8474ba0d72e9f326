//! HSS and XMSS: good and bad signatures of several parameter sets in one batch.

use oarlock_core::*;
use oarlock_engine_kit::stateful::KNOWN_SIGNATURES;

use crate::common::{hex, key, lines, run, run_one};

/// A key, a message and a signature for each hash function.
fn known(scheme: &str) -> Vec<(Key, Vec<u8>, Vec<u8>)> {
    let of_scheme = lines(KNOWN_SIGNATURES).filter(|words| words[0] == scheme);
    of_scheme
        .map(|words| {
            let public = hex(words[1]);
            let parts = match scheme {
                "hss" => KeyParts::HssPublic(HssPublicKey::parse(&public).unwrap()),
                _ => KeyParts::XmssPublic(XmssPublicKey::parse(&public).unwrap()),
            };
            (key(parts), hex(words[2]), hex(words[3]))
        })
        .collect()
}

#[test]
fn signatures_of_one_batch_get_their_own_verdicts() {
    for (scheme, shape) in [("hss", Shape::HssVerify), ("xmss", Shape::XmssVerify)] {
        let cases = known(scheme);
        assert_eq!(cases.len(), TreeHash::ALL.len());
        let mut operations = Vec::new();
        for (index, (key, message, signature)) in cases.iter().enumerate() {
            let other = &cases[(index + 1) % cases.len()];
            for (key, signature) in [(key, signature), (&other.0, signature), (key, &other.2)] {
                operations
                    .push(Operation::new(shape, key, message, SecondInput::Signature(signature)).unwrap());
            }
        }
        let expected = [Status::Done, Status::Rejected, Status::Rejected].repeat(cases.len());
        assert_eq!(run(shape, &operations).statuses(), expected);
    }
}

#[test]
fn an_operation_without_a_signature_or_with_another_key_is_not_done() {
    let (hss, xmss) = (known("hss").remove(0).0, known("xmss").remove(0).0);
    for (shape, key, other) in [(Shape::HssVerify, &hss, &xmss), (Shape::XmssVerify, &xmss, &hss)] {
        assert_eq!(run_one(shape, key, b"message", SecondInput::None), Err(Status::Malformed));
        assert_eq!(run_one(shape, other, b"message", SecondInput::Signature(&[])), Err(Status::BadKey));
        assert_eq!(run_one(shape, key, b"message", SecondInput::Signature(&[])), Err(Status::Rejected));
    }
}
