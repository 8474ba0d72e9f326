//! The plan of the workspace: its layers, which the folders show, and what differs from crate to crate. ARCHITECTURE.md
//! draws it.

use std::path::Path;

/// A layer of the workspace. An arrow goes down, may skip a layer, and never goes up or sideways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    Core,
    /// Engines, and the dispatcher and the keys beside them.
    Engine,
    Facade,
    /// One protocol or format each, without I/O.
    Format,
    Io,
    Service,
    /// Programs, and plugins of other programs.
    Program,
    /// Never published, and used by other crates for tests only.
    Development,
}

impl Layer {
    /// Returns the layer of a crate in a folder of the workspace. None if no layer has this folder.
    pub(crate) fn of_folder(folder: &Path) -> Option<Self> {
        let mut names = folder.iter().filter_map(|name| name.to_str());
        Some(match (names.next()?, names.next(), names.next(), names.next()) {
            ("crates", Some(layer), Some(_), None) => match layer {
                "core" => Self::Core,
                "engine" => Self::Engine,
                "facade" => Self::Facade,
                "format" => Self::Format,
                "io" => Self::Io,
                "service" => Self::Service,
                "program" => Self::Program,
                _ => return None,
            },
            ("plugins", Some(_), None, None) => Self::Program,
            ("lab", Some(_), None, None) | ("xtask", None, None, None) => Self::Development,
            _ => return None,
        })
    }
}

/// The rights of a crate that others lack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CratePlan {
    name: &'static str,
    /// The row within the layer: a crate may use crates of lower rows.
    pub(crate) row: u8,
    /// The file or folder of the crate that may contain `unsafe`, relative to the crate.
    pub(crate) unsafe_address: Option<&'static str>,
    /// The largest number of top-level modules that may depend on each other in a circle; 1 means no cycle.
    pub(crate) max_cycle: usize,
}

impl CratePlan {
    const fn row(self, row: u8) -> Self {
        Self { row, ..self }
    }

    const fn unsafe_at(self, address: &'static str) -> Self {
        Self { unsafe_address: Some(address), ..self }
    }

    const fn without_cycles(self) -> Self {
        Self { max_cycle: 1, ..self }
    }
}

/// Returns the plan of a package. `oarlock` and `xtask` have their own names, all others are `oarlock-NAME`.
pub(crate) fn crate_plan(package: &str) -> CratePlan {
    let name = package.strip_prefix("oarlock-").unwrap_or(package);
    CRATES.iter().find(|plan| plan.name == name).copied().unwrap_or(plan(""))
}

/// More than four modules in a circle cannot be read one by one.
const MAX_CYCLE: usize = 4;

const fn plan(name: &'static str) -> CratePlan {
    CratePlan { name, row: 0, unsafe_address: None, max_cycle: MAX_CYCLE }
}

const CRATES: &[CratePlan] = &[
    plan("core").without_cycles(),
    plan("engine-kit").unsafe_at("src/ffi").without_cycles(),
    plan("scalar").row(1).unsafe_at("src/ffi").without_cycles(),
    plan("lanes").row(1).unsafe_at("src/simd").without_cycles(),
    plan("dispatch").unsafe_at("src/fork.rs"),
    plan("keys").row(1).without_cycles(),
    plan("oarlock").without_cycles(),
    plan("keytable").row(1).without_cycles(),
    plan("dkim").without_cycles(),
    plan("dnssec").without_cycles(),
    plan("columns").row(1).without_cycles(),
    plan("ffi").unsafe_at("src/boundary.rs"),
    plan("shared-memory").unsafe_at("src/memory").without_cycles(),
    plan("key-files").row(1),
    plan("mail-files").row(1),
    plan("wire").row(2),
    plan("hsm").row(3).without_cycles(),
    plan("milter").row(3),
    plan("rustls").row(3).unsafe_at("src/pause.rs").without_cycles(),
    plan("server").row(1).without_cycles(),
    plan("mailfilter").row(1),
    plan("proxy").row(1),
    plan("terminal").without_cycles(),
    plan("measure").row(1).unsafe_at("src/peer/libcrypto"),
    plan("cli").row(2).without_cycles(),
    plan("openssl").unsafe_at("src/ffi").without_cycles(),
    plan("pkcs11").unsafe_at("src/entry").without_cycles(),
    plan("python").unsafe_at("src/entry").without_cycles(),
];

/// The libraries for programs of others, as docs/guides/library.md lists them. Other crates are published because these
/// or the program depend on them.
pub(crate) const LIBRARIES: [&str; 8] = [
    "oarlock",
    "oarlock-dkim",
    "oarlock-dnssec",
    "oarlock-keytable",
    "oarlock-records",
    "oarlock-rustls",
    "oarlock-sockets",
    "oarlock-wire",
];

/// The package that `cargo install` makes the program of.
pub(crate) const PROGRAM: &str = "oarlock-cli";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_tells_the_layer() {
        for (folder, layer) in [
            ("crates/core/core", Some(Layer::Core)),
            ("crates/io/wire", Some(Layer::Io)),
            ("plugins/python", Some(Layer::Program)),
            ("lab/leaks", Some(Layer::Development)),
            ("xtask", Some(Layer::Development)),
            ("crates/core", None),
            ("crates/other/wire", None),
            ("crates/io/wire/inner", None),
            ("plugins", None),
            ("", None),
        ] {
            assert_eq!(Layer::of_folder(Path::new(folder)), layer, "{folder}");
        }
    }
}
