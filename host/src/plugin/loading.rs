//! From bytes to something that can be called.
//!
//! Owns the order: what kind of file, compile, contract version, imports, exports, link, and only then the plugin's own
//! description, once. Never keeps a sandbox. Called by `domain.rs` and `inspect.rs`.

use wasmtime::component::{Component, types::ComponentItem};

use super::{
    VerifiedBytes,
    bindings::DomainPre,
    cache::CompileCache,
    fault::{LoadError, SUPPORTED},
    limits::PluginLimits,
    linker,
    runtime::Runtime,
    state::CallState,
};
use crate::words::scrub::excerpt;

/// The exports of the contract.
const EXPORTS: [&str; 2] = ["wharf:domain/validator", "wharf:domain/tools"];

/// A component as it is, before anything of it was linked or run.
pub(super) struct Found {
    pub(super) component: Component,
    /// Names of its imports, in its own order.
    pub(super) imports: Vec<String>,
    /// Names of its exports, in its own order.
    exports: Vec<String>,
}

/// Compiles the bytes, or finds them compiled.
pub(super) fn compile(
    runtime: &Runtime,
    bytes: &VerifiedBytes,
    limits: &PluginLimits,
    cache: Option<&CompileCache>,
) -> Result<Found, LoadError> {
    match bytes.as_slice() {
        [b'\0', b'a', b's', b'm', _, 0, 1, 0, ..] => {}
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => return Err(LoadError::CoreModule),
        _ => return Err(LoadError::NotAComponent),
    }
    let component = runtime.component(bytes, cache, limits.compile_millis)?;
    let types = component.component_type();
    // A type that the world itself uses stands among imports and exports as well.
    let named = |(name, item): (&str, wasmtime::component::types::ComponentExtern<'_>)| {
        let is_type = matches!(item.ty, ComponentItem::Type(_) | ComponentItem::Resource(_));
        (!is_type).then(|| name.to_owned())
    };
    let imports = types
        .imports(runtime.wasmtime())
        .filter_map(named)
        .collect();
    let exports = types
        .exports(runtime.wasmtime())
        .filter_map(named)
        .collect();
    Ok(Found {
        component,
        imports,
        exports,
    })
}

impl Found {
    /// The versions of the contract that stand in its imports and exports, each once; none: it knows nothing of the
    /// contract.
    pub(super) fn versions(&self) -> Vec<&str> {
        let mut versions: Vec<&str> = self
            .imports
            .iter()
            .chain(&self.exports)
            .filter_map(|name| name.strip_prefix("wharf:domain/"))
            .map(|name| name.split_once('@').map_or("none", |(_, version)| version))
            .collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }

    /// Links it, if it is a plugin of a supported version that asks for nothing else.
    pub(super) fn link(self, runtime: &Runtime) -> Result<DomainPre<CallState>, LoadError> {
        let versions = self.versions();
        if versions.iter().any(|&version| version != SUPPORTED) {
            return Err(LoadError::UnsupportedVersion {
                found: versions.join(", "),
            });
        }
        let missing: Vec<String> = EXPORTS
            .iter()
            .map(|export| format!("{export}@{SUPPORTED}"))
            .filter(|export| !self.exports.contains(export))
            .collect();
        if !missing.is_empty() {
            return Err(LoadError::MissingExports { missing });
        }
        let missing: Vec<String> = self
            .imports
            .iter()
            .filter(|import| !linker::is_offered(import))
            .cloned()
            .collect();
        if !missing.is_empty() {
            return Err(LoadError::MissingImports { missing });
        }
        runtime
            .linker()
            .instantiate_pre(&self.component)
            .and_then(DomainPre::new)
            .map_err(|error| LoadError::OtherInterfaces(excerpt(&format!("{error:#}")).into()))
    }
}
