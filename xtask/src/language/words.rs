//! Private words, and most and least in names.

use super::findings::{LanguageFinding, LanguageRule};

const WORDS: &str = include_str!("../../language/words.txt");
const PHRASES: &str = include_str!("../../language/phrases.txt");
const LIMITS: &str = include_str!("../../language/limits.txt");
const ALLOWED: &str = include_str!("../../language/allowed.txt");

/// Finds private words. Parts of `snake_case` and `CamelCase` names count as words.
pub(super) fn banned_words(file: &str, text: &str) -> Vec<LanguageFinding> {
    let allowed = allowed_phrases(file);
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in words(&without_phrases(line, &allowed)) {
            if let Some(replacement) = replacement(&word) {
                let reason = format!("`{word}`: say {replacement}");
                findings.push(LanguageFinding::in_file(LanguageRule::Word, file, number, &reason));
            }
        }
    }
    findings
}

fn allowed_phrases(file: &str) -> Vec<&'static str> {
    entries(ALLOWED).filter(|(scope, _)| *scope == "*" || *scope == file).map(|(_, phrase)| phrase).collect()
}

/// Finds phrases of the list within a line.
pub(super) fn banned_phrases(file: &str, text: &str) -> Vec<LanguageFinding> {
    let phrases =
        || PHRASES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.to_ascii_lowercase();
        for (phrase, replacement) in phrases().filter(|(phrase, _)| has_phrase(&line, phrase)) {
            let reason = format!("`{phrase}`: say {replacement}");
            findings.push(LanguageFinding::in_file(LanguageRule::Word, file, number, &reason));
        }
    }
    findings
}

/// True if a phrase stands in a line, and not within longer words.
fn has_phrase(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + phrase.len()..]);
        !before.ends_with(|letter: char| letter.is_alphanumeric())
            && !after.starts_with(|letter: char| letter.is_alphanumeric())
    })
}

/// Finds names of limits that say most or least in place of max or min.
pub(super) fn limit_names(file: &str, text: &str) -> Vec<LanguageFinding> {
    let allowed = allowed_phrases(file);
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = without_phrases(line, &allowed);
        let names = line
            .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .filter_map(|name| limit_part(name).map(|replacement| (name.to_owned(), replacement)));
        let flags = entries(LIMITS)
            .filter(|(part, _)| part.ends_with('-') && line.contains(part))
            .map(|(part, replacement)| (part.to_owned(), replacement));
        for (name, replacement) in names.chain(flags) {
            let reason = format!("`{name}`: say {replacement}");
            findings.push(LanguageFinding::in_file(LanguageRule::MaxMin, file, number, &reason));
        }
    }
    findings
}

/// Returns the replacement of the part that makes `name` a finding.
fn limit_part(name: &str) -> Option<&'static str> {
    // The two ends of a number have no other name.
    if name.to_ascii_lowercase().contains("_significant") {
        return None;
    }
    let has_part = |part: &str| {
        let is_constant = part.starts_with(|letter: char| letter.is_ascii_uppercase());
        name.starts_with(part) || (is_constant && name.contains(&format!("_{part}")))
    };
    entries(LIMITS)
        .find(|(part, _)| part.ends_with('_') && has_part(part))
        .map(|(_, replacement)| replacement)
}

/// Returns the pairs of a list: the first word of each line, and the rest of it.
fn entries(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

fn replacement(word: &str) -> Option<&'static str> {
    let is_banned = |banned: &str| match banned.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == banned,
    };
    entries(WORDS).find(|(banned, _)| is_banned(banned)).map(|(_, replacement)| replacement)
}

fn without_phrases(line: &str, phrases: &[&str]) -> String {
    phrases.iter().fold(line.to_owned(), |line, phrase| {
        // Case matters in names only, and a phrase is prose or a call.
        let lower = line.to_ascii_lowercase();
        let mut kept = String::new();
        let mut end = 0;
        for (start, found) in lower.match_indices(phrase) {
            kept.push_str(&line[end..start]);
            end = start + found.len();
        }
        kept + &line[end..]
    })
}

/// Returns the words of a line in lower case, with names taken apart.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in line.chars().chain([' ']) {
        let is_boundary = !letter.is_ascii_alphabetic() || (was_lower && letter.is_ascii_uppercase());
        if is_boundary && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_ascii_alphabetic() {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a banned word from the list, so that this file has none.
    fn banned(index: usize) -> &'static str {
        entries(WORDS).nth(index).unwrap().0
    }

    #[test]
    fn finds_banned_words_in_prose_and_names() {
        let (word, other) = (banned(0), banned(2));
        let upper = word.to_uppercase();
        let camel = upper[..1].to_owned() + &word[1..];
        for line in [
            format!("// In the {word}, all is well."),
            format!("let {word}_key = 1;"),
            format!("struct {camel}Key;"),
            format!("const {upper}_SIZE: u8 = 1;"),
            format!("a {other}-keeper"),
        ] {
            assert_eq!(banned_words("a.rs", &line).len(), 1, "{line}");
        }
        assert_eq!(banned_words("a.rs", &format!("{word} {other}\n{word}")).len(), 3);
    }

    #[test]
    fn finds_every_ending_of_a_word_with_a_star() {
        let (starred, _) = entries(WORDS).find(|(word, _)| word.ends_with('*')).unwrap();
        assert_eq!(banned_words("a.rs", &starred.replace('*', "er")).len(), 1);
    }

    #[test]
    fn finds_phrases_and_not_parts_of_words() {
        // From the list, so that this file has none.
        let (phrase, _) = PHRASES.lines().nth(1).unwrap().split_once(": ").unwrap();
        assert_eq!(
            banned_phrases("a.rs", &format!("// A job {phrase}.\n// {}", phrase.to_uppercase())).len(),
            2
        );
        assert_eq!(banned_phrases("a.rs", &format!("s{phrase} {phrase}s {}", phrase.replace(' ', "_"))), []);
    }

    #[test]
    fn longer_words_and_allowed_phrases_are_not_findings() {
        let (word, other) = (banned(0), banned(2));
        assert_eq!(banned_words("a.rs", &format!("s{word}ow ware{other} {word}way")), []);
        for (_, phrase) in entries(ALLOWED).filter(|(file, _)| *file == "*") {
            assert_eq!(banned_words("a.rs", &format!("one {phrase} two")), [], "{phrase}");
            assert_eq!(limit_names("a.rs", &format!("\"{phrase}\"")), [], "{phrase}");
        }
    }

    #[test]
    fn finds_limits_that_are_not_called_max_or_min() {
        let (most, least) = (["MO", "ST"].concat(), ["le", "ast"].concat());
        for line in [
            format!("const {most}_LINES: usize = 1;"),
            format!("const KEYS_{most}_BYTES: usize = 1;"),
            format!("{least}_rsa_bits = 1024"),
            format!("use --{least}-rsa-bits"),
            format!("#[arg(long = \"{least}-keys\")]"),
        ] {
            assert_eq!(limit_names("a.rs", &line).len(), 1, "{line}");
        }
    }

    #[test]
    fn sentences_are_not_limit_names() {
        let least = ["le", "ast"].concat();
        let text = format!(
            "at most one; the most-used key; {least}_significant_bit; fn accepts_at_{least}_one() {{}}"
        );
        assert_eq!(limit_names("a.rs", &text), []);
    }
}
