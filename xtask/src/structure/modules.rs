//! The graph of a crate's top-level modules. A node is `src/x.rs` or the folder `src/x`; an edge is a path that starts
//! with `crate::`, or with as many `super::` as leave the node. Code of tests has no edges.
//!
//! A folder whose module file only declares modules is a namespace: its modules are the nodes. So a crate that C calls
//! and that calls C has all its `unsafe` in one folder, with one module above the others and one below them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::exports::{RootExports, is_comma};
use super::graph::cycles;
use crate::checks::CheckResult;
use crate::plan::crate_plan;
use crate::source::{SourceFile, shipped_sources};
use crate::workspace::{Workspace, WorkspaceError, WorkspaceMember};

/// Checks the cycles of every crate of the workspace.
pub(super) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let mut result = CheckResult::default();
    let (mut modules, mut edges) = (0, 0);
    for member in &workspace.packages {
        let graph = ModuleGraph::read(&shipped_sources(member)?);
        modules += graph.modules.len();
        edges += graph.edges.len();
        let plan = crate_plan(&member.name);
        let found = graph.cycles();
        result.faults.extend(
            found
                .iter()
                .filter(|cycle| cycle.len() > plan.max_cycle)
                .map(|cycle| graph.describe(&member.name, cycle, plan.max_cycle)),
        );
    }
    result.summary = format!("{modules} modules, {edges} arrows between them");
    Ok(result)
}

/// Returns the number of modules in the largest cycle of a crate; 1 means that it has none.
pub(crate) fn largest_cycle(member: &WorkspaceMember) -> Result<usize, WorkspaceError> {
    let graph = ModuleGraph::read(&shipped_sources(member)?);
    Ok(graph.cycles().first().map_or(1, BTreeSet::len))
}

/// The top-level modules of a crate, and the places where one of them names another.
#[derive(Debug, Default)]
struct ModuleGraph {
    /// The nodes: `x`, or `x::y` in a namespace `x`.
    modules: BTreeSet<String>,
    namespaces: BTreeSet<String>,
    exports: RootExports,
    /// The sites of each edge: file and line.
    edges: BTreeMap<(String, String), Vec<String>>,
}

impl ModuleGraph {
    fn read(sources: &[SourceFile]) -> Self {
        let namespaces = sources.iter().filter_map(namespace_of).collect();
        let mut graph = Self { exports: RootExports::read(sources), namespaces, ..Self::default() };
        for source in sources {
            match &source.module[..] {
                [] => graph.modules.extend(inline_modules(&source.tokens)),
                path => graph.modules.extend(graph.node_of(path)),
            }
        }
        for source in sources {
            graph.walk(source, &source.tokens, &mut source.module.clone());
        }
        graph
    }

    /// Returns the node of the module `path`, or None for the crate root and for namespaces, which have no code.
    fn node_of(&self, path: &[String]) -> Option<String> {
        match path {
            [namespace, rest @ ..] if self.namespaces.contains(namespace) => {
                rest.first().map(|module| format!("{namespace}::{module}"))
            }
            path => path.first().cloned(),
        }
    }

    fn cycles(&self) -> Vec<BTreeSet<&str>> {
        cycles(self.edges.keys().map(|(from, to)| (from.as_str(), to.as_str())))
    }

    /// Adds the edges of `tokens`, which stand in the module `path`.
    fn walk(&mut self, source: &SourceFile, tokens: &TokenStream, path: &mut Vec<String>) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    let inline = inline_module(&tokens[..at], group.delimiter());
                    let depth = path.len();
                    path.extend(inline);
                    self.walk(source, &group.stream(), path);
                    path.truncate(depth);
                }
                TokenTree::Ident(word) if word == "crate" => {
                    self.add_path(source, &tokens[at + 1..], path, None);
                }
                TokenTree::Ident(word) if word == "super" && !is_path_part(&tokens[..at]) => {
                    let (supers, rest) = count_supers(&tokens[at..]);
                    match path.first().filter(|first| self.namespaces.contains(*first)).cloned() {
                        _ if supers == path.len() => self.add_path(source, rest, path, None),
                        Some(namespace) if supers + 1 == path.len() => {
                            self.add_path(source, rest, path, Some(&namespace));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the edges of a path behind its start, which is the crate root or a namespace: `::name...` or
    /// `::{name..., name...}`.
    fn add_path(
        &mut self,
        source: &SourceFile,
        tokens: &[TokenTree],
        path: &[String],
        namespace: Option<&str>,
    ) {
        let [TokenTree::Punct(first), TokenTree::Punct(second), next, ..] = tokens else { return };
        if (first.as_char(), second.as_char()) != (':', ':') {
            return;
        }
        match next {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                inner.split(is_comma).for_each(|names| self.add_name(source, names, path, namespace));
            }
            _ => self.add_name(source, &tokens[2..], path, namespace),
        }
    }

    /// Adds the edge to the module whose name begins `tokens`.
    fn add_name(
        &mut self,
        source: &SourceFile,
        tokens: &[TokenTree],
        path: &[String],
        namespace: Option<&str>,
    ) {
        let ([TokenTree::Ident(word), rest @ ..], Some(from)) = (tokens, self.node_of(path)) else { return };
        let name = word.to_string();
        if namespace.is_none() && self.namespaces.contains(&name) {
            return self.add_path(source, rest, path, Some(&name));
        }
        let target = match namespace {
            Some(namespace) => format!("{namespace}::{name}"),
            None if self.modules.contains(&name) => name,
            None => self.exports.module_of(&name).unwrap_or_default().to_owned(),
        };
        if self.modules.contains(&target) && target != from {
            let site = format!("{}:{}", source.path.display(), word.span().start().line);
            self.edges.entry((from, target)).or_default().push(site);
        }
    }

    fn describe(&self, package: &str, cycle: &BTreeSet<&str>, max_cycle: usize) -> String {
        let names: Vec<&str> = cycle.iter().copied().collect();
        let limit =
            if max_cycle == 1 { "no cycle is allowed".into() } else { format!("at most {max_cycle}") };
        let mut text =
            format!("{package}: {} modules depend on each other, {limit}: {}", names.len(), names.join(", "));
        for ((from, to), sites) in &self.edges {
            if cycle.contains(from.as_str()) && cycle.contains(to.as_str()) {
                let _ = write!(text, "\n    {from} -> {to}: {}", sites.join(" "));
            }
        }
        text
    }
}

/// Returns the name of a top-level module whose file only declares modules.
fn namespace_of(source: &SourceFile) -> Option<String> {
    let [name] = &source.module[..] else { return None };
    let tokens: Vec<TokenTree> = source.tokens.clone().into_iter().collect();
    let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';');
    let items: Vec<&[TokenTree]> = tokens.split(is_end).collect();
    let has_body = |item: &[TokenTree]| {
        item.iter()
            .any(|token| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace))
    };
    // Attributes and visibility may stand before `mod`.
    let is_declaration = |item: &&[TokenTree]| {
        matches!(item, [.., TokenTree::Ident(word), TokenTree::Ident(_)] if word == "mod") && !has_body(item)
    };
    match &items[..] {
        [declarations @ .., []] if !declarations.is_empty() && declarations.iter().all(is_declaration) => {
            Some(name.clone())
        }
        _ => None,
    }
}

/// Returns the name of the module whose body follows `tokens`.
fn inline_module(tokens: &[TokenTree], delimiter: Delimiter) -> Option<String> {
    match tokens {
        [.., TokenTree::Ident(word), TokenTree::Ident(name)]
            if word == "mod" && delimiter == Delimiter::Brace =>
        {
            Some(name.to_string())
        }
        _ => None,
    }
}

fn inline_modules(tokens: &TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let body = |(at, token): (usize, &TokenTree)| match token {
        TokenTree::Group(group) => inline_module(&tokens[..at], group.delimiter()),
        _ => None,
    };
    tokens.iter().enumerate().filter_map(body).collect()
}

/// True if a path has begun before: the second `super` of `super::super` was counted with the first one.
fn is_path_part(before: &[TokenTree]) -> bool {
    matches!(before, [.., TokenTree::Punct(mark)] if mark.as_char() == ':')
        && matches!(before, [.., TokenTree::Ident(word), _, _] if word == "super" || word == "self")
}

fn count_supers(mut tokens: &[TokenTree]) -> (usize, &[TokenTree]) {
    let mut supers = 0;
    while let [TokenTree::Ident(word), rest @ ..] = tokens
        && word == "super"
    {
        supers += 1;
        match rest {
            [TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Ident(next), ..] if next == "super" => {
                tokens = &rest[2..];
            }
            _ => return (supers, rest),
        }
    }
    (supers, tokens)
}

#[cfg(test)]
mod tests;
