//! The program `wharf`: the edges of the library.

mod mcp;
mod cli;

/// A task makes many small allocations on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
