//! The compile cache is a hint: whatever is wrong with an entry, the component is compiled, once.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::{files::memories, *};

fn engine() -> PluginEngine {
    PluginEngine::new(EngineLimits {
        sandboxes: 2.try_into().unwrap(),
        ..EngineLimits::standard()
    })
    .unwrap()
}

fn compile(engine: &PluginEngine, bytes: &VerifiedBytes, cache: Option<&CompileCache>) {
    let runtime = engine.runtime(&PluginLimits::standard()).unwrap();
    runtime.component(bytes, cache, COMPILING).unwrap();
}

/// How many compiles it takes a fresh engine to have the component.
fn compiles(bytes: &VerifiedBytes, cache: &CompileCache) -> u64 {
    let engine = engine();
    compile(&engine, bytes, Some(cache));
    engine.compiles()
}

fn the_entry(folder: &Path) -> PathBuf {
    let entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

/// C4: counted.
#[test]
fn a_digest_is_compiled_once_per_engine_however_many_ask_for_it() {
    let engine = engine();
    let bytes = memories(3, 1);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| compile(&engine, &bytes, None));
        }
    });
    assert_eq!(engine.compiles(), 1);
    compile(&engine, &memories(2, 1), None);
    assert_eq!(engine.compiles(), 2);
}

#[test]
fn what_one_engine_compiled_the_next_one_finds() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CompileCache::open(folder.path().join("new/cache")).unwrap();
    let bytes = memories(1, 1);
    assert_eq!(compiles(&bytes, &cache), 1);
    assert_eq!(compiles(&bytes, &cache), 0);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("new/cache")), 0o700);
    assert_eq!(mode(&the_entry(&folder.path().join("new/cache"))), 0o600);
}

/// C3: stale, cut, flipped and foreign entries.
#[test]
fn damaged_and_foreign_entries_are_misses_and_are_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CompileCache::open(folder.path()).unwrap();
    let bytes = memories(1, 1);
    assert_eq!(compiles(&bytes, &cache), 1);
    let entry = the_entry(folder.path());
    let sound = fs::read(&entry).unwrap();

    // An entry of another component, sound in itself.
    let elsewhere = tempfile::tempdir().unwrap();
    let other = CompileCache::open(elsewhere.path()).unwrap();
    compiles(&memories(1, 2), &other);
    let foreign = fs::read(the_entry(elsewhere.path())).unwrap();

    let flipped = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        bytes
    };
    let stale = [b"wharf compiled component 0\n", &sound[27..]].concat();
    for (what, damaged) in [
        ("empty", Vec::new()),
        ("cut in the header", sound[..50].to_vec()),
        ("cut in the artifact", sound[..sound.len() - 1].to_vec()),
        ("longer", [&sound[..], b"x"].concat()),
        ("flipped in the header", flipped(30)),
        ("flipped in the checksum", flipped(100)),
        ("flipped in the artifact", flipped(sound.len() / 2)),
        ("flipped at the end", flipped(sound.len() - 1)),
        ("not wrapped", sound[155..].to_vec()),
        ("stale", stale),
        ("foreign", foreign),
    ] {
        fs::write(&entry, damaged).unwrap();
        assert_eq!(compiles(&bytes, &cache), 1, "{what}");
        assert_eq!(compiles(&bytes, &cache), 0, "{what}");
    }
    // Nothing is left over from writing.
    assert_eq!(the_entry(folder.path()), entry);
}

#[test]
fn an_engine_with_other_settings_has_entries_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CompileCache::open(folder.path()).unwrap();
    let bytes = memories(1, 1);
    assert_eq!(compiles(&bytes, &cache), 1);
    let other = PluginEngine::new(EngineLimits {
        sandboxes: 1.try_into().unwrap(),
        memory_bytes: (32 << 20).try_into().unwrap(),
        ..EngineLimits::standard()
    })
    .unwrap();
    compile(&other, &bytes, Some(&cache));
    assert_eq!(other.compiles(), 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_folder_that_others_can_write_is_refused_and_such_an_entry_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let set =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    set(folder.path(), 0o770);
    assert_eq!(
        code(CompileCache::open(folder.path())),
        "plugin-cache-insecure"
    );
    set(folder.path(), 0o707);
    assert_eq!(
        code(CompileCache::open(folder.path())),
        "plugin-cache-insecure"
    );
    set(folder.path(), 0o700);

    let cache = CompileCache::open(folder.path()).unwrap();
    let bytes = memories(1, 1);
    assert_eq!(compiles(&bytes, &cache), 1);
    set(&the_entry(folder.path()), 0o620);
    assert_eq!(compiles(&bytes, &cache), 1);
    assert_eq!(compiles(&bytes, &cache), 0);
    // Opened up afterwards: neither read nor written.
    set(folder.path(), 0o777);
    assert_eq!(compiles(&bytes, &cache), 1);
    set(folder.path(), 0o700);
    assert_eq!(compiles(&bytes, &cache), 0);
}

#[test]
fn a_cache_that_cannot_be_there_is_an_error_that_says_so() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(
        code(CompileCache::open(file.path())),
        "plugin-cache-unusable"
    );
}

#[test]
fn the_release_in_the_key_is_the_one_that_is_pinned() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let pinned = format!("wasmtime = {{ version = \"={}\"", cache::WASMTIME);
    assert!(manifest.contains(&pinned));
}
