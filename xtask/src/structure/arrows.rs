//! The rules of the layers: the arrows between crates that the plan forbids, and the rule that each of them breaks.

use std::fmt;

use crate::plan::{CratePlan, Layer, crate_plan};
use crate::workspace::{Workspace, WorkspaceMember};

/// An arrow or a crate that the plan forbids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArrowFault {
    /// A crate of the workspace has no row in the plan.
    UnknownCrate(String),
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
    UnknownTarget,
    DevelopmentIsForTests,
    NeverUp,
    ContractUsesNothing,
    EngineUsesContract,
    NeverSideways,
    OnlyFacadeNamesEngines,
    LibraryWithoutIo,
    NotInPlan,
}

impl fmt::Display for LayerRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            LayerRule::UnknownTarget => "the plan has no row for this crate",
            LayerRule::DevelopmentIsForTests => "only a dev-dependency may name a development crate",
            LayerRule::NeverUp => "an arrow never goes up",
            LayerRule::ContractUsesNothing => "the contract depends on no other crate",
            LayerRule::EngineUsesContract => "a crate of layer 1 depends on the contract only",
            LayerRule::NeverSideways => "an arrow never goes sideways",
            LayerRule::OnlyFacadeNamesEngines => "only the facade names engines",
            LayerRule::LibraryWithoutIo => "a library does no I/O",
            LayerRule::NotInPlan => "the row of this crate in xtask/src/plan.rs does not allow it",
        })
    }
}

impl fmt::Display for ArrowFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrowFault::UnknownCrate(name) => write!(out, "{name}: the plan has no row for this crate"),
            ArrowFault::PublishedDevelopment(name) => {
                write!(out, "{name}: a development crate needs `publish = false`")
            }
            ArrowFault::ForbiddenArrow { from, to, rule } => write!(out, "{from} -> {to}: {rule}"),
        }
    }
}

/// Returns everything in `workspace` that breaks the plan, in the order of its packages.
pub(super) fn faults(workspace: &Workspace) -> Vec<ArrowFault> {
    workspace.packages.iter().flat_map(member_faults).collect()
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

fn member_faults(member: &WorkspaceMember) -> Vec<ArrowFault> {
    let Some(from) = crate_plan(&member.name) else {
        return vec![ArrowFault::UnknownCrate(member.name.clone())];
    };
    let mut faults = Vec::new();
    if from.layer == Layer::Development && member.is_published {
        faults.push(ArrowFault::PublishedDevelopment(member.name.clone()));
    }
    for arrow in member.arrows.iter().filter(|arrow| !arrow.is_dev) {
        if let Some(rule) = broken_rule(from, crate_plan(&arrow.to)) {
            faults.push(ArrowFault::ForbiddenArrow { from: member.name.clone(), to: arrow.to.clone(), rule });
        }
    }
    faults
}

/// Returns the most specific rule that an arrow breaks, or None if the plan allows the arrow.
fn broken_rule(from: &CratePlan, to: Option<&CratePlan>) -> Option<LayerRule> {
    let Some(to) = to else { return Some(LayerRule::UnknownTarget) };
    if from.may_use(to) {
        return None;
    }
    let Some(target_level) = to.level() else { return Some(LayerRule::DevelopmentIsForTests) };
    let level = from.level()?;
    Some(match from.layer {
        Layer::Contract => LayerRule::ContractUsesNothing,
        _ if from.is_without_io() && to.name == "io" => LayerRule::LibraryWithoutIo,
        Layer::Engine if target_level == level => LayerRule::EngineUsesContract,
        _ if target_level == level => LayerRule::NeverSideways,
        _ if target_level > level => LayerRule::NeverUp,
        _ if to.is_engine() => LayerRule::OnlyFacadeNamesEngines,
        _ => LayerRule::NotInPlan,
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::plan::{AllowedCrates, CRATES};
    use crate::workspace::CrateArrow;

    fn member(name: &str, arrows: &[(&str, bool)]) -> WorkspaceMember {
        let arrows = arrows.iter().map(|&(to, is_dev)| CrateArrow { to: to.into(), is_dev }).collect();
        WorkspaceMember { name: name.into(), arrows, ..WorkspaceMember::default() }
    }

    fn rule_of(from: &str, to: &str) -> Option<LayerRule> {
        let workspace = Workspace { root: PathBuf::new(), packages: vec![member(from, &[(to, false)])] };
        match faults(&workspace).as_slice() {
            [] => None,
            [ArrowFault::ForbiddenArrow { rule, .. }] => Some(*rule),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_forbidden_arrow_is_found_with_its_rule() {
        let planted = [
            ("oarlock-core", "oarlock-scalar", LayerRule::ContractUsesNothing),
            ("oarlock-core", "xtask", LayerRule::DevelopmentIsForTests),
            ("oarlock-scalar", "oarlock", LayerRule::NeverUp),
            ("oarlock-dispatch", "oarlock-cli", LayerRule::NeverUp),
            ("oarlock", "oarlock-dkim", LayerRule::NeverUp),
            ("oarlock-wire", "oarlock-server", LayerRule::NeverUp),
            ("oarlock-lanes", "oarlock-scalar", LayerRule::EngineUsesContract),
            ("oarlock-dispatch", "oarlock-keys", LayerRule::EngineUsesContract),
            ("oarlock-keys", "oarlock-scalar", LayerRule::EngineUsesContract),
            ("oarlock-dkim", "oarlock-dnssec", LayerRule::NeverSideways),
            ("oarlock-token", "oarlock-wire", LayerRule::NeverUp),
            ("oarlock-server", "oarlock-mailfilter", LayerRule::NeverSideways),
            ("oarlock-mailfilter", "oarlock-openssl", LayerRule::NeverSideways),
            ("oarlock-dkim", "oarlock-io", LayerRule::LibraryWithoutIo),
            ("oarlock-records", "oarlock-io", LayerRule::LibraryWithoutIo),
            ("oarlock-dkim", "oarlock-scalar", LayerRule::OnlyFacadeNamesEngines),
            ("oarlock-server", "oarlock-lanes", LayerRule::OnlyFacadeNamesEngines),
            ("oarlock-openssl", "oarlock-scalar", LayerRule::OnlyFacadeNamesEngines),
            ("oarlock-cli", "oarlock-scalar", LayerRule::OnlyFacadeNamesEngines),
            ("oarlock-dkim", "oarlock-keys", LayerRule::NotInPlan),
            ("oarlock-openssl", "oarlock-dkim", LayerRule::NotInPlan),
            ("oarlock-mailfilter", "oarlock-dispatch", LayerRule::NotInPlan),
            ("oarlock-cli", "oarlock-lab", LayerRule::DevelopmentIsForTests),
            ("oarlock-lab", "oarlock-vectors", LayerRule::DevelopmentIsForTests),
            ("oarlock-wire", "oarlock-rustls", LayerRule::NeverUp),
            ("oarlock-rustls", "oarlock-columns", LayerRule::NeverSideways),
            ("oarlock-sockets", "oarlock-io", LayerRule::LibraryWithoutIo),
            ("oarlock-io", "oarlock-wire", LayerRule::NeverSideways),
            ("oarlock-cryptoki", "oarlock-io", LayerRule::LibraryWithoutIo),
            ("oarlock-records", "oarlock-measure", LayerRule::NeverUp),
            ("oarlock-measure", "oarlock-lanes", LayerRule::OnlyFacadeNamesEngines),
            ("oarlock-measure", "oarlock-server", LayerRule::NeverUp),
            ("oarlock", "left-pad", LayerRule::UnknownTarget),
        ];
        for (from, to, rule) in planted {
            assert_eq!(rule_of(from, to), Some(rule), "{from} -> {to}");
        }
    }

    #[test]
    fn the_arrows_that_the_plan_allows_pass() {
        let granted = [
            ("oarlock-lanes", "oarlock-core"),
            ("oarlock", "oarlock-lanes"),
            ("oarlock", "oarlock-core"),
            ("oarlock-dnssec", "oarlock"),
            ("oarlock-server", "oarlock-wire"),
            ("oarlock-proxy", "oarlock-io"),
            ("oarlock-pkcs11", "oarlock-ffi"),
            ("oarlock-cli", "oarlock-server"),
            ("oarlock-cli", "oarlock-dispatch"),
            ("oarlock-lab", "oarlock-lanes"),
            ("oarlock-cuda", "oarlock-core"),
            ("oarlock-sockets", "oarlock"),
            ("oarlock-rustls", "oarlock-wire"),
            ("oarlock-io", "oarlock-cryptoki"),
            ("oarlock-columns", "oarlock-wire"),
            ("oarlock-measure", "oarlock-dispatch"),
            ("oarlock-measure", "oarlock-dkim"),
            ("oarlock-python", "oarlock-columns"),
            ("oarlock-pkcs11", "oarlock-cryptoki"),
            ("oarlock-cli", "oarlock-measure"),
        ];
        for (from, to) in granted {
            assert_eq!(rule_of(from, to), None, "{from} -> {to}");
        }
    }

    #[test]
    fn no_row_of_the_plan_points_up_sideways_or_at_an_absent_crate() {
        for from in CRATES {
            if let AllowedCrates::Named(names) = from.uses {
                assert!(
                    names.iter().all(|name| CRATES.iter().any(|plan| plan.name == *name)),
                    "{}",
                    from.name
                );
            }
            for to in CRATES.iter().filter(|to| from.may_use(to)) {
                assert!(
                    from.layer == Layer::Development || to.level() < from.level(),
                    "{} {}",
                    from.name,
                    to.name
                );
            }
        }
    }

    #[test]
    fn only_libraries_for_io_may_do_io() {
        let with_io = |plan: &&CratePlan| plan.layer == Layer::Library && !plan.is_without_io();
        let names: Vec<&str> = CRATES.iter().filter(with_io).map(|plan| plan.name).collect();
        assert_eq!(names, ["ring", "wire", "rustls", "io", "milter", "terminal", "measure"]);
    }

    #[test]
    fn dev_dependencies_are_exempt() {
        let packages = vec![member("oarlock-core", &[("oarlock-vectors", true), ("oarlock-scalar", true)])];
        assert_eq!(faults(&Workspace { root: PathBuf::new(), packages }), []);
    }

    #[test]
    fn unknown_crates_and_published_development_crates_are_found() {
        let mut bench = member("oarlock-lab", &[]);
        bench.is_published = true;
        let packages = vec![member("oarlock-stranger", &[]), member("core", &[]), bench];
        let expected = [
            ArrowFault::UnknownCrate("oarlock-stranger".into()),
            ArrowFault::UnknownCrate("core".into()),
            ArrowFault::PublishedDevelopment("oarlock-lab".into()),
        ];
        assert_eq!(faults(&Workspace { root: PathBuf::new(), packages }), expected);
    }
}
