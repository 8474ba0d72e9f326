//! The floor laws: which arrows the house forbids, and why.

use std::fmt;

use crate::plan::{Kind, Room, room};
use crate::workspace::{Member, Workspace};

/// An arrow or a crate that the plan forbids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A crate of the workspace has no room in the plan.
    UnknownCrate(String),
    /// A garden crate that could be published.
    PublishedGarden(String),
    ForbiddenArrow {
        from: String,
        to: String,
        law: Law,
    },
}

/// The law that an arrow breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    UnknownTarget,
    Garden,
    Up,
    GroundKnowsNothing,
    OnlyGround,
    Sideways,
    OnlyHallNamesEngines,
    TradeWithoutIo,
    NotInTable,
}

impl fmt::Display for Law {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Law::UnknownTarget => "the plan knows no such room",
            Law::Garden => "the garden is for tests: only a dev-dependency may point there",
            Law::Up => "an arrow never goes up",
            Law::GroundKnowsNothing => "ground knows nothing",
            Law::OnlyGround => "a room on floor 1 knows only the ground, never its neighbour",
            Law::Sideways => "an arrow never goes sideways",
            Law::OnlyHallNamesEngines => "only the hall names engines",
            Law::TradeWithoutIo => "a trade does no I/O",
            Law::NotInTable => "the table of rooms does not grant it",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::UnknownCrate(name) => write!(out, "{name}: the plan knows no such room"),
            Fault::PublishedGarden(name) => write!(out, "{name}: a garden crate says `publish = false`"),
            Fault::ForbiddenArrow { from, to, law } => write!(out, "{from} -> {to}: {law}"),
        }
    }
}

/// Everything in `workspace` that breaks the plan, in the order of its packages.
pub(crate) fn faults(workspace: &Workspace) -> Vec<Fault> {
    workspace.packages.iter().flat_map(member_faults).collect()
}

/// One line on what was looked at.
pub(crate) fn summary(workspace: &Workspace) -> String {
    let arrows: usize = workspace
        .packages
        .iter()
        .map(|member| member.arrows.iter().filter(|arrow| !arrow.is_dev).count())
        .sum();
    format!("{} crates, {arrows} arrows", workspace.packages.len())
}

fn member_faults(member: &Member) -> Vec<Fault> {
    let Some(from) = room(&member.name) else {
        return vec![Fault::UnknownCrate(member.name.clone())];
    };
    let mut faults = Vec::new();
    if from.kind == Kind::Garden && member.is_published {
        faults.push(Fault::PublishedGarden(member.name.clone()));
    }
    for arrow in member.arrows.iter().filter(|arrow| !arrow.is_dev) {
        if let Some(law) = broken_law(from, room(&arrow.to)) {
            faults.push(Fault::ForbiddenArrow { from: member.name.clone(), to: arrow.to.clone(), law });
        }
    }
    faults
}

/// The most telling law that an arrow breaks, or None where the plan allows it.
fn broken_law(from: &Room, to: Option<&Room>) -> Option<Law> {
    let Some(to) = to else { return Some(Law::UnknownTarget) };
    if from.may_point_at(to) {
        return None;
    }
    let Some(target_floor) = to.kind.floor() else { return Some(Law::Garden) };
    let floor = from.kind.floor()?;
    Some(match (from.kind, to.kind) {
        (Kind::Ground, _) => Law::GroundKnowsNothing,
        (Kind::Trade, Kind::Link) if to.name == "io" => Law::TradeWithoutIo,
        (Kind::Engine | Kind::Service, _) if target_floor == floor => Law::OnlyGround,
        _ if target_floor > floor => Law::Up,
        _ if target_floor == floor => Law::Sideways,
        (_, Kind::Engine) => Law::OnlyHallNamesEngines,
        _ => Law::NotInTable,
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::plan::{ROOMS, Reach};
    use crate::workspace::Arrow;

    fn member(name: &str, arrows: &[(&str, bool)]) -> Member {
        let arrows = arrows.iter().map(|&(to, is_dev)| Arrow { to: to.into(), is_dev }).collect();
        Member { name: name.into(), folder: PathBuf::new(), is_published: false, arrows }
    }

    fn law_of(from: &str, to: &str) -> Option<Law> {
        let workspace = Workspace { root: PathBuf::new(), packages: vec![member(from, &[(to, false)])] };
        match faults(&workspace).as_slice() {
            [] => None,
            [Fault::ForbiddenArrow { law, .. }] => Some(*law),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_planted_arrow_is_found_and_named() {
        let planted = [
            ("oarlock-core", "oarlock-scalar", Law::GroundKnowsNothing),
            ("oarlock-core", "xtask", Law::Garden),
            ("oarlock-scalar", "oarlock", Law::Up),
            ("oarlock-dispatch", "oarlock-cli", Law::Up),
            ("oarlock", "oarlock-dkim", Law::Up),
            ("oarlock-wire", "oarlock-server", Law::Up),
            ("oarlock-lanes", "oarlock-scalar", Law::OnlyGround),
            ("oarlock-dispatch", "oarlock-keys", Law::OnlyGround),
            ("oarlock-keys", "oarlock-scalar", Law::OnlyGround),
            ("oarlock-dkim", "oarlock-dnssec", Law::Sideways),
            ("oarlock-token", "oarlock-wire", Law::Sideways),
            ("oarlock-server", "oarlock-mailfilter", Law::Sideways),
            ("oarlock-mailfilter", "oarlock-openssl", Law::Sideways),
            ("oarlock-dkim", "oarlock-io", Law::TradeWithoutIo),
            ("oarlock-records", "oarlock-io", Law::TradeWithoutIo),
            ("oarlock-dkim", "oarlock-scalar", Law::OnlyHallNamesEngines),
            ("oarlock-server", "oarlock-lanes", Law::OnlyHallNamesEngines),
            ("oarlock-openssl", "oarlock-scalar", Law::OnlyHallNamesEngines),
            ("oarlock-cli", "oarlock-scalar", Law::OnlyHallNamesEngines),
            ("oarlock-dkim", "oarlock-keys", Law::NotInTable),
            ("oarlock-openssl", "oarlock-dkim", Law::NotInTable),
            ("oarlock-mailfilter", "oarlock-dispatch", Law::NotInTable),
            ("oarlock-cli", "oarlock-bench", Law::Garden),
            ("oarlock-bench", "oarlock-vectors", Law::Garden),
            ("oarlock", "left-pad", Law::UnknownTarget),
        ];
        for (from, to, law) in planted {
            assert_eq!(law_of(from, to), Some(law), "{from} -> {to}");
        }
    }

    #[test]
    fn the_arrows_of_the_table_pass() {
        let granted = [
            ("oarlock-lanes", "oarlock-core"),
            ("oarlock", "oarlock-lanes"),
            ("oarlock", "oarlock-core"),
            ("oarlock-dnssec", "oarlock"),
            ("oarlock-server", "oarlock-wire"),
            ("oarlock-resolver", "oarlock-io"),
            ("oarlock-pkcs11", "oarlock-ffi"),
            ("oarlock-cli", "oarlock-server"),
            ("oarlock-cli", "oarlock-dispatch"),
            ("oarlock-bench", "oarlock-lanes"),
        ];
        for (from, to) in granted {
            assert_eq!(law_of(from, to), None, "{from} -> {to}");
        }
    }

    #[test]
    fn no_entry_of_the_table_points_up_sideways_or_at_an_absent_room() {
        for from in ROOMS {
            if let Reach::Rooms(names) = from.reach {
                assert!(
                    names.iter().all(|name| ROOMS.iter().any(|room| room.name == *name)),
                    "{}",
                    from.name
                );
            }
            for to in ROOMS.iter().filter(|to| from.may_point_at(to)) {
                assert!(
                    from.kind == Kind::Garden || from.name == "milter" || to.kind.floor() < from.kind.floor(),
                    "{} {}",
                    from.name,
                    to.name
                );
            }
        }
    }

    #[test]
    fn dev_dependencies_are_exempt() {
        let packages = vec![member("oarlock-core", &[("oarlock-vectors", true), ("oarlock-scalar", true)])];
        assert_eq!(faults(&Workspace { root: PathBuf::new(), packages }), []);
    }

    #[test]
    fn strangers_and_published_garden_crates_are_found() {
        let mut bench = member("oarlock-bench", &[]);
        bench.is_published = true;
        let packages = vec![member("oarlock-attic", &[]), member("core", &[]), bench];
        let expected = [
            Fault::UnknownCrate("oarlock-attic".into()),
            Fault::UnknownCrate("core".into()),
            Fault::PublishedGarden("oarlock-bench".into()),
        ];
        assert_eq!(faults(&Workspace { root: PathBuf::new(), packages }), expected);
    }
}
