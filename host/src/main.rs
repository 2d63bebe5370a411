//! The program `wharf`: the command line of the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
