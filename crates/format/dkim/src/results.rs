//! `Authentication-Results` fields: writing them and finding forged ones. RFC 8601.

use crate::chain::ArcChain;
use crate::fold::FoldedField;
use crate::verdict::{DkimVerdict, SignatureResult};

mod parse;

pub use self::parse::{is_from_authserv_id, parse_results};

const NAME: &str = "Authentication-Results";

/// The maximum length of a property that is repeated. It is the maximum length of an address (RFC 5321 4.5.3.1). The
/// sender controls these values.
const MAX_PROPERTY_BYTES: usize = 64 + 1 + 255;

/// Returns the field without the CRLF at its end. It has a result for each signature, or `dkim=none`, and one for the
/// ARC chain if that was verified. `authserv_id` is the name of the verifying host.
#[must_use]
pub fn authentication_results(
    authserv_id: &str,
    signatures: &[SignatureResult],
    chain: Option<&ArcChain>,
) -> String {
    let mut field = FoldedField::new(NAME);
    field.push_glued(": ");
    write_results(&mut field, authserv_id, signatures, chain, &[]);
    field.finish()
}

/// Writes the value of a results field, with the results of other filters at its end.
pub(crate) fn write_results(
    field: &mut FoldedField,
    authserv_id: &str,
    signatures: &[SignatureResult],
    chain: Option<&ArcChain>,
    others: &[String],
) {
    field.push_glued(&token_or_quoted(authserv_id));
    // RFC 8601 2.7.1: `none` says that the message was checked and has no signature.
    if signatures.is_empty() {
        field.push_glued(";");
        field.push_word("dkim=none");
    }
    for signature in signatures {
        field.push_glued(";");
        field.fold();
        write_signature_result(field, signature);
    }
    if let Some(chain) = chain {
        field.push_glued(";");
        field.fold();
        field.push_glued(&format!("arc={}", chain.verdict()));
        if let Some(reason) = chain.reason() {
            field.push_word(&format!("reason={}", quoted(&reason)));
        }
    }
    for other in others {
        field.push_glued(";");
        field.fold();
        for (index, word) in other.split(' ').enumerate() {
            if index == 0 { field.push_glued(word) } else { field.push_word(word) }
        }
    }
}

/// Writes the result of one signature. RFC 8601 2.7.1, and RFC 6008 for `header.b`.
fn write_signature_result(field: &mut FoldedField, signature: &SignatureResult) {
    field.push_glued(&format!("dkim={}", signature.verdict()));
    let bits = signature.key_bits.map(|bits| format!("{bits}-bit key"));
    let protection = signature.key_protection.known_name().map(str::to_owned);
    let testing = signature.is_testing.then(|| "test mode".to_owned());
    let comments: Vec<String> = bits.into_iter().chain(protection).chain(testing).collect();
    if !comments.is_empty() {
        field.push_word(&format!("({})", comments.join(", ")));
    }
    if let Some(reason) = &signature.reason {
        field.push_word(&format!("reason={}", quoted(&reason.to_string())));
    }
    let algorithm = signature.algorithm.map(|algorithm| algorithm.name());
    let properties = [
        ("d", signature.domain.as_deref()),
        ("s", signature.selector.as_deref()),
        ("a", algorithm),
        ("i", signature.identity.as_deref()),
        ("b", signature.signature_start.as_deref()),
    ];
    for (name, property) in properties {
        if let Some(property) = property.filter(|property| property.len() <= MAX_PROPERTY_BYTES) {
            field.push_word(&format!("header.{name}={}", token_or_quoted(property)));
        }
    }
}

/// Returns the text unchanged if all its characters are allowed in a token (RFC 2045 5.1, and `@`). Otherwise quotes
/// it.
fn token_or_quoted(text: &str) -> String {
    let is_plain = |byte: u8| match byte {
        b'(' | b')' | b'<' | b'>' | b',' | b';' | b':' | b'\\' | b'"' | b'/' | b'[' | b']' | b'?' | b'=' => {
            false
        }
        b'!'..=b'~' | 0x80.. => true,
        _ => false,
    };
    let is_token = !text.is_empty() && text.bytes().all(is_plain);
    if is_token { text.into() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    // A control character could end the field and start another one.
    for char in text.chars().filter(|char| !char.is_control()) {
        if matches!(char, '"' | '\\') {
            out.push('\\');
        }
        out.push(char);
    }
    out.push('"');
    out
}

/// Returns true if a field's value claims to come from `authserv_id` or cannot be read. A relay must remove such fields
/// from incoming mail, because they may be forged. RFC 8601 5.
#[must_use]
pub fn claims_authserv_id(value: &[u8], authserv_id: &str) -> bool {
    parse::authserv_id_of(value).is_none_or(|claimed| parse::is_same_id(&claimed, authserv_id))
}

/// Returns the verdict of the best signature, for callers that want a single word for the message.
#[must_use]
pub fn best_verdict(signatures: &[SignatureResult]) -> DkimVerdict {
    let rank = |verdict: DkimVerdict| match verdict {
        DkimVerdict::Pass => 0,
        DkimVerdict::Temperror => 1,
        DkimVerdict::Fail => 2,
        DkimVerdict::Policy => 3,
        DkimVerdict::Neutral => 4,
        DkimVerdict::Permerror => 5,
        DkimVerdict::None => 6,
    };
    signatures
        .iter()
        .map(SignatureResult::verdict)
        .min_by_key(|verdict| rank(*verdict))
        .unwrap_or(DkimVerdict::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::SignatureAlgorithm;
    use crate::key_answer::KeyProtection;
    use crate::verdict::FailReason;

    fn result(reason: Option<FailReason>) -> SignatureResult {
        SignatureResult {
            reason,
            domain: Some("example.com".into()),
            selector: Some("s1".into()),
            identity: Some("a b@example.com".into()),
            algorithm: Some(SignatureAlgorithm::RsaSha256),
            signature_start: Some("abc+/def".into()),
            key_bits: Some(2048),
            key_protection: KeyProtection::Unknown,
            is_testing: true,
        }
    }

    #[test]
    fn writes_results_in_the_syntax_of_the_rfc() {
        let text = authentication_results("mx.example.net", &[], None);
        assert_eq!(text, "Authentication-Results: mx.example.net; dkim=none");
        let results = [result(None), result(Some(FailReason::Lookup("a \"b\"\r\n\\".into())))];
        let text = authentication_results("mx.example.net", &results, None).replace("\r\n\t", " ");
        let property = "header.d=example.com header.s=s1 header.a=rsa-sha256 header.i=\"a b@example.com\" header.b=\"abc+/def\"";
        let expected = format!(
            "Authentication-Results: mx.example.net; dkim=pass (2048-bit key, test mode) {property}; \
             dkim=temperror (2048-bit key, test mode) \
             reason=\"the key could not be looked up: a \\\"b\\\"\\\\\" {property}"
        );
        assert_eq!(text, expected);
        assert_eq!((best_verdict(&results), best_verdict(&[])), (DkimVerdict::Pass, DkimVerdict::None));
    }

    #[test]
    fn names_the_protection_of_the_key_if_it_is_known() {
        for (key_protection, comment) in [
            (KeyProtection::Unknown, "(2048-bit key, test mode)"),
            (KeyProtection::Unprotected, "(2048-bit key, unprotected, test mode)"),
            (KeyProtection::Secure, "(2048-bit key, secure, test mode)"),
        ] {
            let result = SignatureResult { key_protection, ..result(None) };
            let text = authentication_results("mx.example.net", &[result], None).replace("\r\n\t", " ");
            assert!(text.contains(&format!("dkim=pass {comment} header.d=")), "{text}");
        }
    }

    #[test]
    fn repeats_properties_of_strangers_up_to_a_length() {
        let with = |len: usize| {
            let identity = Some("x".repeat(len - 12) + "@example.com");
            let result = SignatureResult { identity, ..result(None) };
            authentication_results("mx.example.net", &[result], None)
        };
        assert!(with(320).contains("header.i=xxx"));
        let long = with(100_000);
        assert!(
            !long.contains("header.i=") && long.contains("header.b=") && long.len() < 500,
            "{}",
            long.len()
        );
    }

    #[test]
    fn finds_forged_results_in_every_spelling() {
        let forged = [
            " mx.example.net; dkim=pass",
            "mx.example.net",
            "\r\n\tMX.example.NET 1; dkim=pass",
            " (a (nested \\) one) ) mx.example.net(x);",
            " \"mx.example.net\"; dkim=pass",
            " \"mx\\.example.net\" ;",
            " mx.example.net/1; dkim=pass",
            " MX.example.net./1 (x); dkim=pass",
            " mx.example.net.; dkim=pass",
            " \"mx.example.net/2\"; dkim=pass",
            " (never closed",
            " \"never closed",
            "",
            " ; dkim=pass",
            " m\u{7}x; ",
        ];
        for value in forged {
            assert!(claims_authserv_id(value.as_bytes(), "mx.example.net"), "{value}");
        }
        assert!(claims_authserv_id(b" \xff; dkim=pass", "mx.example.net"));
        assert!(claims_authserv_id("b\u{fc}cher.example; x".as_bytes(), "xn--bcher-kva.example"));
        for value in [
            " other.example.net; dkim=pass",
            "mx.example.net.evil;",
            "mx.example.net..;",
            "other.example/mx.example.net;",
            "(mx.example.net) other",
        ] {
            assert!(!claims_authserv_id(value.as_bytes(), "mx.example.net"), "{value}");
        }
    }
}
