//! What is measured: orders, each with the same course.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wharf::Digest;

/// The course that every order of a measurement takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scenario {
    /// Nothing changes: one plan, four steps.
    Stable,
    /// The standard rate rises while the order is packed: a failed step, a second plan, five calls in all. The rate is one
    /// for all orders, so only one of them can be under way.
    PriceChange,
    /// Somebody packs the order by hand as soon as it is reserved: a failed step, a second plan, four calls in all.
    PackedByHand,
}

/// A plan: tools and what is expected of each, one after the other.
type Plan = &'static [(&'static str, &'static str)];

/// The names of one order and its task. All have the same length, so that one stands for another in recorded text.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) task: String,
    pub(crate) order: String,
}

impl Names {
    pub(crate) fn of(number: u32) -> Self {
        Self {
            task: format!("task-{number:06}"),
            order: format!("ORDER-{number:06}"),
        }
    }
}

impl Scenario {
    pub(crate) const ALL: [Self; 3] = [Self::PriceChange, Self::PackedByHand, Self::Stable];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::PriceChange => "price-change",
            Self::PackedByHand => "packed-by-hand",
        }
    }

    /// The trusted SQL that fills the plugin's tables, and whose triggers reset them after each order.
    pub(crate) const fn seed(self) -> &'static str {
        match self {
            Self::Stable => include_str!("../seed/stable.sql"),
            Self::PriceChange => include_str!("../seed/price-change.sql"),
            Self::PackedByHand => include_str!("../seed/packed-by-hand.sql"),
        }
    }

    /// Whether orders that run at once leave each other alone.
    pub(crate) const fn runs_at(self, lanes: u32) -> bool {
        match self {
            Self::Stable | Self::PackedByHand => true,
            Self::PriceChange => lanes == 1,
        }
    }

    /// The plans that an order takes, each but the last ended by a change.
    pub(crate) const fn plans(self) -> &'static [Plan] {
        const WHOLE: Plan = &[
            ("reserve_stock", "reserved"),
            ("pack_order", "packed"),
            ("ship_standard", "shipped"),
            ("read_receipt", "receipt"),
        ];
        match self {
            Self::Stable => &[WHOLE],
            Self::PriceChange => &[
                WHOLE,
                &[("ship_economy", "shipped"), ("read_receipt", "receipt")],
            ],
            Self::PackedByHand => &[
                WHOLE,
                &[("ship_standard", "shipped"), ("read_receipt", "receipt")],
            ],
        }
    }

    /// The request of one order.
    pub(crate) fn request(self, names: &Names, component: &Digest) -> String {
        json!({
            "id": names.task, "tenant": "bench", "principal": "operator", "goal": GOAL,
            "plugin": {"name": "fulfillment", "version": env!("CARGO_PKG_VERSION"), "digest": component},
            "budgets": {"maxPlans": 3, "maxActions": 12, "deadlineSeconds": 600},
            "input": {"orderId": names.order, "quantity": 2, "maxShippingCents": 500},
        })
        .to_string()
    }

    /// Writes the model's answers, which are the same for every order.
    pub(crate) fn write_script(self, path: &Path) -> Result<()> {
        let lines: Vec<_> = self.plans().iter().map(|plan| answer(plan)).collect();
        Ok(std::fs::write(path, lines.concat())?)
    }
}

const GOAL: &str = "Ship the order and bring its receipt.";

/// One line of a script: a plan whose steps follow one another.
fn answer(steps: &[(&str, &str)]) -> String {
    let id = |index: usize| format!("step-{}", index + 1);
    let steps: Vec<_> = steps
        .iter()
        .enumerate()
        .map(|(index, (tool, expected))| {
            let before: Vec<_> = index.checked_sub(1).map(id).into_iter().collect();
            json!({"id": id(index), "tool": tool, "dependsOn": before, "expected": expected})
        })
        .collect();
    let plan = json!({"goal": GOAL, "status": "ready", "reason": "Scripted.", "steps": steps});
    let line = json!({"text": plan.to_string(), "finishReason": "stop"});
    format!("{line}\n")
}
