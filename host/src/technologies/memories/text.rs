//! How text becomes words: what is put into the index, and what an index is asked for.
//!
//! FTS5's tokenizer splits at whatever is neither letter nor digit and folds case and diacritics. Around it: characters of scripts
//! that are written without spaces are set apart before, and the characters that the tokenizer takes for letters although no text
//! needs them (private use) are kept for what only this file writes.

use serde_json::Value;

use crate::{core::ports::memories::MemoryFields, words::digest::Digest};

/// The most bytes of an object's content that are indexed: the first of its texts, taken together.
pub(super) const MAX_INDEXED_BYTES: usize = 64 * 1024;

/// Begins the word that stands for a scope, so that no word of a text is one.
const SCOPE: char = '\u{e000}';
/// Stands between two texts of an object, so that nothing is found across them.
const END: &str = " \u{e001} ";

/// What the index is told of an object.
pub(super) struct Indexed {
    /// One word, or none.
    pub(super) scope: String,
    pub(super) summary: String,
    pub(super) content: String,
}

impl Indexed {
    pub(super) fn of(fields: &MemoryFields) -> Self {
        let mut indexed = Self {
            scope: fields.scope.as_deref().map(scope_word).unwrap_or_default(),
            summary: String::new(),
            content: String::new(),
        };
        set_apart(
            fields.summary.as_deref().unwrap_or_default(),
            &mut indexed.summary,
        );
        add_texts(
            &fields.content,
            &mut MAX_INDEXED_BYTES.clone(),
            &mut indexed.content,
        );
        indexed
    }
}

/// The expression of FTS5 for what a text says: all of its words, each of them quoted. None: it has none.
pub(super) fn sought(text: &str, scope: Option<&str>) -> Option<String> {
    let mut words: Vec<&str> = text
        .split(|c: char| !is_of_a_word(c))
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        return None;
    }
    let mut expression = String::new();
    if let Some(scope) = scope {
        expression.push('"');
        expression.push_str(&scope_word(scope));
        expression.push_str("\" ");
    }
    for word in words {
        expression.push('"');
        set_apart(word, &mut expression);
        expression.push_str("\" ");
    }
    Some(expression)
}

fn scope_word(scope: &str) -> String {
    format!("{SCOPE}{}", Digest::of(scope))
}

/// The texts within a value, so long as bytes are left.
fn add_texts(value: &Value, left: &mut usize, into: &mut String) {
    match value {
        Value::String(text) if *left > 0 => {
            let text = &text[..text.floor_char_boundary(*left)];
            // A text without a byte counts as well, so that there is an end.
            *left = left.saturating_sub(text.len() + 1);
            set_apart(text, into);
            into.push_str(END);
        }
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, left, into)),
        Value::Object(members) => members
            .values()
            .for_each(|member| add_texts(member, left, into)),
        _ => {}
    }
}

/// Puts spaces around the characters that are words of their own.
fn set_apart(text: &str, into: &mut String) {
    into.reserve(text.len());
    for c in text.chars() {
        if is_word_by_itself(c) {
            into.extend([' ', c, ' ']);
        } else if is_private(c) {
            into.push(' ');
        } else {
            into.push(c);
        }
    }
}

/// Whether it belongs to a word: letters, digits, and the marks that are written on or between letters.
fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

/// Combining marks and joiners, by the blocks that have them; the punctuation of these blocks is no part of a word.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{700}'..='\u{74a}' | '\u{7a6}'..='\u{8ff}'
        | '\u{900}'..='\u{963}' | '\u{966}'..='\u{dff}' | '\u{e31}'..='\u{e4e}' | '\u{eb1}'..='\u{ecd}' | '\u{f71}'..='\u{f84}'
        | '\u{102b}'..='\u{103e}' | '\u{17b4}'..='\u{17d3}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200c}'
        | '\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe20}'..='\u{fe2f}')
}

/// Letters and syllables of Han, Bopomofo, Hiragana, Katakana and Hangul.
fn is_word_by_itself(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303c}' | '\u{3041}'..='\u{3096}' | '\u{309b}'..='\u{30fa}' | '\u{30fc}'..='\u{318f}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

/// Private use: to the tokenizer they are letters.
fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_search_is_words_in_quotes_whatever_it_looks_like() {
        for (text, expression) in [
            ("b a b", r#""a" "b" "#),
            (
                r#"x" OR y* NEAR(z) ^w -v summary:u"#,
                r#""NEAR" "OR" "summary" "u" "v" "w" "x" "y" "z" "#,
            ),
            ("plan_write", r#""plan" "write" "#),
            ("\u{6771}\u{4eac}tower", "\" \u{6771}  \u{4eac} tower\" "),
            ("cafe\u{301}", "\"cafe\u{301}\" "),
        ] {
            assert_eq!(sought(text, None).as_deref(), Some(expression), "{text}");
        }
        for none in [
            "",
            " \n",
            "\"\"",
            "* - ( ) : ^",
            "\u{3002}\u{301}",
            "\u{e000}",
            "\0",
        ] {
            assert_eq!(sought(none, Some("s")), None, "{none:?}");
        }
    }

    #[test]
    fn the_texts_of_a_value_are_indexed_up_to_the_bound_and_its_keys_and_numbers_are_not() {
        let texts = |value: &Value| {
            let mut into = String::new();
            add_texts(value, &mut MAX_INDEXED_BYTES.clone(), &mut into);
            into
        };
        let value = json!({"key": ["one", 2, {"k": "three"}], "n": null});
        assert_eq!(texts(&value), format!("one{END}three{END}"));
        // The last character does not fit as a whole.
        let long = format!("{}\u{e9} end", "x".repeat(MAX_INDEXED_BYTES - 1));
        assert_eq!(texts(&json!([long, "more"])).matches("more").count(), 0);
        assert!(!texts(&json!(long)).contains('\u{e9}'));
        let empty = vec![""; 2 * MAX_INDEXED_BYTES];
        assert!(texts(&json!(empty)).len() <= MAX_INDEXED_BYTES * END.len());
    }

    #[test]
    fn a_private_character_of_a_text_is_none_of_the_index() {
        let mut apart = String::new();
        set_apart("a\u{e000}b\u{10fffd}", &mut apart);
        assert_eq!(apart, "a b ");
    }
}
