//! Names of bindings, fields, functions and modules that do not say what they name.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

use super::findings::{LanguageFinding, LanguageRule};

const NAMES: &str = include_str!("../../language/names.txt");
/// Keywords that may stand before a closure.
const BEFORE_CLOSURES: [&str; 9] = ["move", "async", "return", "else", "in", "match", "if", "while", "break"];
/// Keywords before the name of an item or of a reference.
const ITEMS: [&str; 5] = ["fn", "mod", "const", "static", "ref"];

/// Finds bindings, fields, functions and modules with a name of the list, in tests too. A call is not a finding,
/// because a caller cannot rename the function of another crate.
pub(super) fn vague_names(file: &str, text: &str) -> Vec<LanguageFinding> {
    let Ok(tokens) = text.parse() else { return Vec::new() };
    let mut found = BTreeSet::new();
    collect(&tokens, &mut found);
    found
        .into_iter()
        .map(|(line, _, name, replacement)| {
            let reason = format!("`{name}` does not say what it is: {replacement}");
            LanguageFinding::in_file(LanguageRule::VagueName, file, line, &reason)
        })
        .collect()
}

/// A name of the list: line, column, the name and its replacement.
type FoundName = (usize, usize, String, &'static str);

fn collect(tokens: &TokenStream, found: &mut BTreeSet<FoundName>) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let rest = &tokens[index + 1..];
        match token {
            TokenTree::Group(group) => collect(&group.stream(), found),
            TokenTree::Ident(word) if word == "let" => {
                add_pattern(let_pattern(rest), found);
            }
            TokenTree::Ident(word) if word == "for" => add_pattern(loop_pattern(rest), found),
            TokenTree::Ident(word) if ITEMS.iter().any(|item| word == item) => {
                if let Some(TokenTree::Ident(name)) = rest.first() {
                    add(name, found);
                }
            }
            // A parameter, a field of a definition or of a value, or a parameter of a macro.
            TokenTree::Ident(name) if is_colon(rest) => add(name, found),
            TokenTree::Punct(bar) if bar.as_char() == '|' && begins_closure(&tokens[..index]) => {
                add_pattern(until(rest, |token| is_punct(token, "|")), found);
            }
            TokenTree::Punct(arrow) if arrow.as_char() == '=' && is_arrow(token, rest) => {
                add_pattern(arm_pattern(&tokens[..index]), found);
            }
            _ => {}
        }
    }
}

/// Adds the names of a pattern. Types in it are in upper case and thus never on the list.
fn add_pattern(tokens: &[TokenTree], found: &mut BTreeSet<FoundName>) {
    for (index, token) in tokens.iter().enumerate() {
        let before = &tokens[..index];
        let is_in_path =
            matches!(before, [.., first, second] if is_punct(first, ":") && is_punct(second, ":"));
        match token {
            TokenTree::Group(group) => add_pattern(&group.stream().into_iter().collect::<Vec<_>>(), found),
            TokenTree::Ident(name) if !is_in_path => add(name, found),
            _ => {}
        }
    }
}

fn add(name: &Ident, found: &mut BTreeSet<FoundName>) {
    let text = name.to_string();
    let entries = NAMES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    for (_, replacement) in entries.filter(|(vague, _)| *vague == text) {
        let start = name.span().start();
        found.insert((start.line, start.column, text.clone(), replacement));
    }
}

fn until(tokens: &[TokenTree], is_end: impl Fn(&TokenTree) -> bool) -> &[TokenTree] {
    &tokens[..tokens.iter().position(is_end).unwrap_or(0)]
}

/// Returns the pattern of a `let`, up to its type or its value.
fn let_pattern(tokens: &[TokenTree]) -> &[TokenTree] {
    let is_end = |index: &usize| {
        let is_after_colon = *index > 0 && is_punct(&tokens[index - 1], ":");
        is_punct(&tokens[*index], "=;") || (is_colon(&tokens[*index..]) && !is_after_colon)
    };
    &tokens[..(0..tokens.len()).find(is_end).unwrap_or(0)]
}

/// Returns the pattern of a loop. The `for` of an implementation has no `in` before its body.
fn loop_pattern(tokens: &[TokenTree]) -> &[TokenTree] {
    let is_in = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "in");
    let is_body =
        |(index, token): (usize, &TokenTree)| is_brace(token) && !tokens.get(index + 1).is_some_and(is_in);
    let body = tokens.iter().enumerate().position(is_body).unwrap_or(tokens.len());
    until(&tokens[..body], is_in)
}

/// Returns the pattern before the arrow of an arm, without its guard.
fn arm_pattern(tokens: &[TokenTree]) -> &[TokenTree] {
    let is_end = |(index, token): (usize, &TokenTree)| {
        // Braces end the arm before, except those of a struct in this pattern.
        let is_struct = index > 0 && matches!(&tokens[index - 1], TokenTree::Ident(name) if is_type(name));
        is_punct(token, ",;") || (is_brace(token) && !is_struct)
    };
    let start = tokens.iter().enumerate().rposition(is_end).map_or(0, |end| end + 1);
    let arm = &tokens[start..];
    let guard = arm.iter().position(|token| matches!(token, TokenTree::Ident(word) if word == "if"));
    &arm[..guard.unwrap_or(arm.len())]
}

/// True if a bar behind these tokens opens the parameters of a closure.
fn begins_closure(before: &[TokenTree]) -> bool {
    match before.last() {
        None => true,
        Some(TokenTree::Ident(word)) => BEFORE_CLOSURES.iter().any(|keyword| word == keyword),
        Some(TokenTree::Punct(punct)) => punct.as_char() != '|' && punct.as_char() != '?',
        // An attribute of the closure.
        Some(TokenTree::Group(group)) => {
            group.delimiter() == Delimiter::Bracket
                && before.len() > 1
                && is_punct(&before[before.len() - 2], "#")
        }
        Some(TokenTree::Literal(_)) => false,
    }
}

fn is_colon(rest: &[TokenTree]) -> bool {
    let is_joint =
        |token: &TokenTree| matches!(token, TokenTree::Punct(colon) if colon.spacing() == Spacing::Joint);
    match rest {
        [colon, next, ..] if is_joint(colon) => is_punct(colon, ":") && !is_punct(next, ":"),
        [colon, ..] => is_punct(colon, ":"),
        [] => false,
    }
}

fn is_arrow(equals: &TokenTree, rest: &[TokenTree]) -> bool {
    matches!(equals, TokenTree::Punct(equals) if equals.spacing() == Spacing::Joint)
        && rest.first().is_some_and(|token| is_punct(token, ">"))
}

fn is_punct(token: &TokenTree, letters: &str) -> bool {
    matches!(token, TokenTree::Punct(punct) if letters.contains(punct.as_char()))
}

fn is_brace(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn is_type(name: &Ident) -> bool {
    name.to_string().starts_with(|letter: char| letter.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a name from the list, so that this file has none.
    fn vague(index: usize) -> &'static str {
        NAMES.lines().filter(|line| !line.starts_with('#')).nth(index).unwrap().split_once(' ').unwrap().0
    }

    #[test]
    fn finds_vague_names_of_every_kind_of_binding() {
        for name in [vague(0), vague(1), vague(2)] {
            for text in [
                format!("fn f() {{ let {name} = 1; }}"),
                format!("fn f() {{ let mut {name}: u8 = 1; }}"),
                format!("fn f() {{ let (a, [{name}, ..]) = b; }}"),
                format!("fn f() {{ if let Some((_, {name})) = a {{}} }}"),
                format!("fn f() {{ let Some(a) = b && let A::B({name}) = c; }}"),
                format!("fn f() {{ for ({name}, a) in b {{}} }}"),
                format!("fn f() {{ for Pair {{ {name}, .. }} in b {{}} }}"),
                format!("fn f() {{ a.map(|{name}| 1); }}"),
                format!("fn f() {{ a.map(move |(a, &{name})| 1); }}"),
                format!("fn f() {{ a.map(#[inline] |a, {name}: u8| 1); }}"),
                format!("fn f() {{ match a {{ Some({name}) if b => 1, _ => 2 }} }}"),
                format!("fn f() {{ match a {{ B => {{}} C {{ d: {name} }} => 2 }} }}"),
                format!("fn f({name}: u8) {{}}"),
                format!("struct A {{ {name}: u8 }}"),
                format!("const A: A = A {{ {name}: 1 }};"),
                format!("fn {name}() {{}}"),
                format!("mod {name};"),
                format!("macro_rules! a {{ (${name}:ident) => {{}} }}"),
            ] {
                assert_eq!(vague_names("a.rs", &text).len(), 1, "{text}");
            }
        }
    }

    #[test]
    fn uses_and_longer_names_are_not_findings() {
        let name = vague(1);
        for text in [
            format!("fn f() {{ a.{name}(1); b.{name}; {name}::c(); }}"),
            format!("fn f() {{ let a = {name} | b; let c = a || {name}; }}"),
            format!("impl A for B {{ fn c() {{ {name} }} }}"),
            format!("fn f(in_{name}: u8, {name}_of: u8) {{ let a_{name} = \"{name}: \"; }} // let {name}"),
            format!("fn f() {{ match a {{ b if {name} == b => {name}, _ => {{ {name} }} }} }}"),
        ] {
            assert_eq!(vague_names("a.rs", &text), [], "{text}");
        }
    }

    #[test]
    fn says_the_line_and_other_names() {
        let found = vague_names("a.rs", &format!("fn a() {{}}\nfn {}() {{}}\n", vague(1)));
        assert!(found[0].text.starts_with("a.rs:2: `"), "{found:?}");
        assert!(found[0].text.contains("index, offset"), "{found:?}");
    }
}
