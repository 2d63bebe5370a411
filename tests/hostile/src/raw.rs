//! Exports below the generated bindings.
