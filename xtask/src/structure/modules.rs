//! The graph of a crate's top-level modules. A node is `src/x.rs` or the folder `src/x`; an edge is a path that starts
//! with `crate::`, or with as many `super::` as leave the top-level module. Code of tests has no edges.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::exports::{RootExports, is_comma};
use super::graph::cycles;
use crate::checks::CheckResult;
use crate::plan::crate_plan;
use crate::source::{SourceFile, shipped_sources};
use crate::workspace::{Workspace, WorkspaceError, WorkspaceMember};

/// The crates whose cycles are larger than the plan allows: the number of modules, which only ever goes down.
const TOLERATED_CYCLES: &[(&str, usize)] = &[
    // Target: four. The state of the dispatcher knows all of its parts, and all parts know the state.
    ("dispatch", 12),
];

/// Checks the cycles of every crate of the workspace.
pub(super) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let mut result = CheckResult::default();
    let (mut modules, mut edges) = (0, 0);
    for member in &workspace.packages {
        let graph = ModuleGraph::read(&shipped_sources(member)?);
        modules += graph.modules.len();
        edges += graph.edges.len();
        let Some(plan) = crate_plan(&member.name) else { continue };
        let tolerated = TOLERATED_CYCLES.iter().find(|(name, _)| *name == plan.name).map(|(_, size)| *size);
        let max_cycle = tolerated.unwrap_or(plan.max_cycle).max(plan.max_cycle);
        let found = graph.cycles();
        let largest = found.first().map_or(1, BTreeSet::len);
        result.faults.extend(
            found
                .iter()
                .filter(|cycle| cycle.len() > max_cycle)
                .map(|cycle| graph.describe(&member.name, cycle, max_cycle)),
        );
        if tolerated.is_some_and(|size| largest < size) {
            result.notes.push(format!(
                "note: {} has cycles of {largest} modules; xtask/src/structure/modules.rs tolerates {max_cycle}: \
                 shrink it (the plan's limit is {})",
                member.name, plan.max_cycle
            ));
        }
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
    modules: BTreeSet<String>,
    exports: RootExports,
    /// The sites of each edge: file and line.
    edges: BTreeMap<(String, String), Vec<String>>,
}

impl ModuleGraph {
    fn read(sources: &[SourceFile]) -> Self {
        let mut graph = Self { exports: RootExports::read(sources), ..Self::default() };
        for source in sources {
            match source.module.first() {
                Some(module) => drop(graph.modules.insert(module.clone())),
                None => graph.modules.extend(inline_modules(&source.tokens)),
            }
        }
        for source in sources {
            graph.walk(source, &source.tokens, &mut source.module.clone());
        }
        graph
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
                TokenTree::Ident(word) if word == "crate" => self.add_path(source, &tokens[at + 1..], path),
                TokenTree::Ident(word) if word == "super" && !is_path_part(&tokens[..at]) => {
                    let (supers, rest) = count_supers(&tokens[at..]);
                    if supers == path.len() {
                        self.add_path(source, rest, path);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the edges of a path whose start, the crate root, is behind us: `::name...` or `::{name..., name...}`.
    fn add_path(&mut self, source: &SourceFile, tokens: &[TokenTree], path: &[String]) {
        let [TokenTree::Punct(first), TokenTree::Punct(second), next, ..] = tokens else { return };
        if (first.as_char(), second.as_char()) != (':', ':') {
            return;
        }
        match next {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                inner
                    .split(is_comma)
                    .filter_map(<[TokenTree]>::first)
                    .for_each(|name| self.add_name(source, name, path));
            }
            name => self.add_name(source, name, path),
        }
    }

    fn add_name(&mut self, source: &SourceFile, token: &TokenTree, path: &[String]) {
        let (TokenTree::Ident(name), Some(from)) = (token, path.first()) else { return };
        let name = name.to_string();
        let target =
            if self.modules.contains(&name) { Some(name.as_str()) } else { self.exports.module_of(&name) };
        let Some(to) = target.filter(|to| self.modules.contains(*to) && to != from) else { return };
        let site = format!("{}:{}", source.path.display(), token.span().start().line);
        self.edges.entry((from.clone(), to.to_owned())).or_default().push(site);
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
