//! What can be said of a component file without using it for a task.
//!
//! Owns the findings; never prints them. Called by the command line.

use super::{
    VerifiedBytes, cache::CompileCache, domain::Plugin, engine::PluginEngine, fault::LoadError,
    limits::PluginLimits, linker, loading,
};
use crate::{
    core::{contract::Descriptor, ports::domain::Declared},
    words::{digest::Digest, error::Error},
};

/// What was found in a component.
#[derive(Debug)]
pub struct Inspection {
    /// The SHA-256 of its bytes.
    pub digest: Digest,
    /// Its size in bytes.
    pub bytes: usize,
    /// The versions of the contract in its imports and exports; empty: it is no plugin.
    pub contract_versions: Vec<String>,
    /// What it imports, in its own order.
    pub imports: Vec<Import>,
    /// What the plugin says of itself, or why it cannot be loaded.
    pub descriptor: Result<Descriptor, Error>,
}

/// One import of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Its full name, version included.
    pub name: String,
    /// Whether a plugin gets it.
    pub offered: bool,
}

impl Inspection {
    /// Looks at a component, and loads it if that is possible.
    ///
    /// # Errors
    /// The file is not a component, or cannot be compiled. Whatever else is wrong with it is a finding.
    pub fn of(
        engine: &PluginEngine,
        bytes: &VerifiedBytes,
        limits: PluginLimits,
        cache: Option<&CompileCache>,
    ) -> Result<Self, LoadError> {
        let found = loading::compile(&engine.runtime(&limits)?, bytes, &limits, cache)?;
        let contract_versions = found.versions().into_iter().map(str::to_owned).collect();
        let imports = found
            .imports
            .into_iter()
            .map(|name| Import {
                offered: linker::is_offered(&name),
                name,
            })
            .collect();
        Ok(Self {
            digest: bytes.digest(),
            bytes: bytes.as_slice().len(),
            contract_versions,
            imports,
            descriptor: Plugin::load(engine, bytes, limits, cache)
                .map(|plugin| plugin.descriptor().clone()),
        })
    }
}
