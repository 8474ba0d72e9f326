//! The plan of the house: every room, its floor, and where its arrows may point. ARCHITECTURE.md draws it.

/// What kind of room a crate is; the laws differ by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ground,
    Engine,
    /// Floor 1 without computing: the dispatcher and the keys.
    Service,
    Hall,
    /// A trade is sans I/O.
    Trade,
    /// Floor 3 that may touch the outside: wire, token, io.
    Link,
    /// How Rust speaks C.
    Border,
    Door,
    Plugin,
    Front,
    /// Never published, never depended on except by tests.
    Garden,
}

impl Kind {
    /// The floor in the drawing; the garden lies outside the house.
    pub(crate) fn floor(self) -> Option<u8> {
        match self {
            Kind::Ground => Some(0),
            Kind::Engine | Kind::Service => Some(1),
            Kind::Hall => Some(2),
            Kind::Trade | Kind::Link | Kind::Border => Some(3),
            Kind::Door | Kind::Plugin => Some(4),
            Kind::Front => Some(5),
            Kind::Garden => None,
        }
    }
}

/// Where the arrows of a room may point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Rooms(&'static [&'static str]),
    /// Every room of these floors.
    Floors(&'static [u8]),
    /// Every room of the house except engines, which only the hall names.
    BelowButEngines,
    /// Every room of the house: benches and tools look everywhere.
    House,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) reach: Reach,
    /// The one file or folder of the crate where `unsafe` may stand, relative to the crate.
    pub(crate) unsafe_address: Option<&'static str>,
}

impl Room {
    /// True where the plan draws or allows an arrow from this room to `to`.
    pub(crate) fn may_point_at(&self, to: &Room) -> bool {
        match self.reach {
            Reach::Rooms(names) => names.contains(&to.name),
            Reach::Floors(floors) => to.kind.floor().is_some_and(|floor| floors.contains(&floor)),
            Reach::BelowButEngines => {
                to.kind.floor() < self.kind.floor() && to.kind.floor().is_some() && to.kind != Kind::Engine
            }
            Reach::House => to.kind != Kind::Garden,
        }
    }
}

/// The room of a package, by its name: `oarlock` is the hall, `xtask` the tool shed, others are `oarlock-ROOM`.
pub(crate) fn room(package: &str) -> Option<&'static Room> {
    let name = match package {
        "oarlock" | "xtask" => package,
        _ => package.strip_prefix("oarlock-")?,
    };
    ROOMS.iter().find(|room| room.name == name)
}

const CORE: Reach = Reach::Rooms(&["core"]);
const HALL: Reach = Reach::Rooms(&["oarlock"]);
const PLUGIN: Reach = Reach::Rooms(&["ffi", "wire", "oarlock"]);
const DOOR: Reach = Reach::Floors(&[2, 3]);

const fn room_of(name: &'static str, kind: Kind, reach: Reach) -> Room {
    Room { name, kind, reach, unsafe_address: None }
}

impl Room {
    const fn unsafe_at(self, address: &'static str) -> Self {
        Self { unsafe_address: Some(address), ..self }
    }
}

pub(crate) const ROOMS: &[Room] = &[
    room_of("core", Kind::Ground, Reach::Rooms(&[])),
    room_of("scalar", Kind::Engine, CORE).unsafe_at("src/ffi"),
    room_of("lanes", Kind::Engine, CORE).unsafe_at("src/simd"),
    room_of("cuda", Kind::Engine, CORE).unsafe_at("src/driver.rs"),
    room_of("dispatch", Kind::Service, CORE).unsafe_at("src/fork.rs"),
    room_of("keys", Kind::Service, CORE),
    room_of("oarlock", Kind::Hall, Reach::Floors(&[0, 1])),
    room_of("dkim", Kind::Trade, HALL),
    room_of("dnssec", Kind::Trade, HALL),
    room_of("records", Kind::Trade, HALL),
    room_of("sockets", Kind::Trade, HALL),
    room_of("wire", Kind::Link, HALL),
    room_of("token", Kind::Link, HALL),
    room_of("io", Kind::Link, HALL),
    room_of("measure", Kind::Link, Reach::Floors(&[0, 2, 3])).unsafe_at("src/peer/libcrypto.rs"),
    room_of("ffi", Kind::Border, HALL).unsafe_at("src/boundary.rs"),
    room_of("server", Kind::Door, DOOR),
    room_of("milter", Kind::Door, DOOR),
    room_of("resolver", Kind::Door, DOOR),
    room_of("proxy", Kind::Door, DOOR),
    room_of("openssl", Kind::Plugin, PLUGIN).unsafe_at("src/entry"),
    room_of("pkcs11", Kind::Plugin, PLUGIN).unsafe_at("src/entry.rs"),
    room_of("python", Kind::Plugin, PLUGIN).unsafe_at("src/entry.rs"),
    room_of("cli", Kind::Front, Reach::BelowButEngines),
    room_of("bench", Kind::Garden, Reach::House),
    room_of("xtask", Kind::Garden, Reach::House),
    room_of("vectors", Kind::Garden, Reach::House),
    room_of("leaks", Kind::Garden, Reach::House),
];
