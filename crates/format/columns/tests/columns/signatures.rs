//! Signatures.

use arrow_array::cast::AsArray;
use arrow_array::{BinaryArray, StringArray};
use oarlock::keys::generate;
use oarlock::{Accelerator, Curve, Input, Job, Key};
use oarlock_columns::{ColumnError, ColumnSignature, OnError, SignatureKey, sign, verify};

use super::common::{random_values, values_of};

fn signature_keys() -> Vec<(&'static str, Key, Vec<&'static str>)> {
    vec![
        ("rsa", generate::rsa(2048).unwrap(), vec!["rsa-pkcs1-sha256", "rsa-pss-sha256"]),
        ("p256", generate::ec(Curve::P256).unwrap(), vec!["ecdsa-sha256", "ecdsa-sha256-fixed"]),
        ("ed25519", generate::ed25519().unwrap(), vec!["ed25519"]),
    ]
}

#[test]
fn signatures_verify_and_changed_ones_do_not() {
    let values = random_values(80, 30, 60);
    let plain: BinaryArray = values.iter().map(Option::as_deref).collect();
    for (name, key, algorithms) in signature_keys() {
        let (accelerator, key) = (Accelerator::new().unwrap(), SignatureKey { name, key: &key });
        for algorithm in algorithms {
            let algorithm: ColumnSignature = algorithm.parse().unwrap();
            let signed = sign(&accelerator, &plain, key, Some(algorithm), OnError::Raise).unwrap().array;
            let verdicts =
                verify(&accelerator, &plain, &signed, key, Some(algorithm), OnError::Raise).unwrap().array;
            let expected: Vec<_> = values.iter().map(|value| value.as_ref().map(|_| true)).collect();
            assert_eq!(verdicts.as_boolean().iter().collect::<Vec<_>>(), expected, "{algorithm}");

            let mut changed = values_of(&signed);
            for (row, signature) in changed.iter_mut().flatten().enumerate() {
                match row % 3 {
                    0 => *signature.last_mut().unwrap() ^= 1,
                    1 => drop(signature.pop()),
                    _ => signature.clear(),
                }
            }
            let changed: BinaryArray = changed.iter().map(Option::as_deref).collect();
            let verdicts =
                verify(&accelerator, &plain, &changed, key, Some(algorithm), OnError::Raise).unwrap().array;
            let expected: Vec<_> = values.iter().map(|value| value.as_ref().map(|_| false)).collect();
            assert_eq!(verdicts.as_boolean().iter().collect::<Vec<_>>(), expected, "{algorithm}");
        }
    }
}

#[test]
fn the_usual_algorithm_is_that_of_the_kind() {
    let key = generate::ed25519().unwrap();
    let plain = StringArray::from(vec!["a message"]);
    let accelerator = Accelerator::new().unwrap();
    let named = SignatureKey { name: "key", key: &key };
    let signed = values_of(&sign(&accelerator, &plain, named, None, OnError::Raise).unwrap().array);
    let job = Job::verify(
        oarlock::VerifyingScheme::ED25519,
        &key,
        Input::Message(b"a message"),
        signed[0].as_ref().unwrap(),
    );
    assert!(accelerator.run_all(&[job]).verified(0).unwrap());
}

#[test]
fn keys_of_another_kind_are_refused() {
    let key = generate::ed25519().unwrap();
    let named = SignatureKey { name: "key", key: &key };
    let accelerator = Accelerator::new().unwrap();
    let plain = StringArray::from(vec!["a"]);
    let error = sign(&accelerator, &plain, named, "ecdsa-sha256".parse().ok(), OnError::Null).unwrap_err();
    assert!(matches!(&error, ColumnError::KeyRefused { name, .. } if name == "key"), "{error}");
}
