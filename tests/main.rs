//! The tests of the whole: the library and the command line, on real components, databases, files and processes.

mod architecture;
