//! x
#[allow(dead_code, unused_imports, reason = "`speed` is not wired in yet")]
mod peer;

fn main() {}
