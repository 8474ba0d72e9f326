//! The version, which the build states.

use std::sync::LazyLock;

use oarlock::KNOWN_ENGINES;
use oarlock::engine_api::known_leaves;

/// The version, with the commit if the build knows it.
pub(crate) const VERSION: &str = env!("OARLOCK_VERSION");

/// The text of `--version`: the version, and what this program was built for and with. `-V` prints the version alone.
pub(crate) static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let features = match env!("OARLOCK_FEATURES") {
        "" => "none",
        features => features,
    };
    let (engines, leaves) = (KNOWN_ENGINES.join(", "), known_leaves().join(", "));
    let target = env!("OARLOCK_TARGET");
    format!("{VERSION}\ntarget: {target}\nfeatures: {features}\nengines: {engines}\nleaves: {leaves}")
});
