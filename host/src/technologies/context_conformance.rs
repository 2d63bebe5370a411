//! What every Context must do, as checks that any of them can be put through.
