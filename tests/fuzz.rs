//! The fuzz targets without a fuzzer: what is kept of their corpus, and mutations of it.

use std::{fs, path::PathBuf};

use proptest::{prelude::*, sample::Index};
use wharf::{business, core, sqlite, words};
use wharf_tests::root;

#[expect(
    unreachable_pub,
    reason = "the fuzzer's programs reach them from another crate"
)]
#[path = "../fuzz/src/targets.rs"]
mod targets;

#[expect(
    unreachable_pub,
    reason = "the fuzzer's program reaches it from another crate"
)]
#[path = "../fuzz/src/sql/mod.rs"]
mod sql;

use self::sql::Tally;

/// What must hold of any bytes.
type Target = fn(&[u8]);

/// The folder of each target's corpus, and the target.
const TARGETS: [(&str, Target); 4] = [
    ("plan", targets::plan),
    ("journal", targets::journal),
    ("request", targets::request),
    ("sql", |data| {
        sql::sql(data);
    }),
];

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = root().join("fuzz/corpus").join(target);
    let entries = fs::read_dir(folder).unwrap();
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    entries.map(|entry| read(entry.unwrap().path())).collect()
}

#[test]
fn what_is_kept_of_the_corpus_holds() {
    for (name, target) in TARGETS {
        let kept = corpus(name);
        assert!(kept.len() > 2, "{name}");
        for (path, bytes) in kept {
            // The failure names the input.
            println!("{}", path.display());
            target(&bytes);
        }
    }
}

#[test]
fn there_is_a_corpus_and_a_program_of_the_fuzzer_for_each_target() {
    let mut names = TARGETS.map(|(name, _)| name.to_owned());
    names.sort();
    for (folder, end) in [("fuzz/corpus", ""), ("fuzz/fuzz_targets", ".rs")] {
        let mut found: Vec<_> = fs::read_dir(root().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_suffix(end).unwrap().to_owned())
            .collect();
        found.sort();
        assert_eq!(found, names, "{folder}");
    }
}

/// Statements by chance, for a while: `WHARF_SQL_SECONDS` and `WHARF_SQL_SEED` for more of them, or for one that failed.
#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a longer run is asked for by the environment, and ends by the clock"
)]
fn whatever_is_drawn_from_the_grammar_stays_confined() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let seconds = number("WHARF_SQL_SECONDS").unwrap_or(8);
    let first = number("WHARF_SQL_SEED").unwrap_or(1);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let mut all = Tally::default();
    for seed in first.. {
        // The failure names the input.
        println!("WHARF_SQL_SEED={seed}");
        let Tally {
            run,
            denied,
            limited,
            lost,
            constraint,
            failed,
            migrated,
        } = sql::sql(&drawn(seed));
        all.run += run;
        all.denied += denied;
        all.limited += limited;
        all.lost += lost;
        all.constraint += constraint;
        all.failed += failed;
        all.migrated += migrated;
        if std::time::Instant::now() > end {
            break;
        }
    }
    println!("{all:?}");
    // Chance alone must not decide whether anything was tried.
    if first == 1 {
        for count in [
            all.run,
            all.denied,
            all.limited,
            all.lost,
            all.constraint,
            all.failed,
            all.migrated,
        ] {
            assert!(count > 0, "{all:?}");
        }
    }
}

/// Bytes that a seed stands for, by SplitMix64.
fn drawn(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0xd134_2543_de82_ef95);
    let words = 8 + seed % 64;
    (0..words)
        .flat_map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)).to_le_bytes()
        })
        .collect()
}

/// One change of some bytes, wherever it is.
#[derive(Debug, Clone)]
enum Mutation {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, Index),
    /// A piece of them stands twice.
    Repeat(Index, Index),
    /// One line comes before another.
    Swap(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "null",
        "true",
        "-1",
        "0",
        "1e309",
        "9007199254740993",
        "```",
        "\n",
        "\u{feff}",
        "\u{0}",
        "\u{440}",
        "\\ud800",
        "\"id\":\"\"",
        "{\"resumed\":{\"run\":\"01a228a2-7d7b-7c36-b5a6-33f8273fa66b\"}}\n",
    ];
    let piece = proptest::sample::select(pieces.map(|piece| piece.as_bytes().to_vec()).to_vec());
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (at(), piece).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (at(), at()).prop_map(|(from, to)| Mutation::Remove(from, to)),
        (at(), at()).prop_map(|(from, to)| Mutation::Repeat(from, to)),
        (at(), at()).prop_map(|(one, other)| Mutation::Swap(one, other)),
    ]
}

fn apply(mutation: &Mutation, bytes: &mut Vec<u8>) {
    let place = |at: &Index| at.index(bytes.len() + 1);
    let range = |one: &Index, other: &Index| {
        let (one, other) = (place(one), place(other));
        one.min(other)..one.max(other)
    };
    match mutation {
        Mutation::Set(at, byte) => {
            let at = place(at);
            if let Some(old) = bytes.get_mut(at) {
                *old = *byte;
            }
        }
        Mutation::Insert(at, piece) => {
            let at = place(at);
            bytes.splice(at..at, piece.iter().copied());
        }
        Mutation::Remove(from, to) => {
            let range = range(from, to);
            bytes.drain(range);
        }
        Mutation::Repeat(from, to) => {
            let range = range(from, to);
            let piece = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, piece);
        }
        Mutation::Swap(one, other) => {
            let mut lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            if !lines.is_empty() {
                let count = lines.len();
                lines.swap(one.index(count), other.index(count));
            }
            *bytes = lines.concat();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn mutations_of_the_corpus_hold(target in 0..TARGETS.len(), start in any::<Index>(), mutations in proptest::collection::vec(mutation(), 1..6)) {
        let (name, target) = TARGETS[target];
        let (_, mut bytes) = start.get(&corpus(name)).clone();
        for mutation in &mutations {
            apply(mutation, &mut bytes);
        }
        target(&bytes);
    }
}
