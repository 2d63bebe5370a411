//! The vendored bindings are those of the contract.

use std::path::Path;

use sha2::{Digest, Sha256};

#[test]
fn the_bindings_were_generated_from_the_contract_as_it_is() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut contract: Vec<_> = std::fs::read_dir(sdk.join("../../wit/0.1.0"))
        .expect("the contract")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "wit"))
        .collect();
    contract.sort();
    let mut hash = Sha256::new();
    for path in contract {
        hash.update(std::fs::read(path).expect("a file of the contract"));
    }
    let digest: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert!(
        include_str!("../src/bindings.rs").contains(&format!("SHA-256 {digest}\n")),
        "run plugins/sdk/regenerate.sh: the contract has changed"
    );
}
