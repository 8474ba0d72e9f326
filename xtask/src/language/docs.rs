//! The openings of rustdoc, and the width of documents.

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
    // Lines of tests may be missing: a comment goes on in the very next line only.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_questions_at_the_start_of_rustdoc_only() {
        let text =
            "/// Wh# it does.\n/// Wh# else.\nfn f() {}\n//! Wh# it is.\n// Wh# it was.\n/// Whatever.\n"
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
