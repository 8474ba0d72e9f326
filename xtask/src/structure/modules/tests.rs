use std::fs;

use tempfile::TempDir;

use super::*;

/// Writes a crate with these files below `src`.
fn planted(name: &str, files: &[(&str, &str)]) -> (TempDir, Workspace) {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join("src").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let member = WorkspaceMember {
        name: name.into(),
        folder: folder.path().into(),
        is_published: true,
        ..WorkspaceMember::default()
    };
    let workspace = Workspace { root: folder.path().into(), packages: vec![member] };
    (folder, workspace)
}

/// Returns the edges of a crate, as `from -> to: site`.
fn edges(files: &[(&str, &str)]) -> Vec<String> {
    let (_folder, workspace) = planted("oarlock-records", files);
    let graph = ModuleGraph::read(&shipped_sources(&workspace.packages[0]).unwrap());
    let describe = |((from, to), sites): (&(String, String), &Vec<String>)| {
        format!("{from} -> {to}: {}", sites.join(" "))
    };
    graph.edges.iter().map(describe).collect()
}

#[test]
fn finds_paths_in_imports_and_in_code() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B;\nuse crate::{c::{C, D}, d};\nfn f() { crate::b::g() }"),
        ("b.rs", ""),
        ("c/mod.rs", ""),
        ("d.rs", "fn f(c: &crate::c::C) -> crate::d::D {}"),
    ]);
    assert_eq!(
        found,
        ["a -> b: src/a.rs:1 src/a.rs:3", "a -> c: src/a.rs:2", "a -> d: src/a.rs:2", "d -> c: src/d.rs:1"]
    );
}

#[test]
fn finds_supers_that_leave_the_top_level_module() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod c; mod e { use super::super::b::B; use super::c::C; }\nuse super::b::B;"),
        ("a/c.rs", "use super::d::D;\nuse super::super::b::B;\nuse super::super::{b};"),
        ("b.rs", "use super::*;"),
    ]);
    assert_eq!(found, ["a -> b: src/a/c.rs:2 src/a/c.rs:3 src/a.rs:1 src/a.rs:2"]);
}

#[test]
fn follows_names_that_the_crate_root_exports() {
    let found = edges(&[
        (
            "lib.rs",
            "mod a; mod b; mod c; mod d; mod e;
             pub use b::{B as Renamed, inner::Other}; pub(crate) use self::c::C; pub use d::*; use e::helper;",
        ),
        ("a.rs", "use crate::Renamed;\nuse crate::{C, Other};\nuse crate::D;\nfn f() { crate::helper() }\ncrate::m!();"),
        ("b.rs", ""),
        ("c.rs", ""),
        ("d.rs", "pub struct D;"),
        ("e.rs", "#[macro_export]\nmacro_rules! m { () => {} }"),
    ]);
    assert_eq!(
        found,
        [
            "a -> b: src/a.rs:1 src/a.rs:2",
            "a -> c: src/a.rs:2",
            "a -> d: src/a.rs:3",
            "a -> e: src/a.rs:4 src/a.rs:5",
        ]
    );
}

#[test]
fn the_modules_of_a_namespace_are_nodes() {
    let namespace = "//! The boundary.\n#![allow(unsafe_code)]\nmod above;\npub(crate) mod below;";
    let files = |namespace| {
        edges(&[
            ("lib.rs", "mod a; mod n;"),
            ("a.rs", "use crate::n::below::B;\nuse crate::{n::{below, below::c}};"),
            ("n/mod.rs", namespace),
            ("n/above.rs", "use crate::a::A;\nuse super::below::B;\nuse super::super::a::A;"),
            ("n/below/mod.rs", "mod c;"),
            ("n/below/c.rs", "use super::super::above::A;\nuse super::d;"),
        ])
    };
    assert_eq!(
        files(namespace),
        [
            "a -> n::below: src/a.rs:1 src/a.rs:2 src/a.rs:2",
            "n::above -> a: src/n/above.rs:1 src/n/above.rs:3",
            "n::above -> n::below: src/n/above.rs:2",
            "n::below -> n::above: src/n/below/c.rs:1",
        ]
    );
    // A module file with code is a node itself.
    let with_code = format!("{namespace} fn f() {{}}");
    assert_eq!(
        files(&with_code),
        ["a -> n: src/a.rs:1 src/a.rs:2", "n -> a: src/n/above.rs:1 src/n/above.rs:3"]
    );
}

#[test]
fn tests_comments_and_other_crates_have_no_edges() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod check;"),
        (
            "a.rs",
            "//! Uses [`crate::b::B`].
             use std::crate_like::b; // crate::b
             #[cfg(test)] mod tests { use crate::b::B; }
             #[cfg(test)] use crate::b::B;
             #[cfg(test)] mod slow;",
        ),
        ("a/tests.rs", "use crate::b::B;"),
        ("a/slow.rs", "use crate::b::B;"),
        ("b.rs", ""),
        ("check.rs", "use crate::b::B;"),
    ]);
    assert_eq!(found, [] as [String; 0]);
}

fn ring(len: usize) -> Vec<(String, String)> {
    let root = (0..len).map(|module| format!("mod m{module};")).collect();
    let next = |module: usize| format!("\nuse crate::m{};", (module + 1) % len);
    let modules = (0..len).map(|module| (format!("m{module}.rs"), next(module)));
    [("lib.rs".to_owned(), root)].into_iter().chain(modules).collect()
}

fn faults_of_ring(name: &str, len: usize) -> Vec<String> {
    let files = ring(len);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (_folder, workspace) = planted(name, &files);
    check(&workspace).unwrap().faults
}

#[test]
fn reports_a_cycle_that_is_larger_than_the_plan_allows() {
    assert_eq!(faults_of_ring("oarlock-records", 4), [] as [String; 0]);
    let faults = faults_of_ring("oarlock-records", 5);
    let expected = "oarlock-records: 5 modules depend on each other, at most 4: m0, m1, m2, m3, m4
    m0 -> m1: src/m0.rs:2
    m1 -> m2: src/m1.rs:2
    m2 -> m3: src/m2.rs:2
    m3 -> m4: src/m3.rs:2
    m4 -> m0: src/m4.rs:2";
    assert_eq!(faults, [expected]);
}
