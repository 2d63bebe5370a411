//! What the process is given by its surroundings, read once.

use std::{ffi::OsString, path::PathBuf};

use super::secret::Secret;

/// Arguments, variables and places. The only file that reads the environment.
#[derive(Debug)]
pub(super) struct Environment {
    /// The arguments, the program's name first.
    pub(super) arguments: Vec<OsString>,
    /// The program's own file.
    pub(super) executable: Option<PathBuf>,
    /// Where compiled plugins are kept: `$XDG_CACHE_HOME/wharf`, else `~/.cache/wharf`.
    pub(super) compile_cache: Option<PathBuf>,
    /// Where temporary folders belong.
    pub(super) temporary: PathBuf,
    /// `WHARF_LOG`: which log lines are wanted.
    pub(super) log_filter: Option<String>,
    /// `WHARF_REDIS_PASSWORD`: for a Redis whose address has none.
    pub(super) redis_password: Option<Secret>,
    /// `WHARF__...`: keys of the configuration, and what they are to be.
    pub(super) config: Vec<(String, String)>,
    /// `NO_COLOR`: colours are not wanted.
    pub(super) no_colour: bool,
    /// `TERM=dumb`, or no `TERM`: the terminal obeys no escape codes.
    pub(super) dumb: bool,
    /// Whether the locale is one of UTF-8.
    pub(super) unicode: bool,
}

impl Environment {
    /// Reads it.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line reads the environment, and reads it here alone"
    )]
    pub(super) fn read() -> Self {
        // An empty variable counts as unset, as each of the conventions followed here has it.
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
        let cache = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")));
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(text);
        Self {
            arguments: std::env::args_os().collect(),
            executable: std::env::current_exe().ok(),
            compile_cache: cache.map(|folder| folder.join("wharf")),
            temporary: std::env::temp_dir(),
            log_filter: text("WHARF_LOG"),
            redis_password: text("WHARF_REDIS_PASSWORD").map(Secret::new),
            config: std::env::vars_os()
                .filter_map(|(name, value)| {
                    let name = name.into_string().ok()?;
                    let value = value.to_string_lossy().into_owned();
                    name.starts_with("WHARF__").then_some((name, value))
                })
                .collect(),
            no_colour: variable("NO_COLOR").is_some(),
            dumb: text("TERM").is_none_or(|terminal| terminal == "dumb"),
            unicode: locale.is_some_and(|locale| is_utf8(&locale)),
        }
    }

    /// What the variable of that name holds, whose name a configuration gives: a secret.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line reads the environment, and reads it here alone"
    )]
    pub(super) fn secret(name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_says_whether_it_is_one_of_utf8() {
        assert!(is_utf8("de_DE.UTF-8") && is_utf8("C.utf8"));
        assert!(!is_utf8("C") && !is_utf8("POSIX") && !is_utf8("de_DE.ISO-8859-1"));
    }
}
