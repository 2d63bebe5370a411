//! Evidence: the canonical JSON of one committed result, named by its SHA-256.

use super::operations::StepRecord;
use crate::{
    core::{contract::OperationKey, ports::archive::Evidence},
    words::{
        digest::Digest,
        json::{self, JsonText},
    },
};

impl Evidence {
    /// The evidence of a result. `key` is none for a read without a ledger row; a declined step has the key it would have had.
    #[must_use]
    pub fn of(fingerprint: Digest, tool: &str, key: Option<&str>, data: &JsonText) -> Self {
        let text = |text: &str| json::canonical(&text);
        let (data, tool) = (data.canonical(), text(tool));
        let key = key.map_or_else(|| "null".to_owned(), text);
        // The keys stand in order, and a digest has nothing to escape.
        let bytes = format!(
            r#"{{"data":{data},"fingerprint":"{fingerprint}","operationKey":{key},"tool":{tool}}}"#
        );
        Self {
            id: Digest::of(&bytes),
            bytes,
        }
    }
}

impl StepRecord {
    /// The evidence of this record, for a step with this tool in a request with this fingerprint.
    #[must_use]
    pub fn evidence(&self, tool: &str, fingerprint: Digest) -> Evidence {
        let (tool, fingerprint) = self.origin.as_ref().map_or((tool, fingerprint), |origin| {
            (&*origin.tool, origin.fingerprint)
        });
        let key = self.operation_key.as_ref().map(OperationKey::as_str);
        Evidence::of(fingerprint, tool, key, &self.data)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn evidence_is_canonical_and_named_by_its_bytes() {
        let data = JsonText::of(&json!({"b": 1, "a": [1.5]}));
        let evidence = Evidence::of(Digest::of("r"), "paint", Some("paint"), &data);
        let fingerprint = Digest::of("r");
        assert_eq!(
            evidence.bytes,
            format!(
                r#"{{"data":{{"a":[1.5],"b":1}},"fingerprint":"{fingerprint}","operationKey":"paint","tool":"paint"}}"#
            )
        );
        assert_eq!(evidence.id, Digest::of(&evidence.bytes));
        for key in [None, Some("pack \"it\"\u{1}\u{e9}")] {
            let evidence = Evidence::of(fingerprint, "a\\b", key, &data);
            let whole = json!({"data": data.value(), "fingerprint": fingerprint, "operationKey": key, "tool": "a\\b"});
            assert_eq!(evidence.bytes, json::canonical(&whole));
        }
    }
}
