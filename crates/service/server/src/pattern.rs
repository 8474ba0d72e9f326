//! The patterns of keys and operations in grants.

use serde::Deserialize;

/// A word in which `*` stands for any number of characters, including zero.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// Returns true if the whole text fits.
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        let Some((head, rest)) = self.0.split_once('*') else { return self.0 == text };
        let Some(mut text) = text.strip_prefix(head) else { return false };
        let mut parts = rest.split('*').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return text.ends_with(part);
            }
            // The leftmost match leaves the longest rest for the parts that follow, so no other match needs to be
            // tried.
            match text.find(part) {
                Some(start) => text = &text[start + part.len()..],
                None => return false,
            }
        }
        true
    }

    /// Returns the text of the pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_any_characters_with_a_star() {
        let fits = |pattern: &str, text: &str| Pattern::from(pattern).fits(text);
        assert!(fits("mail", "mail") && !fits("mail", "mails") && !fits("mail", "") && fits("", ""));
        assert!(
            fits("*", "") && fits("*", "anything") && fits("mail-*", "mail-1") && !fits("mail-*", "a-mail-1")
        );
        assert!(
            fits("rsa-*-sign", "rsa-pkcs1-sha256-sign") && !fits("rsa-*-sign", "rsa-pkcs1-sha256-verify")
        );
        assert!(fits("*a*b*", "xaxbx") && fits("a*a", "aa") && !fits("a*a", "a") && fits("a**b", "ab"));
        assert!(fits("*.example.org", "mail.example.org") && !fits("*.example.org", "example.org"));
    }
}
