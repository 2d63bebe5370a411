//! The secrets of a client, and texts from elsewhere without them.
//!
//! Owns what no other file may show: a secret is read out here alone, into a header.

use std::{cmp::Reverse, collections::BTreeSet, fmt};

use reqwest::header::HeaderValue;

use crate::words::{escape::excerpt, scrub::scrub};

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// The most bytes of a text from elsewhere that are looked at, so that none takes long.
const MOST_LOOKED_AT: usize = 16 * 1024;

/// So many letters and digits that a text shares with a secret are taken for a piece of it.
const RUN: usize = 6;

/// The most bytes of somebody else's words that are repeated.
const MOST_WORDS: usize = 400;

/// What must not be shown. `Debug` does not.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For a header, behind a prefix such as `Bearer `, and marked as not to be shown. None: no header may have it.
    pub(super) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// All the secrets of a client.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    /// As they are.
    whole: Vec<Secret>,
    /// Every run of so many letters and digits in one of them.
    runs: BTreeSet<[u8; RUN]>,
}

impl Secrets {
    /// One more, with its parts: `Basic abc` is a secret, and `abc` is one.
    pub(super) fn add(&mut self, secret: &Secret) {
        let parts = secret.0.split_whitespace().filter(|part| part.len() >= 8);
        let all = parts
            .chain([secret.0.trim()])
            .filter(|part| !part.is_empty());
        for part in all.map(Secret::new).collect::<Vec<_>>() {
            if !self.whole.contains(&part) {
                self.whole.push(part);
            }
        }
        // A secret that is a part of another one would leave the rest of it.
        self.whole.sort_by_key(|secret| Reverse(secret.0.len()));
        let letters: Vec<u8> = letters(&secret.0).map(|(_, letter)| letter).collect();
        self.runs.extend(letters.array_windows::<RUN>().copied());
    }

    /// Whether a text holds one of them.
    pub(super) fn are_in(&self, text: &str) -> bool {
        // What is short is a part of many words.
        let long = |secret: &&Secret| secret.0.len() >= 8;
        self.whole
            .iter()
            .filter(long)
            .any(|secret| text.contains(&secret.0))
    }

    /// Somebody else's words in one line: bounded, nothing in them that a terminal obeys, and no secret, neither ours nor what
    /// looks like one; ours also where it is cut into pieces, or written with escapes.
    pub(super) fn words(&self, text: &str) -> String {
        let whole = text.len() <= MOST_LOOKED_AT;
        let text = &text[..text.floor_char_boundary(MOST_LOOKED_AT)];
        let mut text = self.hidden(text);
        // Twice: an error of JSON is often a text in an error of JSON.
        for _ in 0..2 {
            let read = unescaped(&text);
            if read == text {
                break;
            }
            text = self.hidden(&read);
        }
        let mut text = scrub(text);
        if !whole {
            // A secret that the bound cut in two is at the end, which is not shown.
            text.truncate(text.floor_char_boundary(text.len() / 2));
        }
        let text = text.split_whitespace().map(masked).collect::<Vec<_>>();
        excerpt(&text.join(" "), MOST_WORDS)
    }

    fn hidden(&self, text: &str) -> String {
        let text = self.whole.iter().fold(text.to_owned(), |text, secret| {
            text.replace(&secret.0, HIDDEN)
        });
        let letters: Vec<(usize, u8)> = letters(&text).collect();
        let runs = letters.array_windows::<RUN>().filter(|run| {
            let run = run.map(|(_, letter)| letter);
            self.runs.contains(&run)
        });
        let mut hidden = String::with_capacity(text.len());
        let mut shown = 0;
        for run in runs {
            // With the words around: what is left of a piece at its edges is too short to be known.
            let from = text[..run[0].0]
                .rfind(char::is_whitespace)
                .map_or(0, |at| at + 1);
            let last = run[RUN - 1].0;
            let to = text[last..]
                .find(char::is_whitespace)
                .map_or(text.len(), |at| last + at);
            if from >= shown {
                hidden += text.get(shown..from).unwrap_or_default();
                hidden += HIDDEN;
            }
            shown = shown.max(to);
        }
        hidden + text.get(shown..).unwrap_or_default()
    }
}

/// The letters and digits of a text, small, with the bytes where they stand.
fn letters(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let bytes = text
        .bytes()
        .map(|byte| byte.to_ascii_lowercase())
        .enumerate();
    bytes.filter(|(_, byte)| byte.is_ascii_alphanumeric())
}

/// A text with `\u0061`, `\/`, `\"`, `\\` and `%61` read, as far as they stand for visible ASCII.
fn unescaped(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '%']) {
        read += &rest[..at];
        rest = &rest[at..];
        let code = |from: usize, to: usize| {
            let digits = rest.get(from..to)?;
            let code = u8::try_from(u32::from_str_radix(digits, 16).ok()?).ok()?;
            code.is_ascii_graphic().then_some((char::from(code), to))
        };
        let bytes = rest.as_bytes();
        let found = match (bytes[0], bytes.get(1)) {
            (b'%', _) => code(1, 3),
            (_, Some(b'u')) => code(2, 6),
            (_, Some(it @ (b'/' | b'"' | b'\\'))) => Some((char::from(*it), 2)),
            _ => None,
        };
        let (c, length) = found.unwrap_or((char::from(bytes[0]), 1));
        read.push(c);
        rest = &rest[length..];
    }
    read + rest
}

/// A word that its writer masked in part, as servers do with a key that they do not know, masked as a whole.
fn masked(word: &str) -> &str {
    let shown = word.bytes().filter(u8::is_ascii_alphanumeric).count();
    let in_the_middle = |mark: &str| {
        let parts = word.split_once(mark);
        parts.is_some_and(|(before, after)| {
            before.ends_with(|c: char| c.is_ascii_alphanumeric())
                && after.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    };
    if (word.contains("**") && shown > 0) || in_the_middle("...") || in_the_middle("…") {
        HIDDEN
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(of: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for secret in of {
            secrets.add(&Secret::new(*secret));
        }
        secrets
    }

    #[test]
    fn no_secret_is_left_in_words() {
        let secrets = secrets(&[
            "hunter2",
            "hunter2-and-more",
            "Basic dXNlcjpwYXNz",
            "a\"b\\c",
        ]);
        for text in [
            "wrong key hunter2",
            "hunter2-and-more, hunter2!",
            "header Basic dXNlcjpwYXNz refused",
            "only dXNlcjpwYXNz",
            r#"{"key":"a\"b\\c"}"#,
            "raw a\"b\\c",
            "Incorrect API key provided: hun**er2.",
        ] {
            let words = secrets.words(text);
            for part in [
                "unter2",
                "-and-more",
                "dXNl",
                r#"a"b\c"#,
                r#"a\"b\\c"#,
                "er2",
            ] {
                assert!(!words.contains(part), "{text}: {words}");
            }
        }
        assert_eq!(format!("{:?}", secrets.whole), "[***, ***, ***, ***, ***]");
    }

    #[test]
    fn a_secret_in_pieces_or_with_escapes_is_not_shown() {
        let secrets = secrets(&["Zq7-Rt5.Yw3_Kp9/Lm2+Vb8"]);
        for text in [
            "key Zq7-Rt5.Yw3_ and Kp9/Lm2+Vb8 too",
            "key Zq7-Rt5.\nYw3_Kp9/\nLm2+Vb8",
            "key Zq7 Rt5 Yw3 Kp9 Lm2 Vb8",
            "key zq7rt5yw3kp9lm2vb8",
            r"key Zq7-Rt5.Yw3_Kp9\/Lm2\u002bVb8",
            r"key \u005aq7-\u0052t5.\u0059w3_\u004bp9\\/Lm2+Vb8",
            r"key \\u005aq7-\\u0052t5.\\u0059w3_",
            "key %5Aq7-Rt%35.Yw3%5FKp9%2FLm2%2BVb8",
            "key Z-q-7-R-t-5-Y-w-3-K-p-9",
            "key Zq7-Rt...Vb8",
            "key Zq7-R…Vb8",
        ] {
            let words = secrets.words(text).to_ascii_lowercase();
            for part in ["q7", "t5", "w3", "p9", "m2", "b8", "z-q"] {
                assert!(!words.contains(part), "{text}: {words}");
            }
            assert!(words.starts_with("key ***"), "{text}: {words}");
        }
    }

    #[test]
    fn other_words_stay() {
        let secrets = secrets(&["Zq7-Rt5.Yw3_Kp9/Lm2+Vb8"]);
        for text in [
            "wait... 100% of it, \\d and %zz and \\u00e4, ä✓…",
            "the key Zq7-x is unknown",
        ] {
            assert_eq!(secrets.words(text), text);
        }
    }

    #[test]
    fn words_are_one_bounded_line() {
        let secrets = secrets(&[]);
        assert_eq!(secrets.words("a\r\nb\t\u{1b}[31mc"), "a b \\u{1b}[31mc");
        assert!(secrets.words(&"x".repeat(1 << 20)).len() <= MOST_WORDS + '…'.len_utf8());
    }

    #[test]
    fn a_secret_that_the_bound_cuts_in_two_is_not_shown() {
        let secret = "0123456789abcdef";
        let secrets = secrets(&[secret]);
        for cut in 1..secret.len() {
            let text = format!("{}{secret}", " ".repeat(MOST_LOOKED_AT - cut));
            assert_eq!(secrets.words(&text), "");
        }
    }

    #[test]
    fn a_header_does_not_show_its_secret() {
        let header = Secret::new("hunter2").header("Bearer ").unwrap();
        assert_eq!(header.to_str().unwrap(), "Bearer hunter2");
        assert!(!format!("{header:?}").contains("hunter2"));
        assert!(Secret::new("a\nb").header("").is_none());
    }
}
