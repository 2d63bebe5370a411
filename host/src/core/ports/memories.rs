//! What agents remember: objects under exact ids, versioned, found again by scope, category and words.
//!
//! A port like the others, and its plain data. An implementation is put through `technologies::memories_conformance`.

use std::{fmt, str::FromStr, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::words::error::Error;

/// The most bytes that an object's content may have, written as JSON.
pub const MAX_CONTENT_BYTES: usize = 256 * 1024;
/// The most bytes that an object's metadata may have, written as JSON.
pub const MAX_METADATA_BYTES: usize = 16 * 1024;
/// The most categories of one object.
pub const MAX_CATEGORIES: usize = 32;
/// The most characters of a scope, a category or a source.
pub const MAX_LABEL_CHARS: usize = 200;
/// The most characters of a summary.
pub const MAX_SUMMARY_CHARS: usize = 1000;
/// How deep an object's content and metadata may be nested.
pub const MAX_DEPTH: usize = 64;
/// The most objects of one page, and of one search.
pub const MAX_PAGE: u32 = 100;
/// The most characters of a text that is searched for.
pub const MAX_SEARCH_CHARS: usize = 400;
/// The most ids that are touched at once.
pub const MAX_TOUCHED: usize = 1000;

/// The memory of one tenant. Whoever holds one was given it for that tenant, and reaches no other.
///
/// Every method is atomic. A method that changes something is durable when it returns, unless the memory was lent inside a
/// transaction ([`Journal::append_with`](super::journal::Journal::append_with)): then it is durable with that. What is beyond a
/// bound is an error with the code `memory-out-of-bounds`, and changes nothing.
///
/// What is read is visible, not necessarily durable: a process that was killed, or is about to return, may have committed it a
/// moment ago. Who acts on it in a way that must outlive the machine settles first, as with a journal.
pub trait Memories {
    /// Keeps an object under a new UUIDv7, at version 1.
    fn add(&self, object: &MemoryFields) -> Result<Memory, Error>;

    /// Keeps an object under a given id: at version 1 if there is none, else in its place, one version higher, with the times
    /// of its creation and use. With `expected`, another version than that (0: none) is an error of kind `conflict`.
    fn upsert(
        &self,
        id: &MemoryId,
        object: &MemoryFields,
        expected: Option<u64>,
    ) -> Result<Memory, Error>;

    /// Exactly that object. Writes nothing, its use included.
    fn get(&self, id: &MemoryId) -> Result<Option<Memory>, Error>;

    /// Changes the named fields and raises the version. An unknown id is an error with the code `memory-unknown`, another
    /// version than the expected one an error of kind `conflict`.
    fn update(
        &self,
        id: &MemoryId,
        patch: &MemoryPatch,
        expected: Option<u64>,
    ) -> Result<Memory, Error>;

    /// Removes an object; false: there was none, whatever was expected. Another version than the expected one is an error of kind
    /// `conflict`.
    fn delete(&self, id: &MemoryId, expected: Option<u64>) -> Result<bool, Error>;

    /// One page of the objects of a scope and a category, ordered by id.
    fn query(&self, filter: &MemoryFilter, page: &Page) -> Result<MemoryPage, Error>;

    /// The objects that hold all the words in summary or content, the best first, and of equally good ones those first that were
    /// kept last. CJK text is found by its characters. At most `limit`, from 1 to [`MAX_PAGE`]. Words are what is left of a text
    /// without punctuation, whatever their case; a text without any finds nothing. An implementation may bound what it looks at, and
    /// says how.
    fn search(&self, text: &str, scope: Option<&str>, limit: u32) -> Result<Vec<Hit>, Error>;

    /// Records that these were used now; unknown ids are passed over, and one that is named twice was used twice. Changes neither
    /// version nor `updatedAt`. How many uses were recorded. At most [`MAX_TOUCHED`].
    fn touch(&self, ids: &[MemoryId]) -> Result<u64, Error>;
}

/// A memory that threads share.
pub type SharedMemories = Arc<dyn Memories + Send + Sync>;

/// Names an object: 1 to 200 of `[A-Za-z0-9_.:/-]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct MemoryId(String);

/// The text is not the id of an object.
#[derive(Debug, thiserror::Error)]
#[error("an object's id has 1 to 200 letters, digits, `_`, `.`, `:`, `/` or `-` of ASCII")]
pub struct InvalidMemoryId;

impl MemoryId {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for MemoryId {
    type Error = InvalidMemoryId;

    fn try_from(text: String) -> Result<Self, InvalidMemoryId> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        if (1..=200).contains(&text.len()) && text.bytes().all(plain) {
            Ok(Self(text))
        } else {
            Err(InvalidMemoryId)
        }
    }
}

impl FromStr for MemoryId {
    type Err = InvalidMemoryId;

    fn from_str(text: &str) -> Result<Self, InvalidMemoryId> {
        Self::try_from(text.to_owned())
    }
}

impl From<MemoryId> for String {
    fn from(id: MemoryId) -> Self {
        id.0
    }
}

/// One object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Its id, exactly as it was given.
    pub id: MemoryId,
    /// What whoever wrote it has said.
    #[serde(flatten)]
    pub fields: MemoryFields,
    /// When it was first kept.
    pub created_at: Timestamp,
    /// When its fields last changed.
    pub updated_at: Timestamp,
    /// When [`Memories::touch`] last named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// How often [`Memories::touch`] named it.
    pub usage_count: u64,
    /// From 1 upwards; raised by every change of its fields.
    pub version: u64,
}

/// What is kept of an object. Bounds: [`MAX_CONTENT_BYTES`] and its siblings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryFields {
    /// Any JSON; a text is a JSON string.
    pub content: Value,
    /// In a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whose it is or what it is about; not blank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What it is filed under; none twice, none blank.
    #[serde(default)]
    pub categories: Vec<String>,
    /// Whatever else.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Who or what it comes from; not blank.
    pub source: String,
}

/// What is to change; what is left out stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryPatch {
    /// The content.
    pub content: Option<Value>,
    /// The summary; `Some(None)` removes it.
    pub summary: Option<Option<String>>,
    /// The scope; `Some(None)` removes it.
    pub scope: Option<Option<String>>,
    /// The categories.
    pub categories: Option<Vec<String>>,
    /// The metadata.
    pub metadata: Option<Map<String, Value>>,
    /// The source.
    pub source: Option<String>,
}

/// Which objects are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    /// Of this scope; none: of any, or without.
    pub scope: Option<String>,
    /// Filed under this; none: any, or none.
    pub category: Option<String>,
}

/// Which part of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Behind this id; none: from the first on.
    pub after: Option<MemoryId>,
    /// 1 to [`MAX_PAGE`].
    pub limit: u32,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryPage {
    /// Its objects, ordered by id.
    pub objects: Vec<Memory>,
    /// What the next page is [`after`](Page::after); none: this was the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<MemoryId>,
}

/// One object that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The object.
    #[serde(flatten)]
    pub object: Memory,
    /// How well it fits: higher is better; comparable within one search alone.
    pub score: f64,
}
