//! Colours and marks, where the receiver can show them.

use std::io::{IsTerminal as _, stderr, stdout};

use console::Style;
use wharf::core::view::StepState;

use super::environment::Environment;

/// What a stream can show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    colour: bool,
    unicode: bool,
}

impl Look {
    /// Of standard output.
    pub(super) fn of_stdout(environment: &Environment) -> Self {
        Self::of(environment, stdout().is_terminal())
    }

    /// Of standard error.
    pub(super) fn of_stderr(environment: &Environment) -> Self {
        Self::of(environment, stderr().is_terminal())
    }

    fn of(environment: &Environment, terminal: bool) -> Self {
        Self {
            colour: terminal && !environment.no_colour && !environment.dumb,
            unicode: environment.unicode,
        }
    }

    /// ASCII without colours.
    #[cfg(test)]
    pub(super) const fn plain() -> Self {
        Self {
            colour: false,
            unicode: false,
        }
    }

    /// Whether colours are wanted.
    pub(super) const fn colour(self) -> bool {
        self.colour
    }

    /// Something went well.
    pub(super) fn good(self, text: &str) -> String {
        self.paint(Style::new().green(), text)
    }

    /// Something wants attention.
    pub(super) fn warn(self, text: &str) -> String {
        self.paint(Style::new().yellow(), text)
    }

    /// Something went wrong.
    pub(super) fn bad(self, text: &str) -> String {
        self.paint(Style::new().red().bold(), text)
    }

    /// A heading.
    pub(super) fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// Less important.
    pub(super) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dim(), text)
    }

    /// A task's status, or a stage's.
    pub(super) fn status(self, status: &str) -> String {
        match status {
            "completed" => self.good(status),
            "running" => self.strong(status),
            _ => self.warn(status),
        }
    }

    /// The mark of a step.
    pub(super) fn mark(self, state: StepState) -> String {
        let (unicode, ascii) = match state {
            StepState::Completed => ("✓", "[x]"),
            StepState::Running => ("●", "[>]"),
            StepState::Failed => ("✗", "[!]"),
            StepState::Declined | StepState::Superseded => ("–", "[-]"),
            _ => ("○", "[ ]"),
        };
        self.painted(state, if self.unicode { unicode } else { ascii })
    }

    /// The mark of a step that is being performed, moving as time goes by.
    pub(super) fn spinner(self, millis: i64) -> String {
        const UNICODE: [&str; 4] = ["◐", "◓", "◑", "◒"];
        const ASCII: [&str; 4] = ["[|]", "[/]", "[-]", "[\\]"];
        let at = usize::try_from(millis / 125).unwrap_or(0) % 4;
        self.painted(
            StepState::Running,
            if self.unicode { UNICODE[at] } else { ASCII[at] },
        )
    }

    fn painted(self, state: StepState, mark: &str) -> String {
        match state {
            StepState::Completed => self.good(mark),
            StepState::Running => self.strong(mark),
            StepState::Failed => self.bad(mark),
            _ => self.faint(mark),
        }
    }

    fn paint(self, style: Style, text: &str) -> String {
        // What is wanted was decided above; `console` is not asked again.
        if self.colour {
            style.force_styling(true).apply_to(text).to_string()
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_there_is_no_escape_code() {
        let look = Look::plain();
        assert_eq!(look.bad("x"), "x");
        assert_eq!(look.mark(StepState::Failed), "[!]");
        assert!(
            Look {
                colour: true,
                unicode: true
            }
            .good("x")
            .starts_with("\u{1b}[")
        );
    }
}
