//! The bounds of what is kept and asked for, held before anything is looked up.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::error::MemoriesError;
use crate::core::ports::memories::{
    MAX_CATEGORIES, MAX_CONTENT_BYTES, MAX_DEPTH, MAX_LABEL_CHARS, MAX_METADATA_BYTES, MAX_PAGE,
    MAX_SEARCH_CHARS, MAX_SUMMARY_CHARS, MAX_TOUCHED, MemoryFields, MemoryId, Page,
};

/// An object within all bounds, with the parts of it that are kept as JSON.
pub(super) struct Checked<'o> {
    fields: &'o MemoryFields,
    content: String,
    categories: String,
    metadata: String,
}

impl<'o> Checked<'o> {
    pub(super) fn new(fields: &'o MemoryFields) -> Result<Self, MemoriesError> {
        let MemoryFields {
            content,
            summary,
            scope,
            categories,
            metadata,
            source,
        } = fields;
        if let Some(summary) = summary {
            at_most(
                "characters of the summary",
                chars(summary),
                MAX_SUMMARY_CHARS,
            )?;
        }
        if let Some(scope) = scope {
            label("scope", scope)?;
        }
        label("source", source)?;
        at_most("categories", categories.len(), MAX_CATEGORIES)?;
        for category in categories {
            label("category", category)?;
        }
        if categories.iter().collect::<BTreeSet<_>>().len() < categories.len() {
            return Err(MemoriesError::Twice);
        }
        shallow("content", content, MAX_DEPTH)?;
        for member in metadata.values() {
            shallow("metadata", member, MAX_DEPTH - 1)?;
        }
        let checked = Self {
            fields,
            content: json(content),
            categories: json(categories),
            metadata: json(metadata),
        };
        at_most(
            "bytes of the content",
            checked.content.len(),
            MAX_CONTENT_BYTES,
        )?;
        at_most(
            "bytes of the metadata",
            checked.metadata.len(),
            MAX_METADATA_BYTES,
        )?;
        Ok(checked)
    }

    pub(super) fn fields(&self) -> &'o MemoryFields {
        self.fields
    }

    pub(super) fn content(&self) -> &str {
        &self.content
    }

    pub(super) fn categories(&self) -> &str {
        &self.categories
    }

    pub(super) fn metadata(&self) -> &str {
        &self.metadata
    }
}

/// A page's limit.
pub(super) fn page(page: &Page) -> Result<(), MemoriesError> {
    limit(page.limit)
}

/// A search's text and limit.
pub(super) fn search(text: &str, hits: u32) -> Result<(), MemoriesError> {
    at_most("characters to search for", chars(text), MAX_SEARCH_CHARS)?;
    limit(hits)
}

/// How many are touched at once.
pub(super) fn touched(ids: &[MemoryId]) -> Result<(), MemoriesError> {
    at_most("ids", ids.len(), MAX_TOUCHED)
}

fn limit(limit: u32) -> Result<(), MemoriesError> {
    if limit == 0 {
        return Err(MemoriesError::Blank { what: "limit" });
    }
    at_most("objects at once", limit as usize, MAX_PAGE as usize)
}

fn label(what: &'static str, text: &str) -> Result<(), MemoriesError> {
    if text.trim().is_empty() {
        return Err(MemoriesError::Blank { what });
    }
    at_most(
        "characters of a scope, a category or a source",
        chars(text),
        MAX_LABEL_CHARS,
    )
}

/// Refuses what is nested deeper: it could not be read back.
fn shallow(what: &'static str, value: &Value, allowed: usize) -> Result<(), MemoriesError> {
    let mut inner: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return Ok(()),
    };
    match allowed.checked_sub(1) {
        Some(left) => inner.try_for_each(|value| shallow(what, value, left)),
        None => Err(MemoriesError::TooDeep { what }),
    }
}

fn at_most(what: &'static str, found: usize, allowed: usize) -> Result<(), MemoriesError> {
    if found > allowed {
        return Err(MemoriesError::TooMuch {
            what,
            found,
            allowed,
        });
    }
    Ok(())
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value)
        .expect("what consists of texts, numbers, lists and maps by text has a JSON form")
}
