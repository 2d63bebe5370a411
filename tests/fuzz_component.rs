//! The target for components without a fuzzer: what is kept of its corpus, a plugin, and changes of their bytes.

use std::{fs, sync::LazyLock};

use proptest::{prelude::*, sample::Index};
use wharf_tests::{built, root};

#[expect(
    unreachable_pub,
    reason = "the fuzzer's program reaches it from another crate"
)]
#[path = "../fuzz/component/src/target.rs"]
mod target;

static CORPUS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = root().join("fuzz/component/corpus/component");
    let entries = fs::read_dir(folder).unwrap();
    let kept = entries.map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let whole = [
        built::test_guest("probe"),
        built::test_guest("hostile/honest"),
    ];
    kept.chain(whole.map(|path| fs::read(path).unwrap()))
        .collect()
});

#[test]
fn the_corpus_and_whole_plugins_are_loaded_or_refused() {
    assert!(CORPUS.len() > 5);
    for bytes in &*CORPUS {
        target::component(bytes);
    }
}

/// One change of the bytes: another one in a place, or all from there on are gone.
#[derive(Debug, Clone)]
enum Change {
    Set(Index, u8),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        9 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => any::<Index>().prop_map(Change::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn changed_components_are_loaded_or_refused(start in any::<Index>(), changes in proptest::collection::vec(change(), 1..4)) {
        let mut bytes = start.get(&CORPUS).clone();
        for change in &changes {
            match change {
                Change::Set(at, byte) if !bytes.is_empty() => {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
                Change::Set(..) => (),
                Change::Cut(at) => bytes.truncate(at.index(bytes.len() + 1)),
            }
        }
        target::component(&bytes);
    }
}
