//! The SQL functions a plugin may call: pure ones. The same rows give the same answer, today and tomorrow, here and
//! there; so no clock, no randomness, nothing about the connection, the library or the host.
//!
//! Missing although pure, because one call of them cannot be interrupted and its cost is not bounded by the length of a
//! value alone: `trim`, `ltrim`, `rtrim` and `unhex` compare every character with every character of their second
//! argument (two texts of 256 KiB: 166 s, of 64 KiB: 11 s, measured with SQLite 3.40), `json_pretty` repeats its second
//! argument once per level and line, `json_patch` compares every name with every other. `instr` and `replace` are not
//! SQLite's own (`search`).
//!
//! What is left is linear in the length of its arguments, but calls that stand side by side in one statement cannot be
//! interrupted either; so each has a weight, and a statement bears so much.

/// In lower case, sorted.
const ALLOWED: &[&str] = &[
    "->",
    "->>",
    "abs",
    "avg",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "cume_dist",
    "dense_rank",
    "first_value",
    "format",
    "glob",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_each",
    "json_error_position",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_tree",
    "json_type",
    "json_valid",
    "jsonb",
    "jsonb_array",
    "jsonb_extract",
    "jsonb_group_array",
    "jsonb_group_object",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_remove",
    "jsonb_replace",
    "jsonb_set",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "lower",
    "max",
    "min",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "percent_rank",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "sign",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "total",
    "typeof",
    "unicode",
    "unlikely",
    "upper",
];

/// What the functions and the arithmetic in one statement, its views and triggers included, may weigh together: five
/// seconds with the longest values, on a machine like the one where they were measured.
pub(super) const HEAVIEST: u32 = 10_000;

/// What the refusal of a statement says whose functions weigh more.
pub(super) const TOO_HEAVY: &str = "the statement calls too many functions";

/// Of one call, in half milliseconds, rounded up: the most that was measured with SQLite 3.54 and values of 128 KiB. `LIKE`
/// and `GLOB` compare a pattern of 100 bytes at every place (118 ms); functions that take paths look each of up to 63 up
/// from the start (32 ms); any other passes over its arguments once or twice (0.5 ms), arithmetic on digits too.
pub(super) fn weight(name: &str) -> u32 {
    match name.to_ascii_lowercase().as_str() {
        "like" | "glob" => 256,
        "json_extract" | "json_insert" | "json_remove" | "json_replace" | "json_set" => 64,
        "jsonb_extract" | "jsonb_insert" | "jsonb_remove" | "jsonb_replace" | "jsonb_set" => 64,
        _ => 1,
    }
}

/// Whether a plugin may call the function.
pub(super) fn is_allowed(name: &str) -> bool {
    ALLOWED
        .binary_search(&name.to_ascii_lowercase().as_str())
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_on_the_list_exists() {
        let connection = crate::sqlite::open::in_memory().unwrap();
        let known: std::collections::HashSet<String> = connection
            .prepare("SELECT name FROM pragma_function_list")
            .unwrap()
            .query_map((), |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let missing: Vec<_> = ALLOWED
            .iter()
            .filter(|name| !known.contains(**name) && !["json_each", "json_tree"].contains(*name))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_list_is_sorted_so_that_the_search_finds_every_entry() {
        assert!(ALLOWED.is_sorted());
        assert!(is_allowed("COUNT"));
        assert!(!is_allowed("random"));
    }
}
