//! A file sealed with age: it opens, or fails with an error. What opens is sealed and opens again. A text that is taken
//! for an identity file or for recipients gives no error that quotes it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oarlock_key_files::sealed::{AgeIdentities, AgeRecipient, SealArmor, open_sealed, parse_recipients, seal};

/// The identity of the published vectors, which are the seeds.
const IDENTITY: &[u8] = b"AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0";

static OWN: LazyLock<(AgeIdentities, Vec<AgeRecipient>)> = LazyLock::new(|| {
    let identities = AgeIdentities::parse(IDENTITY).expect("the identity is one");
    let recipients = identities.recipients().collect();
    (identities, recipients)
});

const MAX_BYTES: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let (known, recipients) = &*OWN;
    if let Ok(content) = open_sealed(bytes, known, MAX_BYTES) {
        for armor in [SealArmor::Binary, SealArmor::Armored] {
            let sealed = seal(&content, recipients, armor).expect("there is a recipient");
            let again = open_sealed(&sealed, known, MAX_BYTES).expect("what is sealed opens");
            assert_eq!(*again, *content);
        }
    }
    if let Ok(identities) = AgeIdentities::parse(bytes) {
        for recipient in identities.recipients() {
            assert_eq!(recipient.to_string().parse(), Ok(recipient));
        }
    }
    if let Err((line, fault)) = parse_recipients(bytes) {
        let text = bytes.split(|byte| *byte == b'\n').nth(line - 1).expect("the line is there");
        let text = String::from_utf8_lossy(text.trim_ascii());
        // Shorter words stand in the message by themselves.
        assert!(text.len() < 20 || !fault.to_string().contains(&*text), "{fault}");
    }
});
