//! Names of types: names that say nothing, and names that are defined more than once.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};

use super::findings::{LanguageFinding, LanguageRule};
use crate::source::shipped_sources;
use crate::workspace::{Workspace, WorkspaceError, is_generated};

const BANNED: &str = include_str!("../../language/types.txt");
const MIRRORED: &str = include_str!("../../language/mirrored.txt");

/// The definition of a struct, an enum, a union or a trait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeDefinition {
    pub(crate) name: String,
    /// The file, relative to the workspace if the workspace was searched.
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// Finds type names of the list, in tests too.
pub(super) fn banned_names(file: &str, text: &str) -> Vec<LanguageFinding> {
    let Ok(tokens) = text.parse() else { return Vec::new() };
    type_definitions(file, &tokens)
        .into_iter()
        .filter(|definition| BANNED.lines().any(|banned| banned == definition.name))
        .map(|definition| {
            let reason = format!("the name `{}` does not say what the type is", definition.name);
            LanguageFinding::in_file(LanguageRule::TypeName, file, definition.line, &reason)
        })
        .collect()
}

/// Returns every type that the workspace ships.
pub(super) fn workspace_types(workspace: &Workspace) -> Result<Vec<TypeDefinition>, WorkspaceError> {
    let mut types = Vec::new();
    for member in &workspace.packages {
        let folder = member.folder.strip_prefix(&workspace.root).unwrap_or(&member.folder);
        for source in shipped_sources(member)?.into_iter().filter(|source| !is_generated(&source.path)) {
            let file = folder.join(&source.path).to_string_lossy().into_owned();
            types.extend(type_definitions(&file, &source.tokens));
        }
    }
    Ok(types)
}

/// Finds type names with more than one definition. Definitions in folders that mirror each other count as one.
pub(super) fn duplicates(types: &[TypeDefinition]) -> Vec<LanguageFinding> {
    let mut by_name: BTreeMap<&str, Vec<&TypeDefinition>> = BTreeMap::new();
    for definition in types {
        by_name.entry(&definition.name).or_default().push(definition);
    }
    let mut findings = Vec::new();
    for (name, definitions) in by_name {
        let mut groups = BTreeSet::new();
        for definition in
            definitions.iter().filter(|definition| groups.insert(mirror_group(&definition.file)))
        {
            let text = format!("{}:{}: `{name}` is defined here", definition.file, definition.line);
            findings.push(LanguageFinding { rule: LanguageRule::DuplicateType, key: name.to_owned(), text });
        }
        if groups.len() < 2 {
            findings.retain(|finding| finding.key != name);
        }
    }
    findings
}

/// Returns the line of mirrored folders that a file belongs to, or the file itself.
fn mirror_group(file: &str) -> &str {
    let has_file = |line: &&str| line.split(' ').any(|folder| file.starts_with(folder));
    MIRRORED.lines().filter(|line| !line.starts_with('#')).find(has_file).unwrap_or(file)
}

/// Returns the types that `tokens` define, at any depth.
pub(crate) fn type_definitions(file: &str, tokens: &TokenStream) -> Vec<TypeDefinition> {
    let mut types = Vec::new();
    collect_types(file, tokens, &mut types);
    types
}

fn collect_types(file: &str, tokens: &TokenStream, types: &mut Vec<TypeDefinition>) {
    let mut is_definition = false;
    for token in tokens.clone() {
        match &token {
            TokenTree::Ident(name) if is_definition => {
                let line = name.span().start().line;
                types.push(TypeDefinition { name: name.to_string(), file: file.to_owned(), line });
            }
            TokenTree::Group(group) => collect_types(file, &group.stream(), types),
            _ => {}
        }
        let is_word = |word: &str| ["struct", "enum", "union", "trait"].contains(&word);
        is_definition = matches!(&token, TokenTree::Ident(word) if is_word(&word.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(name: &str, file: &str) -> TypeDefinition {
        TypeDefinition { name: name.into(), file: file.into(), line: 1 }
    }

    #[test]
    fn finds_banned_names_at_any_depth() {
        let name = BANNED.lines().nth(1).unwrap();
        for text in [
            format!("struct {name};"),
            format!("fn f() {{ enum {name} {{ A }} }}"),
            format!("mod tests {{ trait {name} {{}} }}"),
        ] {
            assert_eq!(banned_names("a.rs", &text).len(), 1, "{text}");
        }
        assert_eq!(banned_names("a.rs", &format!("struct {name}Key; fn f(a: {name}) {{}}")), []);
    }

    #[test]
    fn finds_names_that_are_defined_more_than_once() {
        let types = [defined("KeyUse", "a.rs"), defined("KeyUse", "b.rs"), defined("BatchSize", "a.rs")];
        let found = duplicates(&types);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|finding| finding.key == "KeyUse"), "{found:?}");
        assert_eq!(duplicates(&types[1..]), []);
    }

    #[test]
    fn mirrored_folders_define_a_name_once() {
        for line in MIRRORED.lines().filter(|line| !line.starts_with('#')) {
            let files: Vec<String> = line.split(' ').map(|folder| format!("{folder}/a.rs")).collect();
            assert!(files.len() > 1, "{line}: a mirror has two sides");
            let mut types: Vec<TypeDefinition> = files.iter().map(|file| defined("KeyUse", file)).collect();
            assert_eq!(duplicates(&types), [], "{line}");
            types.push(defined("KeyUse", "elsewhere.rs"));
            assert_eq!(duplicates(&types).len(), 2, "{line}");
        }
    }
}
