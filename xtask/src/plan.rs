//! The plan of the workspace: every crate, its layer, and the crates that it may use. ARCHITECTURE.md draws it.

/// A layer of the workspace. An arrow goes down, may skip a layer, and never goes up or sideways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    Contract,
    /// Engines, and the dispatcher and the keys beside them.
    Engine,
    Facade,
    Library,
    /// Services and plugins.
    Service,
    Program,
    /// Never published, and used by other crates for tests only.
    Development,
}

impl Layer {
    /// Returns the number of the layer in the drawing. Development crates stand outside of it.
    pub(crate) fn number(self) -> Option<u8> {
        match self {
            Layer::Contract => Some(0),
            Layer::Engine => Some(1),
            Layer::Facade => Some(2),
            Layer::Library => Some(3),
            Layer::Service => Some(4),
            Layer::Program => Some(5),
            Layer::Development => None,
        }
    }
}

/// The crates that a crate may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedCrates {
    Named(&'static [&'static str]),
    /// Every crate of these layers.
    Layers(&'static [u8]),
    /// Every crate further down, except engines: only the facade names them.
    BelowExceptEngines,
    /// Every crate that is not a development crate.
    Published,
}

/// The row of one crate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CratePlan {
    pub(crate) name: &'static str,
    pub(crate) layer: Layer,
    /// The row within the layer. A few libraries are built on other libraries, so layer 3 has four rows.
    pub(crate) row: u8,
    pub(crate) uses: AllowedCrates,
    /// The file or folder of the crate that may contain `unsafe`, relative to the crate.
    pub(crate) unsafe_address: Option<&'static str>,
    /// The largest number of top-level modules that may depend on each other in a circle; 1 means no cycle.
    pub(crate) max_cycle: usize,
}

impl CratePlan {
    /// Returns the layer and the row, which order all crates except development crates.
    pub(crate) fn level(&self) -> Option<(u8, u8)> {
        self.layer.number().map(|number| (number, self.row))
    }

    /// True if the crate computes shapes, so that only the facade may use it.
    pub(crate) fn is_engine(&self) -> bool {
        ENGINES.contains(&self.name)
    }

    /// True if the crate is a library that must do no I/O.
    pub(crate) fn is_without_io(&self) -> bool {
        self.layer == Layer::Library && !IO_LIBRARIES.contains(&self.name)
    }

    /// True if the plan allows this crate to use `other`.
    pub(crate) fn may_use(&self, other: &CratePlan) -> bool {
        match self.uses {
            AllowedCrates::Named(names) => names.contains(&other.name),
            AllowedCrates::Layers(layers) => {
                other.layer.number().is_some_and(|number| layers.contains(&number))
            }
            AllowedCrates::BelowExceptEngines => {
                other.level().is_some() && other.level() < self.level() && !other.is_engine()
            }
            AllowedCrates::Published => other.layer != Layer::Development,
        }
    }

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

/// Returns the row of a package: `oarlock` and `xtask` have their own names, all others are `oarlock-NAME`.
pub(crate) fn crate_plan(package: &str) -> Option<&'static CratePlan> {
    let name = match package {
        "oarlock" | "xtask" => package,
        _ => package.strip_prefix("oarlock-")?,
    };
    CRATES.iter().find(|plan| plan.name == name)
}

const ENGINES: [&str; 3] = ["scalar", "lanes", "cuda"];
/// The libraries whose purpose is I/O. `milter` speaks a protocol on sockets, as `wire` does. `rustls` does handshakes
/// on streams that the caller has opened.
const IO_LIBRARIES: [&str; 7] = ["ring", "wire", "io", "measure", "milter", "rustls", "terminal"];
/// More than four modules in a circle cannot be read one by one.
const MAX_CYCLE: usize = 4;

const CONTRACT: AllowedCrates = AllowedCrates::Named(&["core"]);
const FACADE: AllowedCrates = AllowedCrates::Named(&["oarlock"]);
const HANDSHAKES: AllowedCrates = AllowedCrates::Named(&["oarlock", "sockets", "wire"]);
const SERVICE: AllowedCrates = AllowedCrates::Layers(&[2, 3]);
const DEVELOPMENT: AllowedCrates = AllowedCrates::Published;

const fn plan(name: &'static str, layer: Layer, uses: AllowedCrates) -> CratePlan {
    CratePlan { name, layer, row: 0, uses, unsafe_address: None, max_cycle: MAX_CYCLE }
}

/// Every crate that exists or is planned.
pub(crate) const CRATES: &[CratePlan] = &[
    plan("core", Layer::Contract, AllowedCrates::Named(&[])).without_cycles(),
    plan("scalar", Layer::Engine, CONTRACT).unsafe_at("src/ffi").without_cycles(),
    plan("lanes", Layer::Engine, CONTRACT).unsafe_at("src/simd").without_cycles(),
    plan("cuda", Layer::Engine, CONTRACT).unsafe_at("src/driver"),
    plan("dispatch", Layer::Engine, CONTRACT).unsafe_at("src/fork.rs"),
    plan("keys", Layer::Engine, CONTRACT).without_cycles(),
    plan("oarlock", Layer::Facade, AllowedCrates::Layers(&[0, 1])),
    plan("dkim", Layer::Library, FACADE).without_cycles(),
    plan("dnssec", Layer::Library, FACADE).without_cycles(),
    plan("capacity", Layer::Library, FACADE),
    plan("records", Layer::Library, FACADE),
    plan("sockets", Layer::Library, FACADE),
    plan("ring", Layer::Library, AllowedCrates::Named(&[])).unsafe_at("src/memory").without_cycles(),
    plan("wire", Layer::Library, AllowedCrates::Named(&["oarlock", "ring", "sockets"])).row(1),
    plan("token", Layer::Library, FACADE),
    plan("cryptoki", Layer::Library, FACADE),
    plan("ffi", Layer::Library, FACADE).unsafe_at("src/boundary.rs"),
    plan("rustls", Layer::Library, HANDSHAKES).row(2).unsafe_at("src/pause.rs").without_cycles(),
    plan("io", Layer::Library, AllowedCrates::Named(&["oarlock", "cryptoki"])).row(1),
    plan("columns", Layer::Library, AllowedCrates::Named(&["oarlock", "records", "wire"]))
        .row(2)
        .without_cycles(),
    plan("milter", Layer::Library, AllowedCrates::Named(&["io", "ffi"])).row(2),
    plan("terminal", Layer::Library, AllowedCrates::Named(&["oarlock", "io"])).row(2).without_cycles(),
    plan("measure", Layer::Library, AllowedCrates::BelowExceptEngines).row(3).unsafe_at("src/peer/libcrypto"),
    plan("server", Layer::Service, SERVICE).without_cycles(),
    plan("mailfilter", Layer::Service, SERVICE),
    plan("proxy", Layer::Service, SERVICE),
    plan("openssl", Layer::Service, AllowedCrates::Named(&["ffi", "wire", "oarlock"]))
        .unsafe_at("src/ffi")
        .without_cycles(),
    plan("pkcs11", Layer::Service, AllowedCrates::Named(&["cryptoki", "ffi", "io", "wire", "oarlock"]))
        .unsafe_at("src/entry")
        .without_cycles(),
    plan(
        "python",
        Layer::Service,
        AllowedCrates::Named(&["columns", "dkim", "ffi", "io", "records", "wire", "oarlock"]),
    )
    .unsafe_at("src/entry")
    .without_cycles(),
    plan("cli", Layer::Program, AllowedCrates::BelowExceptEngines).without_cycles(),
    plan("lab", Layer::Development, DEVELOPMENT),
    plan("xtask", Layer::Development, DEVELOPMENT),
    plan("vectors", Layer::Development, DEVELOPMENT),
    plan("leaks", Layer::Development, DEVELOPMENT),
];
