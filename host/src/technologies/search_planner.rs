//! A planner without a model: tries every sequence of tools until the domain accepts one.
//!
//! Owns which candidates there are and what is proposed. It never judges a plan and follows no preference: the first that
//! the plugin's own validator accepts is proposed. A tool that takes arguments is left out, since a search cannot know
//! them; so for a plugin with such tools it may find nothing where a model would, and then proposes `needs-human`, which
//! the plugin refuses if a person is not needed. It works on the thread that polls it. Called by the core through [`Model`].

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use serde::Deserialize;

use super::tool_sequences::ToolSequences;
use crate::{
    core::{
        contract::{Plan, PlanStatus, Step, Tool},
        ports::{
            domain::Domain,
            model::{Answer, Model, Prompt},
        },
    },
    words::{
        error::{Error, Facts, Fault, Kind},
        id::StepId,
        json::JsonText,
    },
};

/// The most candidates that one search tries.
pub const MAX_CANDIDATES: u32 = 10_000;

const FOUND: &str = "the first sequence of tools, shortest first, that the domain accepts";
const NOTHING: &str = "the domain accepts no sequence of its tools";

/// Searches the tools of one plugin.
pub struct SearchPlanner {
    domain: Arc<dyn Domain>,
}

impl SearchPlanner {
    /// A search over the tools of `domain`.
    #[must_use]
    pub fn new(domain: Arc<dyn Domain>) -> Self {
        Self { domain }
    }

    fn search(&self, prompt: &Prompt<'_>) -> Result<Answer, Error> {
        let snapshot = snapshot(prompt)?;
        let mut candidates = Candidates::new(prompt);
        let accepted = self
            .domain
            .first_accepted(prompt.request, &snapshot, &mut candidates)?;
        let plan = match (accepted, candidates.end) {
            (Some(plan), _) => plan,
            (None, Some(End::Bound)) => {
                return Ok(Answer::SearchBound {
                    candidates: candidates.tried,
                });
            }
            (None, Some(End::Exhausted)) => Plan {
                goal: prompt.request.goal.clone(),
                status: PlanStatus::NeedsHuman,
                reason: NOTHING.to_owned(),
                steps: Vec::new(),
            },
            // To escalate after half a search would blame the domain for a fault of ours.
            (None, None) => {
                return Err(SearchError::Unfinished {
                    tried: candidates.tried,
                }
                .into());
            }
        };
        Ok(Answer::Text {
            text: JsonText::of(&plan).as_str().to_owned(),
            finish_reason: "stop".to_owned(),
            usage: None,
        })
    }
}

impl Model for SearchPlanner {
    fn check(&self, prompt: &Prompt<'_>) -> Result<(), Error> {
        snapshot(prompt)?;
        Ok(())
    }

    fn sample<'a>(
        &'a self,
        prompt: &'a Prompt<'a>,
        _deltas: &'a (dyn Fn(&str) + Sync),
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        async move { self.search(prompt) }.boxed()
    }
}

/// Why a search cannot be made or did not end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The working set has no snapshot.
    #[error("the working set holds no snapshot to search from")]
    WorkingSet(#[source] serde_json::Error),
    /// The domain stopped asking for candidates without accepting one.
    #[error("the search was given up after {tried} candidates")]
    Unfinished {
        /// Candidates tried.
        tried: u32,
    },
}

impl Fault for SearchError {
    fn facts(&self) -> Facts {
        match self {
            Self::WorkingSet(_) => Facts::new(
                "working-set-unreadable",
                Kind::Corrupt,
                "clear this task's entry in the Context, then resume: it is rebuilt",
            ),
            Self::Unfinished { .. } => Facts::new(
                "search-unfinished",
                Kind::Bug,
                "report it, with the plugin and the request",
            ),
        }
    }
}

/// The part of a working set that the search needs. The snapshot stands there as a string, as the plugin wrote it.
#[derive(Deserialize)]
struct WorkingSet {
    snapshot: JsonText,
}

fn snapshot(prompt: &Prompt<'_>) -> Result<JsonText, SearchError> {
    serde_json::from_str(prompt.working_set)
        .map(|WorkingSet { snapshot }| snapshot)
        .map_err(SearchError::WorkingSet)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There was nothing more to try.
    Exhausted,
    /// There was more, but the bound was reached.
    Bound,
}

/// Plans in the order of the search, [`MAX_CANDIDATES`] at most.
struct Candidates<'a> {
    goal: &'a str,
    tools: Vec<&'a Tool>,
    sequences: ToolSequences,
    tried: u32,
    end: Option<End>,
}

impl<'a> Candidates<'a> {
    fn new(prompt: &Prompt<'a>) -> Self {
        let tools: Vec<_> = prompt
            .descriptor
            .tools
            .iter()
            .filter(|tool| tool.arguments.is_none())
            .collect();
        let longest = usize::try_from(prompt.descriptor.max_steps).unwrap_or(usize::MAX);
        Self {
            goal: &prompt.request.goal,
            sequences: ToolSequences::new(tools.len(), longest),
            tools,
            tried: 0,
            end: None,
        }
    }

    fn plan(&self, sequence: &[usize]) -> Plan {
        let step = |(place, at): (usize, &usize)| Step {
            id: step_id(place + 1),
            tool: self.tools[*at].name.clone(),
            depends_on: (place > 0).then(|| step_id(place)).into_iter().collect(),
            expected: self.tools[*at].postcondition.clone(),
            arguments: None,
        };
        Plan {
            goal: self.goal.to_owned(),
            status: PlanStatus::Ready,
            reason: FOUND.to_owned(),
            steps: sequence.iter().enumerate().map(step).collect(),
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = Plan;

    fn next(&mut self) -> Option<Plan> {
        let Some(sequence) = self.sequences.next() else {
            self.end.get_or_insert(End::Exhausted);
            return None;
        };
        if self.tried == MAX_CANDIDATES {
            self.end = Some(End::Bound);
            return None;
        }
        self.tried += 1;
        Some(self.plan(&sequence))
    }
}

fn step_id(number: usize) -> StepId {
    format!("step-{number}")
        .parse()
        .expect("a number after `step-` is an identifier")
}
