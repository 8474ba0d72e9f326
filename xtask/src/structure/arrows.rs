//! The rules of the layers: the arrows between crates that break them, and the rule that each of them breaks.

use std::fmt;

use crate::plan::{Layer, crate_plan};
use crate::workspace::{Workspace, WorkspaceMember};

/// An arrow or a crate that breaks the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArrowFault {
    /// A crate is in a folder that no layer has.
    NoLayer(String),
    /// A development crate that could be published.
    PublishedDevelopment(String),
    ForbiddenArrow {
        from: String,
        to: String,
        rule: LayerRule,
    },
}

/// A rule of the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerRule {
    NotInWorkspace,
    DevelopmentIsForTests,
    NeverUp,
    NeverSideways,
    OnlyFacadeNamesEngines,
}

impl fmt::Display for LayerRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            LayerRule::NotInWorkspace => "the workspace has no such crate",
            LayerRule::DevelopmentIsForTests => "only a dev-dependency may name a development crate",
            LayerRule::NeverUp => "an arrow never goes up",
            LayerRule::NeverSideways => {
                "an arrow never goes sideways: the target needs a lower row in xtask/src/plan.rs"
            }
            LayerRule::OnlyFacadeNamesEngines => "only the facade names what is below it",
        })
    }
}

impl fmt::Display for ArrowFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrowFault::NoLayer(name) => write!(out, "{name}: no layer has the folder of this crate"),
            ArrowFault::PublishedDevelopment(name) => {
                write!(out, "{name}: a development crate needs `publish = false`")
            }
            ArrowFault::ForbiddenArrow { from, to, rule } => write!(out, "{from} -> {to}: {rule}"),
        }
    }
}

/// Returns everything in `workspace` that breaks the rules, in the order of its packages.
pub(super) fn faults(workspace: &Workspace) -> Vec<ArrowFault> {
    workspace.packages.iter().flat_map(|member| member_faults(workspace, member)).collect()
}

/// Counts the crates and the arrows that were checked.
pub(super) fn summary(workspace: &Workspace) -> String {
    let arrows: usize = workspace
        .packages
        .iter()
        .map(|member| member.arrows.iter().filter(|arrow| !arrow.is_dev).count())
        .sum();
    format!("{} crates, {arrows} arrows", workspace.packages.len())
}

fn layer(workspace: &Workspace, member: &WorkspaceMember) -> Option<Layer> {
    Layer::of_folder(member.folder.strip_prefix(&workspace.root).ok()?)
}

fn member_faults(workspace: &Workspace, member: &WorkspaceMember) -> Vec<ArrowFault> {
    let Some(from) = layer(workspace, member) else {
        return vec![ArrowFault::NoLayer(member.name.clone())];
    };
    let mut faults = Vec::new();
    if from == Layer::Development && member.is_published {
        faults.push(ArrowFault::PublishedDevelopment(member.name.clone()));
    }
    for arrow in member.arrows.iter().filter(|arrow| !arrow.is_dev) {
        let target = workspace.packages.iter().find(|other| other.name == arrow.to);
        let to = target.and_then(|target| Some((layer(workspace, target)?, crate_plan(&target.name).row)));
        if let Some(rule) = broken_rule((from, crate_plan(&member.name).row), to) {
            faults.push(ArrowFault::ForbiddenArrow { from: member.name.clone(), to: arrow.to.clone(), rule });
        }
    }
    faults
}

/// Returns the rule that an arrow between two layers and rows breaks, or None if it may be there.
fn broken_rule(from: (Layer, u8), to: Option<(Layer, u8)>) -> Option<LayerRule> {
    let Some(to) = to else { return Some(LayerRule::NotInWorkspace) };
    match (from.0, to.0) {
        (Layer::Development, target) if target != Layer::Development => None,
        (_, Layer::Development) => Some(LayerRule::DevelopmentIsForTests),
        (layer, target) if target > layer => Some(LayerRule::NeverUp),
        _ if to >= from => Some(LayerRule::NeverSideways),
        (layer, target) if layer > Layer::Facade && target < Layer::Facade => {
            Some(LayerRule::OnlyFacadeNamesEngines)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::workspace::CrateArrow;

    fn member(folder: &str, arrows: &[(&str, bool)]) -> WorkspaceMember {
        let name = |folder: &str| match folder.rsplit('/').next() {
            Some(name @ ("oarlock" | "xtask")) => name.to_owned(),
            name => format!("oarlock-{}", name.unwrap_or_default()),
        };
        let arrows = arrows.iter().map(|&(to, is_dev)| CrateArrow { to: name(to), is_dev }).collect();
        let folder = Path::new("/workspace").join(folder);
        WorkspaceMember {
            name: name(&folder.to_string_lossy()),
            folder,
            arrows,
            ..WorkspaceMember::default()
        }
    }

    fn workspace(packages: Vec<WorkspaceMember>) -> Workspace {
        Workspace { root: "/workspace".into(), packages }
    }

    fn rule_of(from: &str, to: &str) -> Option<LayerRule> {
        let workspace = workspace(vec![member(from, &[(to, false)]), member(to, &[])]);
        match faults(&workspace).as_slice() {
            [] => None,
            [ArrowFault::ForbiddenArrow { rule, .. }] => Some(*rule),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_forbidden_arrow_is_found_with_its_rule() {
        for (from, to, rule) in [
            ("crates/core/core", "crates/engine/scalar", LayerRule::NeverUp),
            ("crates/core/core", "xtask", LayerRule::DevelopmentIsForTests),
            ("crates/engine/scalar", "crates/facade/oarlock", LayerRule::NeverUp),
            ("crates/io/wire", "crates/service/server", LayerRule::NeverUp),
            ("crates/format/dkim", "crates/io/files", LayerRule::NeverUp),
            ("crates/service/server", "plugins/openssl", LayerRule::NeverUp),
            ("crates/engine/lanes", "crates/engine/scalar", LayerRule::NeverSideways),
            ("crates/format/dkim", "crates/format/dnssec", LayerRule::NeverSideways),
            ("crates/service/server", "crates/service/mailfilter", LayerRule::NeverSideways),
            ("crates/io/key-files", "crates/io/mail-files", LayerRule::NeverSideways),
            ("crates/io/wire", "crates/io/rustls", LayerRule::NeverSideways),
            ("plugins/openssl", "plugins/python", LayerRule::NeverSideways),
            ("crates/format/dkim", "crates/engine/scalar", LayerRule::OnlyFacadeNamesEngines),
            ("crates/io/wire", "crates/core/core", LayerRule::OnlyFacadeNamesEngines),
            ("crates/program/cli", "crates/engine/dispatch", LayerRule::OnlyFacadeNamesEngines),
            ("crates/program/cli", "lab/lab", LayerRule::DevelopmentIsForTests),
            ("lab/lab", "lab/vectors", LayerRule::DevelopmentIsForTests),
        ] {
            assert_eq!(rule_of(from, to), Some(rule), "{from} -> {to}");
        }
    }

    #[test]
    fn arrows_that_go_down_pass() {
        for (from, to) in [
            ("crates/engine/lanes", "crates/core/core"),
            ("crates/facade/oarlock", "crates/engine/lanes"),
            ("crates/facade/oarlock", "crates/core/core"),
            ("crates/format/dnssec", "crates/facade/oarlock"),
            ("crates/io/key-files", "crates/format/cryptoki"),
            ("crates/io/wire", "crates/io/shared-memory"),
            ("crates/service/server", "crates/format/records"),
            ("crates/program/cli", "crates/program/terminal"),
            ("plugins/pkcs11", "crates/io/ffi"),
            ("lab/lab", "crates/engine/lanes"),
            ("lab/lab", "crates/service/server"),
        ] {
            assert_eq!(rule_of(from, to), None, "{from} -> {to}");
        }
    }

    #[test]
    fn dev_dependencies_are_exempt() {
        let tests = [("lab/vectors", true), ("crates/engine/scalar", true)];
        assert_eq!(faults(&workspace(vec![member("crates/core/core", &tests)])), []);
    }

    #[test]
    fn crates_outside_of_the_layers_and_published_development_crates_are_found() {
        let mut bench = member("lab/lab", &[]);
        bench.is_published = true;
        let lost = member("crates/io/wire", &[("crates/io/shared-memory", false)]);
        let expected = [
            ArrowFault::NoLayer("oarlock-stranger".into()),
            ArrowFault::PublishedDevelopment("oarlock-lab".into()),
            ArrowFault::ForbiddenArrow {
                from: "oarlock-wire".into(),
                to: "oarlock-shared-memory".into(),
                rule: LayerRule::NotInWorkspace,
            },
        ];
        assert_eq!(faults(&workspace(vec![member("crates/stranger", &[]), bench, lost])), expected);
    }
}
