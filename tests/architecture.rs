//! The layers: which folder may use which, and which folder owns which third-party crate. Two tables, no exemptions.

use std::{collections::BTreeSet, fs, path::PathBuf};

use syn::{Item, UseTree, visit::Visit};
use wharf_tests::{root, sources};

/// Folders of `host/src` from the lowest to the highest; those of one line do not know each other.
const LAYERS: [&[&str]; 7] = [
    &["words"],
    &["core"],
    &["schema", "sqlite"],
    &["plugin", "business", "technologies"],
    &["host"],
    &["mcp"],
    &["cli"],
];

/// Third-party crates and the folders that may use them; `*` stands for all.
const OWNERS: &[(&str, &[&str])] = &[
    ("base64", &["core", "technologies"]),
    ("clap", &["cli"]),
    ("console", &["cli"]),
    ("futures", &["core", "technologies", "mcp"]),
    ("http_body_util", &["mcp"]),
    ("httpdate", &["technologies"]),
    ("hyper", &["mcp"]),
    ("hyper_util", &["mcp"]),
    ("jiff", &["*"]),
    ("jsonschema", &["schema"]),
    ("memchr", &["business"]),
    // Of the program alone: `main.rs`.
    ("mimalloc", &[]),
    ("redis", &["technologies"]),
    ("regex", &["words"]),
    ("reqwest", &["technologies"]),
    ("rmcp", &["mcp"]),
    ("rusqlite", &["sqlite", "business", "technologies"]),
    ("rustc_demangle", &["plugin"]),
    ("rustix", &["plugin"]),
    ("rustls", &["technologies"]),
    ("rustls_native_certs", &["technologies"]),
    (
        "schemars",
        &["core", "plugin", "business", "technologies", "host", "mcp"],
    ),
    ("serde", &["*"]),
    ("serde_json", &["*"]),
    ("serde_json_canonicalizer", &["words"]),
    ("sha2", &["words"]),
    ("tempfile", &["plugin", "technologies", "host", "cli"]),
    ("thiserror", &["*"]),
    ("tokio", &["core", "technologies", "host", "mcp", "cli"]),
    ("tokio_util", &["core"]),
    ("toml", &["host"]),
    ("tracing", &["*"]),
    ("tracing_subscriber", &["cli"]),
    ("uuid", &["words"]),
    ("wasmtime", &["plugin"]),
    ("wasmtime_wasi", &["plugin"]),
];

/// The first two segments of every path of a file, `use` trees unfolded.
#[derive(Default)]
struct Paths(BTreeSet<(String, String)>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_use_tree(&mut self, tree: &'ast UseTree) {
        let UseTree::Path(first) = tree else { return };
        let mut inner = vec![&*first.tree];
        while let Some(tree) = inner.pop() {
            let second = match tree {
                UseTree::Path(path) => path.ident.to_string(),
                UseTree::Name(name) => name.ident.to_string(),
                UseTree::Rename(name) => name.ident.to_string(),
                UseTree::Glob(_) => "*".to_owned(),
                UseTree::Group(group) => {
                    inner.extend(&group.items);
                    continue;
                }
            };
            self.0.insert((first.ident.to_string(), second));
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        self.0.insert((
            names.next().unwrap_or_default(),
            names.next().unwrap_or_default(),
        ));
        syn::visit::visit_path(self, path);
    }
}

type Files = Vec<(PathBuf, syn::File)>;

fn files(folder: &str) -> Files {
    sources(&root().join("host/src").join(folder))
        .into_iter()
        .map(|(path, text)| (path, syn::parse_file(&text).unwrap()))
        .collect()
}

/// Without the modules under `#[cfg(test)]`: with what a layer is tested does not make it another layer.
fn without_tests(mut files: Files) -> Files {
    let mut tests = Vec::new();
    for (path, file) in &mut files {
        file.items.retain(|item| match item {
            Item::Mod(module) if module.attrs.iter().any(is_cfg_test) => {
                tests.push(path.with_file_name(module.ident.to_string()));
                false
            }
            _ => true,
        });
    }
    files.retain(|(path, _)| {
        let path = path.with_extension("");
        !tests.iter().any(|test| path.starts_with(test))
    });
    files
}

fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    let argument = attribute.parse_args::<syn::Path>();
    attribute.path().is_ident("cfg") && argument.is_ok_and(|argument| argument.is_ident("test"))
}

fn check(files: &Files, verdict: impl Fn(&str, &str) -> Option<String>) {
    for (path, file) in files {
        let mut paths = Paths::default();
        paths.visit_file(file);
        for (first, second) in &paths.0 {
            if let Some(fault) = verdict(first, second) {
                panic!("{}: {fault}", path.display());
            }
        }
    }
}

#[test]
fn arrows_between_layers_only_go_down() {
    for (at, layer) in LAYERS.iter().enumerate() {
        for folder in *layer {
            check(&files(folder), |first, second| {
                let to = LAYERS.iter().position(|layer| layer.contains(&second))?;
                let up = first == "crate" && to >= at && second != *folder;
                up.then(|| format!("uses `{second}`, which is not below `{folder}`"))
            });
        }
    }
}

#[test]
fn a_third_party_crate_stays_in_its_owner_folder() {
    for folder in LAYERS.concat() {
        check(&without_tests(files(folder)), |first, _| {
            let (name, owners) = OWNERS.iter().find(|(name, _)| *name == first)?;
            let foreign = !owners.contains(&"*") && !owners.contains(&folder);
            foreign.then(|| format!("uses `{name}`, which belongs to {owners:?}"))
        });
    }
    let manifest = fs::read_to_string(root().join("host/Cargo.toml")).unwrap();
    let dependencies = manifest
        .split("[dependencies]")
        .nth(1)
        .unwrap()
        .split("\n[")
        .next()
        .unwrap();
    for line in dependencies.lines().filter(|line| !line.is_empty()) {
        let name = line.split(['.', ' ']).next().unwrap().replace('-', "_");
        assert!(
            OWNERS.iter().any(|(owned, _)| *owned == name),
            "`{name}` has no owner folder"
        );
    }
}
