//! Calls the C ABI with random good and bad arguments: see [`trommel_fuzz::calls`].

fn main() -> anyhow::Result<std::process::ExitCode> {
    trommel_fuzz::calls::main()
}
