//! Text from elsewhere, made safe to show.

/// The text with everything escaped that a terminal could obey, that would break a line, or that changes the order of
/// reading.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        let reorders = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if c.is_control() || reorders {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// A word of a command line, quoted for a POSIX shell where it needs to be.
pub(super) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(
            escaped("\u{1b}[2J\u{9b}m\u{202e}\tä✓"),
            "\\u{1b}[2J\\u{9b}m\\u{202e}\\tä✓"
        );
    }

    #[test]
    fn a_word_is_quoted_only_where_it_must_be() {
        assert_eq!(shell_word("/tmp/a-b.c"), "/tmp/a-b.c");
        assert_eq!(shell_word("it's a"), r"'it'\''s a'");
        assert_eq!(shell_word(""), "''");
    }
}
