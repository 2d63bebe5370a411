//! The files that a task publishes, with their exact bytes, as the journal keeps them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use super::ports::archive::OutputFile;

/// A file and its exact bytes: as text where they are UTF-8, else as base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// A plain file name.
    pub name: String,
    /// Its bytes.
    #[serde(flatten)]
    pub content: Content,
}

/// Bytes in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Base64(String),
}

impl Output {
    /// A file of these bytes.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let content = match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text),
            Err(error) => Content::Base64(BASE64_STANDARD.encode(error.into_bytes())),
        };
        Self {
            name: name.into(),
            content,
        }
    }

    /// The file to write.
    ///
    /// # Errors
    /// Base64 that is none.
    pub fn file(&self) -> Result<OutputFile, base64::DecodeError> {
        let bytes = match &self.content {
            Content::Text(text) => text.clone().into_bytes(),
            Content::Base64(text) => BASE64_STANDARD.decode(text)?,
        };
        Ok(OutputFile {
            name: self.name.clone(),
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_an_output_survive_the_journal() {
        for bytes in [b"plain \xc3\xa9".to_vec(), vec![0xff, 0, 1], vec![]] {
            let stored = serde_json::to_string(&Output::new("f", bytes.clone())).unwrap();
            let read: Output = serde_json::from_str(&stored).unwrap();
            assert_eq!(read.file().unwrap().bytes, bytes, "{stored}");
        }
    }
}
