//! Recipients: the public halves of identities.

use std::fmt;
use std::str::FromStr;

use oarlock::keys::text_file::checked_text;

use super::bech32::{self, Bech32Fault};
use super::fault::RecipientFault;
use super::identity::IDENTITY_PREFIX;

const PREFIX: &str = "age";

/// The X25519 public key of somebody who can open a file. Its text is `age1...`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AgeRecipient(pub(super) [u8; 32]);

impl FromStr for AgeRecipient {
    type Err = RecipientFault;

    fn from_str(text: &str) -> Result<Self, RecipientFault> {
        match bech32::decode(text.as_bytes(), PREFIX) {
            Ok(point) => Ok(Self(*point)),
            Err(fault) => Err(explain(text, fault)),
        }
    }
}

/// Returns the fault of a text that is not a recipient.
fn explain(text: &str, fault: Bech32Fault) -> RecipientFault {
    let begins =
        |prefix: &str| text.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
    // The types of post-quantum recipients and of plugins stand between `age1` and another `1`.
    let is_other_kind = || text.starts_with("age1") && text.matches('1').count() > 1;
    match fault {
        _ if begins(IDENTITY_PREFIX) || begins("AGE-PLUGIN-") => RecipientFault::Identity,
        _ if begins("ssh-") || begins("ecdsa-") || begins("sk-") || is_other_kind() => {
            RecipientFault::Unsupported
        }
        Bech32Fault::Damaged => RecipientFault::Damaged,
        Bech32Fault::Prefix => RecipientFault::NotRecipient,
    }
}

/// Parses a file of recipients, one on each line. Empty lines and comments, which begin with `#`, are skipped.
///
/// # Errors
/// The first line that is not a recipient, with its number from 1.
pub fn parse_recipients(text: &[u8]) -> Result<Vec<AgeRecipient>, (usize, RecipientFault)> {
    // With another line end a comment would hide the recipients behind it.
    let text = checked_text(text).map_err(|fault| (fault.line(), RecipientFault::Text(fault)))?;
    let lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    let lines = lines.map(|(number, line)| (number, line.trim_ascii()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    lines
        .map(|(number, line)| {
            let line = std::str::from_utf8(line).map_err(|_| (number, RecipientFault::NotRecipient))?;
            line.parse().map_err(|fault| (number, fault))
        })
        .collect()
}

impl fmt::Display for AgeRecipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bech32::encode(&self.0, PREFIX))
    }
}

impl fmt::Debug for AgeRecipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    const RECIPIENT: &str = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";

    #[test]
    fn a_file_of_recipients_has_comments_and_line_ends_of_windows() {
        let recipient: AgeRecipient = RECIPIENT.parse().unwrap();
        assert_eq!(recipient.to_string(), RECIPIENT);
        let text = format!("# server 1\n\n{RECIPIENT}\r\n  {RECIPIENT}\n");
        assert_eq!(parse_recipients(text.as_bytes()), Ok(vec![recipient, recipient]));
        assert_eq!(parse_recipients(b"# none\n"), Ok(vec![]));
        let fault = parse_recipients(format!("{RECIPIENT}\nno\n").as_bytes());
        assert_eq!(fault, Err((2, RecipientFault::NotRecipient)));
    }

    #[test]
    fn each_wrong_text_has_a_fault_that_does_not_show_it() {
        let secret = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0";
        let changed = RECIPIENT.replace("zvky", "zvkz");
        for (text, expected) in [
            (secret, RecipientFault::Identity),
            (&secret.to_ascii_lowercase(), RecipientFault::Identity),
            ("AGE-PLUGIN-YUBIKEY-1QQQ", RecipientFault::Identity),
            (
                "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN a",
                RecipientFault::Unsupported,
            ),
            (
                "age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t",
                RecipientFault::Unsupported,
            ),
            (&changed, RecipientFault::Damaged),
            (&RECIPIENT[..61], RecipientFault::Damaged),
            ("", RecipientFault::NotRecipient),
            ("alice@example.com", RecipientFault::NotRecipient),
        ] {
            let fault = text.parse::<AgeRecipient>().unwrap_err();
            assert_eq!(fault, expected, "{text}");
            assert!(text.is_empty() || !fault.to_string().contains(text), "{fault}");
        }
    }
}
