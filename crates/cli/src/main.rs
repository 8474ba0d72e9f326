//! x
#[allow(dead_code, unused_imports, reason = "`speed` is not wired in yet")]
mod peer;
#[allow(dead_code, unused_imports, reason = "`speed --plot` is not wired in yet")]
mod plot;
#[allow(dead_code, reason = "`speed` is not wired in yet")]
mod table;

fn main() {}
