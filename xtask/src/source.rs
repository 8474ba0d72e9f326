//! The sources of a crate as tokens, without the code of its tests.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::workspace::{WorkspaceError, WorkspaceMember, read, rust_files};

/// One file below `src`, as it is shipped.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// The path within the crate's folder.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// The path of the file's module in its crate; empty for `lib.rs`, `main.rs` and files of `bin`.
    pub(crate) module: Vec<String>,
    /// The tokens of the file, without items of tests.
    pub(crate) tokens: TokenStream,
    test_lines: Vec<RangeInclusive<usize>>,
}

impl SourceFile {
    /// Returns the lines of the file with their numbers, without lines of tests.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_shipped = |number: &usize| !self.test_lines.iter().any(|lines| lines.contains(number));
        (1..).zip(self.text.lines()).filter(move |(number, _)| is_shipped(number))
    }
}

/// Reads the files below a crate's `src` folder. Files of tests are left out.
pub(crate) fn shipped_sources(member: &WorkspaceMember) -> Result<Vec<SourceFile>, WorkspaceError> {
    let folder = member.folder.join("src");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut tests = TestItems::default();
    let mut sources = Vec::new();
    for path in rust_files(&folder)? {
        let inside = path.strip_prefix(&folder).unwrap_or(&path);
        if inside.with_extension("").iter().any(|name| name == "tests") {
            continue;
        }
        let text = read(&path)?;
        let stream: TokenStream = text.parse().map_err(|_| WorkspaceError::Syntax { path: path.clone() })?;
        let module = module_path(inside);
        let mut removed = RemovedItems::default();
        let tokens = without_tests(stream, &mut removed);
        tests.add(&path, &module, &removed);
        let test_lines = removed.lines;
        sources.push(SourceFile { path: path.clone(), text, module, tokens, test_lines });
    }
    sources.retain(|source| !tests.contain(source));
    for source in &mut sources {
        source.path = source.path.strip_prefix(&member.folder).unwrap_or(&source.path).to_owned();
    }
    Ok(sources)
}

/// Returns the module that a file below `src` holds.
fn module_path(inside: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        inside.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let is_root = module.first().is_some_and(|name| name == "bin") || inside.components().count() == 1;
    match module.last().map(String::as_str) {
        Some("mod") => drop(module.pop()),
        Some("lib" | "main") if is_root => module.clear(),
        _ if module.first().is_some_and(|name| name == "bin") => module.clear(),
        _ => {}
    }
    module
}

/// Modules that only tests have.
#[derive(Debug, Default)]
struct TestItems {
    modules: Vec<Vec<String>>,
    paths: HashSet<PathBuf>,
}

impl TestItems {
    fn add(&mut self, path: &Path, module: &[String], removed: &RemovedItems) {
        if removed.is_whole_file {
            self.paths.insert(path.to_owned());
        }
        for name in &removed.modules {
            self.modules.push(module.iter().chain([name]).cloned().collect());
        }
        // The attribute `path` counts from the folder of the file that has it.
        let folder = path.parent().unwrap_or(path);
        self.paths.extend(removed.paths.iter().map(|file| folder.join(file)));
    }

    fn contain(&self, source: &SourceFile) -> bool {
        self.paths.contains(&source.path)
            || self.modules.iter().any(|module| source.module.starts_with(module))
    }
}

#[derive(Debug, Default)]
struct RemovedItems {
    lines: Vec<RangeInclusive<usize>>,
    modules: Vec<String>,
    paths: Vec<String>,
    is_whole_file: bool,
}

impl RemovedItems {
    fn add(&mut self, item: &[TokenTree]) {
        if let (Some(first), Some(last)) = (item.first(), item.last()) {
            self.lines.push(first.span().start().line..=last.span().end().line);
        }
        for pair in item.windows(2) {
            match pair {
                [TokenTree::Ident(word), TokenTree::Ident(name)] if word == "mod" => {
                    self.modules.push(name.to_string());
                }
                [TokenTree::Punct(_), TokenTree::Group(attribute)] => {
                    self.paths.extend(path_attribute(attribute));
                }
                _ => {}
            }
        }
    }
}

fn path_attribute(attribute: &Group) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(word), TokenTree::Punct(_), TokenTree::Literal(path)] if word == "path" => {
            Some(path.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    }
}

fn without_tests(stream: TokenStream, removed: &mut RemovedItems) -> TokenStream {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = &tokens[at..];
        if let [TokenTree::Punct(hash), TokenTree::Punct(inner), TokenTree::Group(attribute), ..] = rest
            && (hash.as_char(), inner.as_char()) == ('#', '!')
            && is_test_attribute(attribute)
        {
            removed.is_whole_file = true;
        }
        if let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = rest
            && hash.as_char() == '#'
            && is_test_attribute(attribute)
        {
            let len = item_len(rest);
            removed.add(&rest[..len]);
            at += len;
            continue;
        }
        kept.push(match token {
            TokenTree::Group(group) => TokenTree::Group(group_without_tests(group, removed)),
            other => other.clone(),
        });
        at += 1;
    }
    kept.into_iter().collect()
}

fn group_without_tests(group: &Group, removed: &mut RemovedItems) -> Group {
    let mut stripped = Group::new(group.delimiter(), without_tests(group.stream(), removed));
    stripped.set_span(group.span());
    stripped
}

/// True for `cfg(test)` and `cfg(all(test, ...))`: nothing else keeps an item out of what is shipped.
fn is_test_attribute(attribute: &Group) -> bool {
    let inner = |name: &str, tokens: &[TokenTree]| match tokens {
        [TokenTree::Ident(word), TokenTree::Group(inner)] if word == name => {
            inner.stream().into_iter().collect::<Vec<_>>()
        }
        _ => Vec::new(),
    };
    let condition = inner("cfg", &attribute.stream().into_iter().collect::<Vec<_>>());
    let mut parts = inner("all", &condition);
    if parts.is_empty() {
        parts = condition;
    }
    parts.iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "test"))
}

/// Returns the number of tokens of the item that starts with an attribute.
fn item_len(tokens: &[TokenTree]) -> usize {
    let mut start = 0;
    while let [TokenTree::Punct(hash), TokenTree::Group(_), ..] = &tokens[start..]
        && hash.as_char() == '#'
    {
        start += 2;
    }
    let mut words = tokens[start..].iter().filter_map(|token| match token {
        TokenTree::Ident(word) if word != "pub" => Some(word.to_string()),
        _ => None,
    });
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_item = ITEM_WORDS.contains(&first.as_str());
    // Braces of these stand within the item; a `const fn` ends with its body.
    let is_ended_by_semicolon =
        ["use", "const", "static", "let", "type"].contains(&first.as_str()) && second != "fn";
    for (offset, token) in tokens[start..].iter().enumerate() {
        let is_end = match token {
            TokenTree::Punct(mark) => mark.as_char() == ';' || (mark.as_char() == ',' && !is_item),
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !is_ended_by_semicolon,
            _ => false,
        };
        if is_end {
            return start + offset + 1;
        }
    }
    tokens.len()
}

const ITEM_WORDS: [&str; 16] = [
    "fn",
    "mod",
    "struct",
    "enum",
    "union",
    "impl",
    "use",
    "const",
    "static",
    "type",
    "trait",
    "unsafe",
    "extern",
    "async",
    "let",
    "macro_rules",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> (String, RemovedItems) {
        let mut removed = RemovedItems::default();
        let tokens = without_tests(text.parse().unwrap(), &mut removed);
        (tokens.to_string(), removed)
    }

    #[test]
    fn removes_items_of_tests_and_nothing_else() {
        for (text, kept) in [
            ("#[cfg(test)] mod tests { fn f() {} } fn g() {}", "fn g() {}"),
            ("#[cfg(all(test, not(miri)))] mod slow; fn g() {}", "fn g() {}"),
            ("#[cfg(test)] #[derive(Debug)] pub(crate) struct A<B, C>(B, C); fn g() {}", "fn g() {}"),
            ("#[cfg(test)] use a::{b, c}; fn g() {}", "fn g() {}"),
            ("#[cfg(test)] const fn f() {} fn g() {}", "fn g() {}"),
            ("struct A { #[cfg(test)] b: u8, c: u8 }", "struct A { c: u8 }"),
            ("#[cfg(any(test, feature = \"x\"))] fn g() {}", "#[cfg(any(test, feature = \"x\"))] fn g() {}"),
            ("#[cfg(not(test))] fn g() {}", "#[cfg(not(test))] fn g() {}"),
        ] {
            let kept: TokenStream = kept.parse().unwrap();
            assert_eq!(stripped(text).0, kept.to_string(), "{text}");
        }
    }

    #[test]
    fn remembers_lines_modules_and_files_of_tests() {
        let removed = stripped("fn g() {}\n#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n").1;
        assert_eq!(removed.lines, [2..=4]);
        assert_eq!(removed.modules, ["tests"]);
        assert_eq!(removed.paths, ["x_tests.rs"]);
        assert!(stripped("#![cfg(test)]\nfn f() {}").1.is_whole_file);
    }

    #[test]
    fn names_the_module_of_a_file() {
        for (path, module) in [
            ("lib.rs", ""),
            ("main.rs", ""),
            ("bin/tool.rs", ""),
            ("a.rs", "a"),
            ("a/mod.rs", "a"),
            ("a/b.rs", "a::b"),
            ("a/main.rs", "a::main"),
        ] {
            assert_eq!(module_path(Path::new(path)).join("::"), module, "{path}");
        }
    }
}
