//! Substitution expressions of NAPTR records. RFC 3402 3.2.

/// The words that NAPTR accepts as an expression.
pub(super) const EXPRESSION: &str = "an empty string, or a delimiter, a regular expression, a replacement and flags, such as !^.*$!sip:info@example.com!";

/// The largest bound of a repetition. POSIX, RE_DUP_MAX.
const MAX_BOUND: u32 = 255;

const CLASSES: [&[u8]; 12] = [
    b"alnum", b"digit", b"punct", b"alpha", b"graph", b"space", b"blank", b"lower", b"upper", b"cntrl",
    b"print", b"xdigit",
];

/// Returns true for an empty text. Also returns true for an expression and its replacement between delimiters, if the
/// replacement refers only to groups of the expression. Servers reject a zone with any other text.
pub(super) fn is_substitution(text: &[u8]) -> bool {
    let Some((&delimiter, rest)) = text.split_first() else { return true };
    // RFC 3402 3.2: these delimiters could not be distinguished from references, escapes and flags.
    if matches!(delimiter, b'0'..=b'9' | b'\\' | b'i') || text.contains(&0) {
        return false;
    }
    let parts = split(delimiter, rest).and_then(|(expression, rest)| {
        split(delimiter, rest).map(|(replacement, flags)| (expression, replacement, flags))
    });
    parts.is_some_and(|(expression, replacement, flags)| {
        let last = last_reference(replacement);
        let has_groups =
            Expression::groups(expression).zip(last).is_some_and(|(groups, last)| last <= groups);
        has_groups && flags.iter().all(|flag| *flag == b'i')
    })
}

/// Splits at the next delimiter that has no backslash before it.
fn split(delimiter: u8, text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            byte if *byte == delimiter => return Some((&text[..at], &text[at + 1..])),
            _ => at += 1,
        }
    }
}

/// Returns the largest group that a replacement refers to, or 0. `\0` is not a reference.
fn last_reference(replacement: &[u8]) -> Option<u32> {
    let (mut last, mut bytes) = (0, replacement.iter());
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' {
            match bytes.next()? {
                b'0' => return None,
                digit @ b'1'..=b'9' => last = last.max(u32::from(digit - b'0')),
                _ => {}
            }
        }
    }
    Some(last)
}

/// An extended regular expression (POSIX 9.4), checked up to `rest`.
struct Expression<'t> {
    rest: &'t [u8],
    groups: u32,
    open: u32,
    /// True if an atom precedes that can be repeated, or that can end an alternative.
    has_atom: bool,
    is_repeated: bool,
    /// True if no alternative of the group has begun, so that it may end empty.
    may_be_empty: bool,
}

impl<'t> Expression<'t> {
    /// Returns the number of groups, or None for a malformed expression.
    fn groups(text: &'t [u8]) -> Option<u32> {
        let mut all =
            Self { rest: text, groups: 0, open: 0, has_atom: false, is_repeated: false, may_be_empty: false };
        while let Some((byte, after)) = all.rest.split_first() {
            all.rest = after;
            all.take(*byte)?;
        }
        (all.open == 0 && all.has_atom).then_some(all.groups)
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        match byte {
            b'\\' => self.escape(),
            b'[' => {
                self.rest = bracket(self.rest)?;
                self.atom(false)
            }
            b'{' if self.rest.first().is_some_and(u8::is_ascii_digit) => {
                self.rest = bound(self.rest)?;
                self.repeat()
            }
            b'*' | b'+' | b'?' => self.repeat(),
            b'(' => {
                (self.open, self.groups) = (self.open + 1, self.groups + 1);
                (self.has_atom, self.is_repeated, self.may_be_empty) = (false, false, true);
                Some(())
            }
            b')' => {
                // A closing parenthesis without an opening one is an ordinary character. POSIX 9.4.3.
                let is_good = self.open == 0 || self.has_atom || self.may_be_empty;
                self.open = self.open.saturating_sub(1);
                if is_good { self.atom(false) } else { None }
            }
            b'|' => {
                let has_atom = std::mem::take(&mut self.has_atom);
                (self.is_repeated, self.may_be_empty) = (false, false);
                has_atom.then_some(())
            }
            // An anchor must not be repeated.
            b'^' | b'$' => self.atom(true),
            _ => self.atom(false),
        }
    }

    fn atom(&mut self, is_repeated: bool) -> Option<()> {
        (self.has_atom, self.is_repeated) = (true, is_repeated);
        Some(())
    }

    fn repeat(&mut self) -> Option<()> {
        let is_good = self.has_atom && !self.is_repeated;
        self.is_repeated = true;
        is_good.then_some(())
    }

    fn escape(&mut self) -> Option<()> {
        let (byte, after) = self.rest.split_first()?;
        self.rest = after;
        match byte {
            b'1'..=b'9' if u32::from(byte - b'0') > self.groups => None,
            _ => self.atom(false),
        }
    }
}

/// Returns the text after `{low}`, `{low,}` or `{low,high}`, given the text after the opening brace.
fn bound(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| *byte == b'}')?;
    let number = |text: &[u8]| -> Option<u32> {
        let is_number = text.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(text).ok()?.parse().ok().filter(|bound| is_number && *bound <= MAX_BOUND)
    };
    let mut parts = text[..end].split(|byte| *byte == b',');
    let low = number(parts.next()?)?;
    let is_good = match (parts.next(), parts.next()) {
        (None | Some([]), None) => true,
        (Some(high), None) => number(high)? >= low,
        _ => false,
    };
    is_good.then_some(&text[end + 1..])
}

/// Returns the text after a bracket expression, given the text after the opening bracket.
fn bracket(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text.strip_prefix(b"^").unwrap_or(text);
    let mut is_first = true;
    loop {
        if let ([b']', after @ ..], false) = (rest, is_first) {
            return Some(after);
        }
        let (low, after) = element(rest)?;
        (rest, is_first) = (after, false);
        if let [b'-', next, ..] = rest
            && *next != b']'
        {
            let (high, after) = element(&rest[1..])?;
            // A class cannot end a range, and the end of a range cannot begin another one.
            if high? < low.unwrap_or(0) || after.starts_with(b"-") {
                return None;
            }
            rest = after;
        }
    }
}

/// A character, or None for an element that stands for several characters, and the text after it.
type Element<'t> = (Option<u8>, &'t [u8]);

fn element(text: &[u8]) -> Option<Element<'_>> {
    match text {
        [b'[', b'.', after @ ..] => {
            let (name, after) = named(after, b'.')?;
            // The order of collating elements of several characters depends on the locale.
            Some((Some(if let [byte] = name { *byte } else { u8::MAX }), after))
        }
        [b'[', b'=', after @ ..] => named(after, b'=').map(|(_, after)| (None, after)),
        [b'[', b':', after @ ..] => {
            let (name, after) = named(after, b':')?;
            CLASSES.contains(&name).then_some((None, after))
        }
        [byte, after @ ..] => Some((Some(*byte), after)),
        [] => None,
    }
}

/// Splits a name of at least one byte from `mark` and the bracket that end it.
fn named(text: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let len = text.windows(2).skip(1).position(|pair| pair == [mark, b']'])? + 1;
    Some((&text[..len], &text[len + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts are those of BIND 9.18.
    #[test]
    fn accepts_the_expressions_that_servers_accept() {
        for good in [
            "",
            "!^.*$!sip:a@b!",
            "!^.*$!sip:a@b!i",
            "!a!b!ii",
            "/a/b/",
            "!(a)(b)!\\2\\1!",
            "!a\\!b!c\\!d!",
            "!a!!",
            "!(a|b){1,3}!\\1!",
            "!a{2}!x!",
            "!a{2,}!x!",
            "!a{!x!",
            "!a}!x!",
            "![a-z]!x!",
            "![]a]!x!",
            "![^]a]!x!",
            "![[:alpha:]_-]!x!",
            "![[.a.]-z]!x!",
            "![[=a=]]!x!",
            "!()!\\1!",
            "!a)!x!",
            "!(a)\\1!x!",
            "!^$!x!",
            "!a|b!x!",
            "!\\(!x!",
            "![a-]!x!",
            "![-a]!x!",
            "![%--]!x!",
            "!^(.*)$!\\1\\\\!",
        ] {
            assert!(is_substitution(good.as_bytes()), "{good}");
        }
        for bad in [
            "bad",
            "!",
            "!a",
            "!a!b",
            "!^.*$!",
            "!a!b!x",
            "!a!b!c!",
            "!a!b!I",
            "1a1b1",
            "\\a\\b\\",
            "iaibi",
            "!!b!",
            "!^.*$!\\1!",
            "!(a)!\\2!",
            "!a!\\0!",
            "!(a!b!",
            "!*a!b!",
            "!a**!b!",
            "!^*!b!",
            "!a|!b!",
            "!|a!b!",
            "!(|a)!b!",
            "!(a|)!b!",
            "!\\1(a)!b!",
            "!a{3,2}!b!",
            "!a{256}!b!",
            "!a{1,2,3}!b!",
            "!a{1x}!b!",
            "!a{1!b!",
            "!{1}!b!",
            "![a!b!",
            "![]!b!",
            "![z-a]!b!",
            "![a-b-c]!b!",
            "![a-b-]!b!",
            "![[:alph:]]!b!",
            "![[..]]!b!",
            "![a-[:alpha:]]!b!",
            "!a\\!",
            "!a!b\\!",
            "!a\0!b!",
        ] {
            assert!(!is_substitution(bad.as_bytes()), "{bad}");
        }
    }
}
