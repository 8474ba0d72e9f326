//! The address of `unsafe`: each crate has one at most, which the plan names. Each block has its `SAFETY:` comment.
//! Integration tests and benches ship nothing, so that they need no address (a test that forks has to call C), but they
//! need the comments.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::checks::CheckResult;
use crate::plan::crate_plan;
use crate::workspace::{Workspace, WorkspaceError, WorkspaceMember, read, rust_files};

/// Checks every `unsafe` of the workspace. The summary lists the addresses in use.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let mut faults = Vec::new();
    let mut addresses = Vec::new();
    for member in &workspace.packages {
        let allowed = crate_plan(&member.name).unsafe_address;
        let found = member_faults(member, allowed, &mut faults)?;
        if let Some(address) = allowed.filter(|_| found > 0) {
            addresses.push(format!("{} {address} ({found})", member.name));
        }
    }
    let summary = if addresses.is_empty() { "none in use".into() } else { addresses.join(", ") };
    Ok(CheckResult::new(faults, summary))
}

/// Adds the faults of one crate and returns the number of `unsafe` words in it.
fn member_faults(
    member: &WorkspaceMember,
    address: Option<&str>,
    faults: &mut Vec<String>,
) -> Result<usize, WorkspaceError> {
    let mut found = 0;
    for path in rust_files(&member.folder)? {
        let text = read(&path)?;
        let inside = path.strip_prefix(&member.folder).unwrap_or(&path);
        let shown = format!("{}/{}", member.name, inside.display());
        match unsafe_words(&text) {
            None => faults.push(format!("{shown}: not readable as Rust")),
            Some(words) => {
                found += words.len();
                check_words(&shown, &text, &words, is_at(inside, address), faults);
            }
        }
    }
    Ok(found)
}

fn check_words(file: &str, text: &str, words: &[UnsafeWord], is_allowed: bool, faults: &mut Vec<String>) {
    for word in words {
        if !is_allowed {
            faults.push(format!("{file}:{}: `unsafe` outside the crate's address for it", word.line));
        }
        if word.wants_comment && !has_safety_comment(text, word.line) {
            faults.push(format!("{file}:{}: no `// SAFETY:` comment above", word.line));
        }
    }
}

/// True for an address itself, for a file below it, for the module file of a folder, and for files that ship nothing.
fn is_at(inside: &Path, address: Option<&str>) -> bool {
    let ships_nothing = ["tests", "benches"].iter().any(|folder| inside.starts_with(folder));
    let is_address =
        |address: &str| inside.starts_with(address) || inside.with_extension("") == Path::new(address);
    ships_nothing || address.is_some_and(is_address)
}

#[derive(Debug, PartialEq, Eq)]
struct UnsafeWord {
    /// Counted from 1.
    line: usize,
    /// Blocks and implementations are claims to be justified; `unsafe fn` and `unsafe extern` only make demands.
    wants_comment: bool,
}

/// Returns every keyword `unsafe` of a source text outside comments and strings, or None if the text is not Rust.
fn unsafe_words(text: &str) -> Option<Vec<UnsafeWord>> {
    let mut words = Vec::new();
    walk(text.parse().ok()?, &mut words);
    Some(words)
}

fn walk(tokens: TokenStream, words: &mut Vec<UnsafeWord>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => walk(group.stream(), words),
            TokenTree::Ident(word) if word == "unsafe" => {
                let wants_comment = match tokens.peek() {
                    Some(TokenTree::Group(body)) => body.delimiter() == Delimiter::Brace,
                    Some(TokenTree::Ident(next)) => next == "impl",
                    _ => false,
                };
                words.push(UnsafeWord { line: word.span().start().line, wants_comment });
            }
            _ => {}
        }
    }
}

/// True if the comment directly above the statement that holds `line` contains `SAFETY:`.
fn has_safety_comment(text: &str, line: usize) -> bool {
    let above: Vec<&str> = text.lines().take(line - 1).map(str::trim).collect();
    above
        .iter()
        .rev()
        .skip_while(|code| {
            !code.starts_with("//") && !code.is_empty() && !code.ends_with([';', '{', '}', ','])
        })
        .take_while(|code| code.starts_with("//"))
        .any(|comment| comment.contains("SAFETY:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(text: &str, is_allowed: bool) -> usize {
        let mut faults = Vec::new();
        check_words("planted", text, &unsafe_words(text).unwrap(), is_allowed, &mut faults);
        faults.len()
    }

    #[test]
    fn ignores_unsafe_in_comments_strings_and_names() {
        let text =
            "// unsafe {\n#![forbid(unsafe_code)]\nconst A: &str = \"unsafe {\"; fn f(not_unsafe: u8) {}\n";
        assert_eq!(unsafe_words(text).unwrap(), []);
    }

    #[test]
    fn requires_a_safety_comment_above_each_block() {
        assert_eq!(faults_of("fn f() {\n    // SAFETY: nothing is touched\n    unsafe { g() }\n}", true), 0);
        assert_eq!(
            faults_of("fn f() {\n    // SAFETY: held\n    let a =\n        unsafe { g() };\n}", true),
            0
        );
        assert_eq!(faults_of("fn f() {\n    unsafe { g() }\n}", true), 1);
        assert_eq!(faults_of("fn f() {\n    // because\n    unsafe { g() }\n}", true), 1);
        assert_eq!(faults_of("fn f() {\n    // SAFETY: one\n    h();\n    unsafe { g() }\n}", true), 1);
        assert_eq!(faults_of("unsafe impl Send for A {}", true), 1);
        assert_eq!(faults_of("unsafe extern \"C\" fn f() {}", true), 0);
    }

    #[test]
    fn allows_unsafe_at_the_address_of_the_crate_only() {
        assert_eq!(faults_of("unsafe fn f() {}", false), 1);
        assert!(is_at(Path::new("src/simd/ifma.rs"), Some("src/simd")));
        assert!(is_at(Path::new("src/simd.rs"), Some("src/simd")));
        assert!(is_at(Path::new("src/aws_lc.rs"), Some("src/aws_lc.rs")));
        assert!(!is_at(Path::new("src/simd_more.rs"), Some("src/simd")));
        assert!(is_at(Path::new("tests/fork.rs"), None));
        assert!(!is_at(Path::new("src/tests/fork.rs"), None));
        assert!(!is_at(Path::new("src/lib.rs"), None));
    }
}
