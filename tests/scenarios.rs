//! The five scenarios of the demo, from request to report: once through the command line, once through the library.

use serde_json::{Value, json};
use wharf::Planner;
use wharf_tests::{
    Workspace,
    demo::{self, TASK},
    library,
    script::expected,
};

/// Stable: one plan, no change.
#[test]
fn a_stable_order_ships_with_the_standard_carrier() {
    Expected {
        status: "completed",
        plans: json!([ready(
            1,
            at("new", 10, 300, 400, None),
            &[
                "reserve_stock",
                "pack_order",
                "ship_standard",
                "read_receipt"
            ]
        )]),
        completed: &[
            "1 step-1 reserve_stock",
            "1 step-2 pack_order",
            "1 step-3 shipment",
            "1 step-4 read_receipt",
        ],
        changes: json!([]),
        calls: (1, 4),
        result: shipment("standard", 300),
        ledger: &[
            "reserve_stock|reserve_stock|6",
            "pack_order|pack_order|8",
            "shipment|ship_standard|10",
            "read_receipt|read_receipt|12",
        ],
        tables: [
            "ARTICLE-1|8",
            "economy|400 standard|300",
            "ORDER-1001|shipped|2|standard|300",
        ],
    }
    .holds_for("stable");
}

/// Price change: a second plan for what remains.
#[test]
fn a_carrier_that_has_become_too_dear_is_replaced_in_a_second_plan() {
    Expected {
        status: "completed",
        plans: json!([
            ready(
                1,
                at("new", 10, 300, 400, None),
                &[
                    "reserve_stock",
                    "pack_order",
                    "ship_standard",
                    "read_receipt"
                ]
            ),
            ready(
                2,
                at("packed", 8, 900, 400, None),
                &["ship_economy", "read_receipt"]
            ),
        ]),
        completed: &[
            "1 step-1 reserve_stock",
            "1 step-2 pack_order",
            "2 step-1 shipment",
            "2 step-2 read_receipt",
        ],
        changes: change(
            "environment-changed",
            "the standard carrier takes 900 cents now, more than 500",
        ),
        calls: (2, 5),
        result: shipment("economy", 400),
        ledger: &[
            "reserve_stock|reserve_stock|6",
            "pack_order|pack_order|8",
            "shipment|ship_economy|16",
            "read_receipt|read_receipt|18",
        ],
        tables: [
            "ARTICLE-1|8",
            "economy|400 standard|900",
            "ORDER-1001|shipped|2|economy|400",
        ],
    }
    .holds_for("price-change");
}

/// Unavailable: a person is asked, what was done stays.
#[test]
fn a_packed_order_that_no_carrier_takes_is_kept_for_a_person() {
    Expected {
        status: "needs-human",
        plans: json!([
            ready(
                1,
                at("new", 10, 300, 400, None),
                &[
                    "reserve_stock",
                    "pack_order",
                    "ship_standard",
                    "read_receipt"
                ]
            ),
            needs_human(2, at("packed", 8, 900, 900, None)),
        ]),
        completed: &["1 step-1 reserve_stock", "1 step-2 pack_order"],
        changes: change(
            "environment-changed",
            "the standard carrier takes 900 cents now, more than 500",
        ),
        calls: (2, 3),
        result: Value::Null,
        ledger: &["reserve_stock|reserve_stock|6", "pack_order|pack_order|8"],
        tables: [
            "ARTICLE-1|8",
            "economy|900 standard|900",
            "ORDER-1001|packed|2|-|-",
        ],
    }
    .holds_for("unavailable");
}

/// No stock: a person is asked before any effect.
#[test]
fn without_stock_a_person_is_asked_before_anything_happens() {
    Expected {
        status: "needs-human",
        plans: json!([needs_human(1, at("new", 0, 300, 400, None))]),
        completed: &[],
        changes: json!([]),
        calls: (1, 0),
        result: Value::Null,
        ledger: &[],
        tables: ["ARTICLE-1|0", "economy|400 standard|300", ""],
    }
    .holds_for("no-stock");
}

/// Lost response, X2: the effect is found, and nothing is done twice.
#[test]
fn after_a_lost_response_the_shipment_is_adopted_and_only_the_receipt_remains() {
    Expected {
        status: "completed",
        plans: json!([
            ready(
                1,
                at("new", 10, 300, 400, None),
                &[
                    "reserve_stock",
                    "pack_order",
                    "ship_standard",
                    "read_receipt"
                ]
            ),
            ready(
                2,
                at("shipped", 8, 300, 400, Some(("standard", 300))),
                &["read_receipt"]
            ),
        ]),
        completed: &[
            "1 step-1 reserve_stock",
            "1 step-2 pack_order",
            "1 step-3 shipment replayed",
            "2 step-1 read_receipt",
        ],
        changes: change("outcome-unknown", "the response was lost after the commit"),
        calls: (2, 4),
        result: shipment("standard", 300),
        ledger: &[
            "reserve_stock|reserve_stock|6",
            "pack_order|pack_order|8",
            "shipment|ship_standard|10",
            "read_receipt|read_receipt|18",
        ],
        tables: [
            "ARTICLE-1|8",
            "economy|400 standard|300",
            "ORDER-1001|shipped|2|standard|300",
        ],
    }
    .holds_for("lost-response");
}

/// What a scenario leads to.
struct Expected<'a> {
    status: &'a str,
    plans: Value,
    /// Version, step, operation key.
    completed: &'a [&'a str],
    changes: Value,
    /// Model calls and tool calls.
    calls: (u64, u64),
    result: Value,
    /// Operation key, tool, and the record that intended it.
    ledger: &'a [&'a str],
    /// The rows of `inventory`, `rates` and `orders`.
    tables: [&'a str; 3],
}

impl Expected<'_> {
    fn holds_for(&self, scenario: &str) {
        let workspace = Workspace::new();
        let _ = demo::demo(&workspace, scenario)
            .run()
            .exits(demo::exit_code(scenario));
        self.holds_in(&workspace, &workspace.report(TASK));

        let workspace = Workspace::new();
        let finished = library::finish(
            &library::host(workspace.path()),
            Planner::Search,
            demo::task(scenario),
        );
        assert_eq!(finished.status.code(), self.status);
        self.holds_in(&workspace, &serde_json::from_str(&finished.report).unwrap());
    }

    fn holds_in(&self, workspace: &Workspace, report: &Value) {
        assert_eq!(report["status"], self.status);
        assert_eq!(report["stopReason"], self.status);
        assert_eq!(report["plans"], self.plans);
        assert_eq!(completed(report), self.completed);
        assert_eq!(report["changes"], self.changes);
        assert_eq!(report["usage"]["modelCalls"], self.calls.0);
        assert_eq!(report["usage"]["actionCalls"], self.calls.1);
        assert_eq!(report["result"], self.result);
        assert_eq!(report["details"], self.details());

        let rows = workspace.ledger();
        let keys: Vec<_> = rows
            .iter()
            .map(|row| format!("{}|{}|{}", row.operation_key, row.tool, row.sequence))
            .collect();
        assert_eq!(keys, self.ledger);
        assert_eq!(
            workspace.select("SELECT * FROM inventory"),
            lines(self.tables[0])
        );
        assert_eq!(
            workspace.select("SELECT * FROM rates ORDER BY carrier"),
            lines(self.tables[1])
        );
        assert_eq!(
            workspace.select("SELECT * FROM orders"),
            lines(self.tables[2])
        );
    }

    /// Only what stops a task has details.
    fn details(&self) -> Value {
        match self.status {
            "needs-human" => {
                json!([{"code": "needs-human", "message": NOTHING_ACCEPTED, "stepId": null}])
            }
            _ => json!([]),
        }
    }
}

const ACCEPTED: &str = "the first sequence of tools, shortest first, that the domain accepts";
const NOTHING_ACCEPTED: &str = "the domain accepts no sequence of its tools";

/// An accepted plan of the search: its tools in a chain.
fn ready(version: u32, snapshot: Value, tools: &[&str]) -> Value {
    let step = |(at, tool): (usize, &&str)| {
        let before = (at > 0).then(|| format!("step-{at}"));
        json!({"id": format!("step-{}", at + 1), "tool": tool, "dependsOn": Vec::from_iter(before), "expected": expected(tool)})
    };
    let steps: Vec<_> = tools.iter().enumerate().map(step).collect();
    plan(version, snapshot, "ready", ACCEPTED, &steps)
}

fn needs_human(version: u32, snapshot: Value) -> Value {
    plan(version, snapshot, "needs-human", NOTHING_ACCEPTED, &[])
}

fn plan(version: u32, snapshot: Value, status: &str, reason: &str, steps: &[Value]) -> Value {
    let goal = demo::request()["goal"].clone();
    json!({"version": version, "snapshot": snapshot, "plan": {"goal": goal, "status": status, "reason": reason, "steps": steps}})
}

/// A snapshot of the order.
fn at(state: &str, stock: u32, standard: u32, economy: u32, shipped: Option<(&str, u32)>) -> Value {
    let (carrier, cost) = shipped.unzip();
    json!({"state": state, "stock": stock, "standard": standard, "economy": economy, "carrier": carrier, "cost": cost})
}

fn shipment(carrier: &str, cost: u32) -> Value {
    json!({"orderId": "ORDER-1001", "quantity": 2, "carrier": carrier, "cost": cost, "tracking": "TRK-A5E41B674276D396"})
}

/// The one change, at the shipment of the first plan.
fn change(code: &str, message: &str) -> Value {
    json!([{"version": 1, "stepId": "step-3", "code": code, "message": message}])
}

/// A line for each completed step; that the whole step is told, its plan shows.
fn completed(report: &Value) -> Vec<String> {
    let entries = report["completed"].as_array().unwrap();
    let line = |entry: &Value| {
        let version = entry["version"].as_u64().unwrap();
        let plans = report["plans"].as_array().unwrap();
        let plan = plans
            .iter()
            .find(|plan| plan["version"] == version)
            .unwrap();
        let steps = plan["plan"]["steps"].as_array().unwrap();
        assert!(steps.contains(&entry["step"]), "{entry}");
        assert_eq!(entry["declined"], false);
        let replayed = if entry["replayed"] == true {
            " replayed"
        } else {
            ""
        };
        let (id, key) = (&entry["step"]["id"], &entry["operationKey"]);
        format!(
            "{version} {} {}{replayed}",
            id.as_str().unwrap(),
            key.as_str().unwrap()
        )
    };
    entries.iter().map(line).collect()
}

fn lines(rows: &str) -> Vec<&str> {
    rows.split_whitespace().collect()
}
