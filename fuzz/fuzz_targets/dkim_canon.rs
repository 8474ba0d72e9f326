//! Bodies in pieces: the canonical form equals that of the rules line by line, wherever the cuts are. The first byte is
//! the length of the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_dkim::{BodyCanonicalizer, CanonicalForm};

fuzz_target!(|input: &[u8]| {
    let Some((size, body)) = input.split_first() else { return };
    for form in [CanonicalForm::Simple, CanonicalForm::Relaxed] {
        let whole = canonical(form, body, body.len().max(1));
        assert_eq!(canonical(form, body, usize::from(*size).max(1)), whole);
        assert!(whole.is_empty() || whole.ends_with(b"\r\n"));
        // What is canonical stays as it is.
        assert_eq!(canonical(form, &whole, 7), whole);
    }
});

fn canonical(form: CanonicalForm, body: &[u8], piece: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut give = |bytes: &[u8]| out.extend_from_slice(bytes);
    let mut canonicalizer = BodyCanonicalizer::new(form);
    body.chunks(piece).for_each(|piece| canonicalizer.push(piece, &mut give));
    canonicalizer.finish(&mut give);
    out
}
