//! The library stays in memory once loaded: wait contexts and threads may outlive the provider.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
