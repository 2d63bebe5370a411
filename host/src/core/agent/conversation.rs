//! What a model is shown of what has been said, and how much of it.
//!
//! Owns compaction: beyond a bound the oldest turns are left out, and the model is told that the plan in the memory is the
//! truth. Nothing is summarised, so nothing is made up; the whole conversation stands in the journal.

use crate::core::ports::{
    agent_model::{Message, ModelCall},
    model::Usage,
};

/// Bytes of text that a model is shown beside instructions and question; about 100,000 tokens.
pub const SHOWN_BYTES: usize = 400 * 1024;

/// What has been said.
#[derive(Debug, Clone, Default)]
pub struct Dialogue {
    /// Turn by turn: what the model said, and what its tools answered.
    turns: Vec<Vec<Message>>,
}

impl Dialogue {
    /// The model said something.
    pub(super) fn said(&mut self, text: String, calls: Vec<ModelCall>) {
        self.turns.push(vec![Message::Assistant { text, calls }]);
    }

    /// A tool answered the newest turn.
    pub(super) fn answered(&mut self, call: String, text: String) {
        if let Some(turn) = self.turns.last_mut() {
            turn.push(Message::Tool { call, text });
        }
    }

    /// Instructions and question first, then the newest turns that have room, whole ones only. Of the newest, which is shown in any
    /// case, the results that have no room are left out, each with a word in its place.
    #[must_use]
    pub fn shown(&self, system: &str, prompt: &str, room: usize) -> Vec<Message> {
        let mut left = room;
        let mut first = self.turns.len();
        for (place, turn) in self.turns.iter().enumerate().rev() {
            let bytes = turn.iter().map(bytes_of).sum();
            match left.checked_sub(bytes) {
                Some(rest) => left = rest,
                None if first == self.turns.len() => left = 0,
                None => break,
            }
            first = place;
        }
        let mut messages = vec![
            Message::System {
                text: system.to_owned(),
            },
            Message::User {
                text: prompt.to_owned(),
            },
        ];
        if first > 0 {
            let text = format!(
                "[The runtime has left out the first {first} turns of this conversation, which had no room. What was done in \
                 them is done. Read your plan with `plan_read` before you go on: what it says is the truth.]"
            );
            messages.push(Message::User { text });
        }
        let mut turns = self.turns[first..].iter();
        let newest = turns.next_back();
        messages.extend(turns.flatten().cloned());
        messages.extend(newest.into_iter().flat_map(|turn| fitted(turn, room)));
        messages
    }

    /// Turns so far.
    #[must_use]
    pub const fn turns(&self) -> usize {
        self.turns.len()
    }
}

/// A turn whose results take no more room than there is.
fn fitted(turn: &[Message], room: usize) -> impl Iterator<Item = Message> {
    let mut left = room;
    turn.iter().map(move |message| {
        let bytes = bytes_of(message);
        match (message, left.checked_sub(bytes)) {
            (Message::Tool { call, .. }, None) => Message::Tool {
                call: call.clone(),
                text: format!(
                    "[The tool was called. Its result of {bytes} bytes is not shown, since it has no room beside what is: ask for \
                     less, or for one at a time.]"
                ),
            },
            (message, rest) => {
                left = rest.unwrap_or(0);
                message.clone()
            }
        }
    })
}

/// Tokens of an answer whose provider does not count them: four bytes each.
pub(super) fn estimate(asked: &[Message], text: &str, calls: &[ModelCall]) -> Usage {
    let tokens = |bytes: usize| (bytes as u64).div_ceil(4);
    Usage {
        prompt_tokens: tokens(asked.iter().map(bytes_of).sum()),
        completion_tokens: tokens(text.len() + calls.iter().map(bytes_of_call).sum::<usize>()),
    }
}

fn bytes_of(message: &Message) -> usize {
    match message {
        Message::System { text } | Message::User { text } | Message::Tool { text, .. } => {
            text.len()
        }
        Message::Assistant { text, calls } => {
            text.len() + calls.iter().map(bytes_of_call).sum::<usize>()
        }
    }
}

const fn bytes_of_call(call: &ModelCall) -> usize {
    call.name.len() + call.arguments.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialogue(turns: usize, bytes: usize) -> Dialogue {
        let mut dialogue = Dialogue::default();
        for turn in 0..turns {
            let call = ModelCall {
                id: format!("c{turn}"),
                name: "look".into(),
                arguments: "{}".into(),
            };
            dialogue.said(String::new(), vec![call]);
            dialogue.answered(format!("c{turn}"), "x".repeat(bytes));
        }
        dialogue
    }

    fn calls(shown: &[Message]) -> usize {
        let is_call = |message: &&Message| matches!(message, Message::Assistant { .. });
        shown.iter().filter(is_call).count()
    }

    #[test]
    fn what_has_room_is_shown_whole() {
        let shown = dialogue(3, 100).shown("s", "p", 1000);
        assert_eq!((shown.len(), calls(&shown)), (2 + 6, 3));
        assert_eq!(
            shown[..2],
            [
                Message::System { text: "s".into() },
                Message::User { text: "p".into() }
            ]
        );
    }

    #[test]
    fn the_oldest_turns_are_left_out_and_the_plan_is_named_as_the_truth() {
        let shown = dialogue(30, 100).shown("s", "p", 1000);
        assert_eq!(calls(&shown), 9);
        assert!(
            matches!(&shown[2], Message::User { text } if text.contains("first 21 turns") && text.contains("`plan_read`"))
        );
        assert!(matches!(&shown[4], Message::Tool { call, .. } if call == "c21"));
    }

    #[test]
    fn of_the_newest_turn_the_results_are_shown_that_have_room() {
        let mut dialogue = dialogue(2, 600);
        for result in ["a", "b", "c"] {
            dialogue.answered(result.to_owned(), result.repeat(300));
        }
        let shown = dialogue.shown("s", "p", 1000);
        assert_eq!(calls(&shown), 1);
        let told = |call: &str| {
            let of_call = |message: &&Message| matches!(message, Message::Tool { call: id, .. } if id == call);
            bytes_of(shown.iter().find(of_call).unwrap())
        };
        assert_eq!(["c1", "a"].map(told), [600, 300]);
        assert!(["b", "c"].map(told).iter().all(|bytes| *bytes < 200));
        assert!(shown.iter().map(bytes_of).sum::<usize>() < 2000);
    }

    #[test]
    fn tokens_that_nobody_counts_are_estimated_from_the_text() {
        let asked = [Message::User {
            text: "x".repeat(9),
        }];
        let usage = estimate(&asked, "abcd", &[]);
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (3, 1));
    }
}
