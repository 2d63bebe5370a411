//! Attempts nothing. The plugin that must still work after each attack, and the one that the `.wat` modules are put into.

hostile::export!(hostile::Honest);
