//! From the bytes of a component to a plugin, or a refusal. Also called by the tests (`tests/fuzz.rs`).

use std::sync::LazyLock;

use wharf::{
    Error, Kind,
    plugin::{EngineLimits, Inspection, Plugin, PluginEngine, PluginLimits, VerifiedBytes},
};

static ENGINE: LazyLock<PluginEngine> =
    LazyLock::new(|| PluginEngine::new(EngineLimits::small()).expect("the machine has the room"));

/// Whatever the bytes are, they are loaded, or refused with a code that says why and as what; a refusal is never the host's own
/// fault, and what is loaded once is loaded the same again.
pub fn component(data: &[u8]) {
    let mut limits = PluginLimits::standard();
    limits.call_millis = 200.try_into().expect("not zero");
    limits.memory_bytes = (8 << 20).try_into().expect("not zero");
    let Ok(bytes) = VerifiedBytes::pin(data, limits.component_bytes) else {
        return;
    };
    let loaded = Plugin::load(&ENGINE, &bytes, limits, None);
    match &loaded {
        Ok(plugin) => assert_eq!(plugin.digest(), bytes.digest()),
        Err(error) => {
            assert!(error.code().starts_with("plugin-"), "{error:?}");
            let kinds = [Kind::InvalidInput, Kind::PluginFault, Kind::Limit];
            assert!(kinds.contains(&error.kind()), "{error:?}");
            let shown = format!("{error}{}{}", error.why(), error.hint());
            assert!(
                !shown.contains(|c: char| c.is_control() && c != '\n'),
                "{shown:?}"
            );
        }
    }
    // An inspection agrees, and finds at most that it cannot be compiled.
    if let Ok(inspection) = Inspection::of(&ENGINE, &bytes, limits, None) {
        let codes = [loaded.err(), inspection.descriptor.err()];
        let [one, other] = codes.map(|error| error.as_ref().map(Error::code));
        assert_eq!(one, other);
    }
}
