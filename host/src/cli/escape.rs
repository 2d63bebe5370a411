//! Text made safe: for a terminal, and for a shell.

pub(super) use wharf::words::escape::{escaped, excerpt};

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
    fn a_word_is_quoted_only_where_it_must_be() {
        assert_eq!(shell_word("/tmp/a-b.c"), "/tmp/a-b.c");
        assert_eq!(shell_word("it's a"), r"'it'\''s a'");
        assert_eq!(shell_word(""), "''");
    }
}
