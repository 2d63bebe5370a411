//! The program `wharf`: the edges of the library.

mod mcp;
mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
