//! How the shared library is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A thread that has been in the library ends with destructors of Rust's standard library, which are in the library
    // too. So it stays where it is when an engine unloads it, as C++'s runtime does.
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if ["linux", "android", "freebsd"].contains(&os.as_str()) {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
