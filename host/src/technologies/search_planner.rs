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
        let plan = match accepted {
            Some(plan) => plan,
            // To escalate after half a search would blame the domain for a fault of ours.
            None if candidates.next().is_some() => {
                return Err(SearchError::Unfinished.into());
            }
            None if candidates.bounded => {
                return Ok(Answer::SearchBound {
                    candidates: candidates.tried,
                });
            }
            None => Plan {
                goal: prompt.request.goal.clone(),
                status: PlanStatus::NeedsHuman,
                reason: NOTHING.to_owned(),
                steps: Vec::new(),
            },
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
    #[error("the search ended before every candidate was tried")]
    Unfinished,
}

impl Fault for SearchError {
    fn facts(&self) -> Facts {
        match self {
            Self::WorkingSet(_) => Facts::new(
                "working-set-unreadable",
                Kind::Corrupt,
                "clear this task's entry in the Context, then resume: it is rebuilt",
            ),
            Self::Unfinished => Facts::new(
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

/// Plans in the order of the search, [`MAX_CANDIDATES`] at most.
struct Candidates<'a> {
    goal: &'a str,
    tools: Vec<&'a Tool>,
    sequences: ToolSequences,
    tried: u32,
    /// There was more to try, but the bound was reached.
    bounded: bool,
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
            bounded: false,
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
        let sequence = self.sequences.next()?;
        if self.tried == MAX_CANDIDATES {
            self.bounded = true;
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

#[cfg(test)]
mod tests {
    use super::{
        super::fixtures::{assert_error, request},
        *,
    };
    use crate::{
        core::{
            contract::{
                Completed, Conclusion, Descriptor, Effect, Failure, OperationKey, Subject,
                Violation,
            },
            ports::{
                business::Sql,
                domain::{ArgumentsCheck, Declared, PreparedStep},
            },
            request::Request,
        },
        words::json::JsonText,
    };

    /// A domain that is only searched.
    struct Searched {
        descriptor: Descriptor,
        accepts: fn(&Plan) -> bool,
        /// Stops asking after so many.
        patience: usize,
    }

    impl Declared for Searched {
        fn descriptor(&self) -> &Descriptor {
            &self.descriptor
        }

        fn arguments_check(&self) -> Box<dyn ArgumentsCheck + '_> {
            unreachable!()
        }
    }

    impl Domain for Searched {
        fn first_accepted(
            &self,
            _: &Request,
            snapshot: &JsonText,
            candidates: &mut dyn Iterator<Item = Plan>,
        ) -> Result<Option<Plan>, Error> {
            assert_eq!(snapshot.as_str(), SNAPSHOT);
            let mut candidates = candidates.take(self.patience);
            Ok(candidates.find(|plan| (self.accepts)(plan)))
        }

        fn check_task(&self, _: &Request) -> Result<Result<Subject, Vec<Violation>>, Error> {
            unreachable!()
        }

        fn operation_key(
            &self,
            _: &Request,
            _: &str,
            _: Option<&JsonText>,
        ) -> Result<Option<OperationKey>, Error> {
            unreachable!()
        }

        fn check_plan(&self, _: &Request, _: &JsonText, _: &Plan) -> Result<Vec<Violation>, Error> {
            unreachable!()
        }

        fn conclude(
            &self,
            _: &Request,
            _: &JsonText,
            _: &[Completed],
        ) -> Result<Result<Conclusion, Vec<Violation>>, Error> {
            unreachable!()
        }

        fn snapshot(
            &self,
            _: &Request,
            _: Arc<dyn Sql>,
        ) -> Result<Result<JsonText, Failure>, Error> {
            unreachable!()
        }

        fn prepare(&self, _: &Request, _: &Step) -> Result<Box<dyn PreparedStep>, Error> {
            unreachable!()
        }
    }

    const SNAPSHOT: &str = r#"{ "a" : 1.0 }"#;

    fn domain(names: &[&str], max_steps: u32, accepts: fn(&Plan) -> bool) -> Searched {
        let tool = |name: &&str| Tool {
            name: (*name).to_owned(),
            description: String::new(),
            effect: Effect::Write,
            postcondition: format!("{name}-holds"),
            arguments: name
                .starts_with("with-")
                .then(|| JsonText::of(&serde_json::json!({}))),
        };
        Searched {
            descriptor: Descriptor {
                name: "p".into(),
                version: "1".into(),
                instructions: String::new(),
                input_schema: JsonText::of(&serde_json::json!({})),
                tools: names.iter().map(tool).collect(),
                migrations: Vec::new(),
                max_steps,
            },
            accepts,
            patience: usize::MAX,
        }
    }

    fn search_in(domain: Searched, working_set: &str) -> Result<Answer, Error> {
        let (request, descriptor) = (request("the goal"), domain.descriptor.clone());
        let prompt = Prompt {
            request: &request,
            descriptor: &descriptor,
            working_set,
            answers: 0,
            failures: 0,
        };
        let planner = SearchPlanner::new(Arc::new(domain));
        let checked = planner.check(&prompt);
        let answer = planner.sample(&prompt, &|_| ()).now_or_never().unwrap();
        if checked.is_err() {
            assert!(answer.is_err());
        }
        answer
    }

    fn search(domain: Searched) -> Result<Answer, Error> {
        let working_set = serde_json::json!({"request": {}, "snapshot": SNAPSHOT}).to_string();
        search_in(domain, &working_set)
    }

    fn tools(answer: Answer) -> (PlanStatus, Vec<String>) {
        let Answer::Text { text, .. } = answer else {
            panic!("{answer:?}")
        };
        let plan: Plan = serde_json::from_str(&text).unwrap();
        let tools = plan.steps.into_iter().map(|step| step.tool);
        (plan.status, tools.collect())
    }

    #[test]
    fn the_accepted_plan_is_proposed_to_the_letter() {
        let domain = domain(&["a", "b"], 2, |plan| plan.steps.len() == 2);
        let expected = concat!(
            r#"{"goal":"the goal","status":"ready","#,
            r#""reason":"the first sequence of tools, shortest first, that the domain accepts","steps":["#,
            r#"{"id":"step-1","tool":"a","dependsOn":[],"expected":"a-holds"},"#,
            r#"{"id":"step-2","tool":"b","dependsOn":["step-1"],"expected":"b-holds"}]}"#
        );
        assert_eq!(
            search(domain).unwrap(),
            Answer::Text {
                text: expected.to_owned(),
                finish_reason: "stop".to_owned(),
                usage: None
            }
        );
    }

    #[test]
    fn the_empty_plan_is_tried_first_and_shorter_plans_before_longer_ones() {
        let all = domain(&["a", "b"], 2, |_| true);
        assert_eq!(tools(search(all).unwrap()), (PlanStatus::Ready, vec![]));
        let ends_in_b = domain(&["a", "b", "c"], 3, |plan| {
            plan.steps.last().is_some_and(|step| step.tool == "b")
        });
        assert_eq!(tools(search(ends_in_b).unwrap()).1, ["b"]);
    }

    #[test]
    fn a_search_to_the_end_without_a_plan_asks_a_person() {
        let none = domain(&["a", "b", "c", "d", "e"], 5, |_| false);
        assert_eq!(
            tools(search(none).unwrap()),
            (PlanStatus::NeedsHuman, vec![])
        );
        let no_tools = domain(&[], 5, |_| false);
        assert_eq!(tools(search(no_tools).unwrap()).0, PlanStatus::NeedsHuman);
    }

    #[test]
    fn no_plan_is_longer_than_the_plugin_allows() {
        let long = domain(&["a", "b", "c"], 2, |plan| plan.steps.len() > 2);
        assert_eq!(tools(search(long).unwrap()).0, PlanStatus::NeedsHuman);
    }

    #[test]
    fn a_tool_that_takes_arguments_is_left_out() {
        let domain = domain(&["a", "with-arguments", "b"], 3, |plan| {
            plan.steps.len() == 2 || plan.steps.iter().any(|step| step.tool.starts_with("with"))
        });
        assert_eq!(tools(search(domain).unwrap()).1, ["a", "b"]);
    }

    const MANY: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

    #[test]
    fn the_bound_is_told_as_such_and_never_as_an_escalation() {
        assert_eq!(
            search(domain(&MANY, 10, |_| false)).unwrap(),
            Answer::SearchBound { candidates: 10_000 }
        );
    }

    #[test]
    fn candidate_10_000_is_tried_and_10_001_is_not() {
        // 5861 are at most four long; b, e, d, g begin after another 3024 + 3 * 336 + 2 * 42 + 3 * 6.
        let last = domain(&MANY, 10, |plan| {
            let tools = plan.steps.iter().map(|step| &*step.tool);
            tools.eq(["b", "e", "d", "g", "i"])
        });
        assert_eq!(tools(search(last).unwrap()).1, ["b", "e", "d", "g", "i"]);
        let beyond = domain(&MANY, 10, |plan| {
            let tools = plan.steps.iter().map(|step| &*step.tool);
            tools.eq(["b", "e", "d", "g", "j"])
        });
        assert_eq!(
            search(beyond).unwrap(),
            Answer::SearchBound { candidates: 10_000 }
        );
    }

    #[test]
    fn a_domain_that_gives_up_half_way_is_no_reason_to_ask_a_person() {
        let mut impatient = domain(&["a", "b"], 2, |_| false);
        impatient.patience = 3;
        assert_error(
            search(impatient).unwrap_err(),
            "search-unfinished",
            Kind::Bug,
        );
    }

    #[test]
    fn a_working_set_without_a_snapshot_is_told_before_a_call_is_made() {
        for bad in [
            "",
            "{}",
            r#"{"snapshot":{"a":1}}"#,
            r#"{"snapshot":"not json"}"#,
            r#"{"snapshot":"{\"a\":1,\"a\":2}"}"#,
            r#"{"snapshot":"1","snapshot":"2"}"#,
        ] {
            let error = search_in(domain(&["a"], 1, |_| true), bad).unwrap_err();
            assert_error(error, "working-set-unreadable", Kind::Corrupt);
        }
    }
}
