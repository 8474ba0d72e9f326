//! Openers and sealers with fixed keys.

use oarlock::Accelerator;
use oarlock_sockets::{ExposedKeys, Keys, Opened, Opener, OpeningError, Protocol, Sealer, Suite};

/// Returns the suites of the protocols that `is_wanted` names.
pub fn suites(is_wanted: impl Fn(Protocol) -> bool) -> Vec<Suite> {
    Suite::ALL.into_iter().filter(|suite| is_wanted(suite.protocol())).collect()
}

fn keys(suite: Suite) -> Keys {
    if suite.protocol() == Protocol::Tls13 {
        return Keys::tls13(suite, &vec![7; suite.digest().output_len()])
            .expect("a secret of the right length");
    }
    let (key, mac_key, iv) =
        (vec![1; suite.key_len()], vec![2; suite.mac_key_len()], vec![3; suite.iv_len()]);
    let material = ExposedKeys { key: &key, mac_key: &mac_key, iv: &iv, sequence: 0 };
    Keys::new(suite, &material).expect("keys of the right length")
}

/// Returns an opener of records of [`sealer`].
pub fn opener(accelerator: &Accelerator, suite: Suite) -> Opener {
    Opener::new(accelerator, keys(suite)).expect("valid keys")
}

/// Returns a sealer with fixed keys.
pub fn sealer(accelerator: &Accelerator, suite: Suite) -> Sealer {
    Sealer::new(accelerator, keys(suite)).expect("valid keys")
}

/// Opens what arrives in pieces of `step` bytes: the contents, and the error that ended them.
pub fn open_stream(opener: &mut Opener, bytes: &[u8], step: usize) -> (Vec<Vec<u8>>, Option<OpeningError>) {
    let (mut wire, mut contents) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(step) {
        wire.extend_from_slice(piece);
        loop {
            match opener.next(&mut wire) {
                Ok(Opened::Record(record)) => {
                    contents.push(record.data.to_vec());
                    let used = record.used;
                    wire.drain(..used);
                }
                Ok(Opened::NeedMore(missing)) => {
                    assert!(missing > 0);
                    break;
                }
                Err(error) => return (contents, Some(error)),
            }
        }
    }
    (contents, None)
}
