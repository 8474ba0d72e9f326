//! Times kernels: `cargo bench -p oarlock-lanes --features measure -- NAME` runs those whose names contain NAME.

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).unwrap_or_default();
    oarlock_lanes::measure::run(&filter);
}
