//! The openings of rustdoc, rustdoc that says nothing, and the width of documents.

use super::findings::{LanguageFinding, LanguageRule};

const MAX_COLUMNS: usize = 120;
const INTERROGATIVES: [&str; 8] = ["What", "How", "Where", "Why", "Which", "Whether", "When", "Who"];

/// Finds rustdoc that begins with a word of a question.
pub(super) fn interrogative_openings(file: &str, text: &str) -> Vec<LanguageFinding> {
    rustdoc_openings((1..).zip(text.lines()))
        .filter(|(_, opening)| has_interrogative_opening(opening))
        .map(|(line, opening)| {
            let reason = format!("rustdoc begins with a verb or a noun, not with `{opening}`");
            LanguageFinding::in_file(LanguageRule::DocOpening, file, line, &reason)
        })
        .collect()
}

/// True if the first word of `opening` asks a question.
pub(crate) fn has_interrogative_opening(opening: &str) -> bool {
    let end = opening.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(opening.len());
    INTERROGATIVES.contains(&&opening[..end])
}

/// Returns the first line of each doc comment, with its number.
pub(crate) fn rustdoc_openings<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> impl Iterator<Item = (usize, &'a str)> {
    // Lines of tests may be missing: a comment continues in the very next line only.
    let mut last = (0, "");
    lines.filter_map(move |(number, line)| {
        let Some((marker, content)) = rustdoc_content(line) else {
            last = (0, "");
            return None;
        };
        let is_opening = last != (number - 1, marker);
        last = (number, marker);
        is_opening.then_some((number, content))
    })
}

/// Takes a line of rustdoc apart: its marker, and its content.
fn rustdoc_content(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    for marker in ["///", "//!"] {
        if let Some(content) = line.strip_prefix(marker)
            && !content.starts_with('/')
        {
            return Some((marker, content.trim()));
        }
    }
    None
}

/// Finds lines of rustdoc and of Markdown that are too wide. Tables, links and blocks of code in documents may be.
pub(super) fn wide_lines(file: &str, text: &str) -> Vec<LanguageFinding> {
    let (is_rust, is_markdown) = (file.ends_with(".rs"), file.ends_with(".md"));
    let mut findings = Vec::new();
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let content = if is_rust { rustdoc_content(line).map(|(_, content)| content) } else { Some(line) };
        let Some(content) = content.filter(|_| is_rust || is_markdown) else { continue };
        is_code ^= is_markdown && content.trim_start().starts_with("```");
        let columns = line.chars().count();
        let is_exempt =
            is_code || content.starts_with('|') || content.contains("](") || content.contains("://");
        if columns > MAX_COLUMNS && !is_exempt {
            let reason = format!("{columns} columns, at most {MAX_COLUMNS}");
            findings.push(LanguageFinding::in_file(LanguageRule::DocWidth, file, number, &reason));
        }
    }
    findings
}

/// Finds rustdoc of fields that only repeats their names, in at most three words.
pub(super) fn repeated_names(file: &str, text: &str) -> Vec<LanguageFinding> {
    let lines: Vec<&str> = text.lines().collect();
    let is_doc = |index: usize| lines.get(index).is_some_and(|line| rustdoc_content(line).is_some());
    let mut findings = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(("///", doc)) = rustdoc_content(line) else { continue };
        if is_doc(index + 1) || (index > 0 && is_doc(index - 1)) {
            continue;
        }
        let item = lines[index + 1..].iter().map(|line| line.trim()).find(|line| !line.starts_with("#["));
        if let Some(name) = item.and_then(field_name).filter(|name| repeats(doc, name)) {
            let reason = format!("`{doc}` says no more than the name `{name}`: say more, or nothing");
            findings.push(LanguageFinding::in_file(LanguageRule::DocNoise, file, index + 1, &reason));
        }
    }
    findings
}

/// Returns the name of the field that a line defines.
fn field_name(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) if rest.starts_with(' ') => rest,
        _ => line,
    };
    let (name, kind) = line.trim_start().split_once(':')?;
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_' || letter.is_ascii_digit());
    (is_name && kind.starts_with(' ')).then_some(name)
}

/// True if `doc` has at most three words, each an article or a word of `name`.
fn repeats(doc: &str, name: &str) -> bool {
    let singular = |word: &str| word.to_ascii_lowercase().trim_end_matches('s').to_owned();
    let known: Vec<String> = name.split('_').map(singular).collect();
    let words: Vec<&str> =
        doc.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_article = |word: &str| ["the", "a", "an", "its"].contains(&word.to_ascii_lowercase().as_str());
    let mut content = words.iter().filter(|word| !is_article(word)).peekable();
    words.len() <= 3 && content.peek().is_some() && content.all(|word| known.contains(&singular(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_questions_at_the_start_of_rustdoc_only() {
        let text =
            "/// Wh# it does.\n/// Wh# else.\nfn f() {}\n//! Wh# it is.\n// Wh# it was.\n/// Wh#soever.\n"
                .replace("Wh#", "What");
        let lines: Vec<String> =
            interrogative_openings("a.rs", &text).into_iter().map(|found| found.text).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("a.rs:1: ") && lines[1].starts_with("a.rs:4: "), "{lines:?}");
        for word in INTERROGATIVES {
            assert_eq!(interrogative_openings("a.rs", &format!("    /// {word} not.")).len(), 1, "{word}");
        }
    }

    #[test]
    fn finds_rustdoc_that_repeats_the_name_of_a_field() {
        for (doc, line) in [
            ("The reason.", "reason: String,"),
            ("The common name.", "pub(crate) common_name: Option<String>,"),
            ("Its limits.", "#[serde(default)]\n    pub limits: Limits,"),
        ] {
            assert_eq!(repeated_names("a.rs", &format!("    /// {doc}\n    {line}")).len(), 1, "{doc}");
        }
        for text in [
            "/// The reason of the peer.\nreason: String,",
            "/// The reason.\n/// It is a text.\nreason: String,",
            "/// The cause.\nreason: String,",
            "/// Returns a name.\nfn name() {}",
            "/// The name.\nname::call();",
        ] {
            assert_eq!(repeated_names("a.rs", text), [], "{text}");
        }
    }

    #[test]
    fn finds_wide_lines_of_documents() {
        let wide = "x".repeat(121);
        let in_rust = |line: String| wide_lines("a.rs", &line).len();
        assert_eq!(in_rust(format!("/// {wide}")), 1);
        assert_eq!(in_rust(format!("//! {wide}")), 1);
        assert_eq!(in_rust(format!("// {wide}")), 0);
        assert_eq!(in_rust(format!("/// {}", "x".repeat(116))), 0);
        assert_eq!(in_rust(format!("//! | {wide} |")), 0);
        assert_eq!(in_rust(format!("/// [a](b) {wide}")), 0);
        assert_eq!(wide_lines("a.md", &wide).len(), 1);
        assert_eq!(wide_lines("a.md", &format!("```\n{wide}\n```\n{wide}")).len(), 1);
        assert_eq!(wide_lines("a.toml", &wide), []);
    }
}
