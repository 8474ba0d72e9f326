//! The names that a crate root re-exports: `crate::Foo` is an arrow to the module that has `Foo`.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::source::SourceFile;

/// The modules behind the names that a crate root imports or exports.
#[derive(Debug, Default)]
pub(super) struct RootExports {
    modules: BTreeMap<String, String>,
}

impl RootExports {
    pub(super) fn read(sources: &[SourceFile]) -> Self {
        let mut exports = Self::default();
        let mut globs = BTreeSet::new();
        for root in sources.iter().filter(|source| source.module.is_empty()) {
            for tree in use_trees(&root.tokens) {
                exports.add_tree(&tree, None, &mut globs);
            }
        }
        for source in sources {
            if let [module] = &source.module[..]
                && globs.contains(module)
            {
                for name in item_names(&source.tokens) {
                    exports.modules.entry(name).or_insert_with(|| module.clone());
                }
            }
            if let Some(module) = source.module.first() {
                exports.add_macros(&source.tokens, module);
            }
        }
        exports
    }

    /// Returns the first module of the path behind a name of the crate root.
    pub(super) fn module_of(&self, name: &str) -> Option<&str> {
        self.modules.get(name).map(String::as_str)
    }

    fn add_tree(&mut self, tokens: &[TokenTree], module: Option<&str>, globs: &mut BTreeSet<String>) {
        let mut module = module.map(ToOwned::to_owned);
        let mut last = None;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    if !["crate", "self", "as"].contains(&word.as_str()) {
                        module.get_or_insert_with(|| word.clone());
                        last = Some(word);
                    }
                }
                TokenTree::Punct(mark) if mark.as_char() == '*' => {
                    globs.extend(module.clone());
                    last = None;
                }
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for branch in inner.split(is_comma) {
                        self.add_tree(branch, module.as_deref(), globs);
                    }
                    last = None;
                }
                _ => {}
            }
        }
        if let (Some(module), Some(name)) = (module, last) {
            self.modules.insert(name, module);
        }
    }

    /// Adds exported macros, which stand in the crate root wherever they are written.
    fn add_macros(&mut self, tokens: &TokenStream, module: &str) {
        let mut is_exported = false;
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) if group.to_string().contains("macro_export") => is_exported = true,
                TokenTree::Ident(word) if word == "macro_rules" && is_exported => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(at + 2) {
                        self.modules.insert(name.to_string(), module.to_owned());
                    }
                    is_exported = false;
                }
                _ => {}
            }
        }
    }
}

pub(super) fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')
}

fn use_trees(tokens: &TokenStream) -> Vec<Vec<TokenTree>> {
    let mut trees = Vec::new();
    let mut tokens = tokens.clone().into_iter();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Ident(word) if word == "use") {
            let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';');
            trees.push(tokens.by_ref().take_while(|token| !is_end(token)).collect());
        }
    }
    trees
}

/// Returns the names of the items of a module, without those of its inner modules.
fn item_names(tokens: &TokenStream) -> Vec<String> {
    const WORDS: [&str; 9] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "mod"];
    let mut names = Vec::new();
    let mut is_name = false;
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(word) if WORDS.contains(&word.to_string().as_str()) => is_name = true,
            TokenTree::Ident(name) if is_name => {
                names.push(name.to_string());
                is_name = false;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => is_name = false,
            _ => {}
        }
    }
    names
}
