//! The native floor: what a program costs that does the same for an order by hand.
//!
//! Plain rusqlite, prepared statements, one connection for each of two files. It runs the statements of the plugin and of
//! the host's ledger and anchors, adds the very records that the host wrote, and commits as often, each commit durable before
//! the next move of its order. It has no plugin and no sandbox, builds and hashes no record, reads nothing back to verify it.

use std::{fs, path::Path, time::Instant};

use anyhow::{Result, bail, ensure};
use rusqlite::{Connection, OptionalExtension as _, params};
use wharf::sqlite::migrations::{BUSINESS, MEMORY};

use crate::{
    contender::{Contender, Setup, Timed},
    database::{Commits, Database, Ending, run},
    files::Files,
    lanes,
    recording::{LedgerRow, Move, Record, Recording},
    scenario::Names,
};

const PLUGIN_TABLES: &str = include_str!("../../plugins/fulfillment/migrations/0001_orders.sql");

/// Two databases, and perhaps files.
pub(crate) struct Floor {
    business: Database,
    memory: Database,
    recording: String,
    files: Option<Files>,
}

/// An order's recording, and its names.
pub(crate) struct Order {
    names: Names,
    moves: Vec<Move>,
}

impl Floor {
    pub(crate) fn open(setup: &Setup, workspace: &Path, commits: Commits) -> Result<Self> {
        let is_new = !workspace.exists();
        fs::create_dir_all(workspace)?;
        let business = Database::open(&workspace.join("business.sqlite"), BUSINESS, commits)?;
        let memory = Database::open(&workspace.join("memory.sqlite"), MEMORY, commits)?;
        if is_new {
            business.with(|business| {
                business.execute_batch(PLUGIN_TABLES)?;
                Ok(business.execute_batch(setup.scenario.seed())?)
            })?;
        }
        Ok(Self {
            business,
            memory,
            recording: fs::read_to_string(setup.recording())?,
            files: None,
        })
    }

    /// The same with files.
    pub(crate) fn with_files(self, workspace: &Path) -> Result<Self> {
        Ok(Self {
            files: Some(Files::prepare(workspace)?),
            ..self
        })
    }

    fn run_one(&self, Order { names, moves }: &Order) -> Result<()> {
        let files = self.files.as_ref();
        // The record that a transaction belongs to.
        let mut last: Option<&Record> = None;
        for now in moves {
            match (now, last) {
                (Move::Admit(admitted), _) => {
                    files.map_or(Ok(()), |files| files.admit(&names.task, admitted))?;
                }
                (Move::Append(records), _) => {
                    let append = |memory: &Connection| append(memory, &names.task, records);
                    self.memory.transaction(append)?;
                    last = records.last();
                }
                (Move::Look, _) => {
                    self.business
                        .with(|business| Facts::read(business, &names.order))?;
                }
                (
                    Move::Perform {
                        tool,
                        row,
                        evidence,
                    },
                    Some(record),
                ) => {
                    self.business.transaction(|business| {
                        perform(business, names, tool, row.as_deref(), record)
                    })?;
                    if let (Some(files), Some(evidence)) = (files, evidence) {
                        files.keep_evidence(&names.task, evidence)?;
                    }
                }
                (Move::Publish(outputs), _) => {
                    files.map_or(Ok(()), |files| files.publish(&names.task, outputs))?;
                }
                (Move::Anchor, Some(record)) => {
                    self.business.transaction(|business| {
                        check_anchor(business, &names.task)?;
                        anchor(business, &names.task, record)
                    })?;
                }
                (Move::Perform { .. } | Move::Anchor, None) => bail!("nothing was recorded yet"),
            }
        }
        Ok(())
    }
}

impl Contender for Floor {
    type Order = Order;
    type Done = ();

    fn prepare(&self, number: u32) -> Result<Order> {
        let names = Names::of(number);
        Ok(Order {
            moves: Recording::of_order(&self.recording, &names)?.moves,
            names,
        })
    }

    fn run(&self, orders: Vec<Order>, lanes: u32) -> Result<Vec<Timed<()>>> {
        lanes::on_threads(orders, lanes, |order| {
            let begun = Instant::now();
            self.run_one(&order)?;
            let micros = begun.elapsed().as_secs_f64() * 1e6;
            Ok(Timed { micros, done: () })
        })
    }

    /// Each move was checked when it was made.
    fn check(&self, (): &()) -> Result<()> {
        Ok(())
    }
}

fn append(memory: &Connection, task: &str, records: &[Record]) -> Result<Ending> {
    let last: i64 = memory
        .prepare_cached("SELECT coalesce(max(sequence), 0) FROM journal WHERE task = ?1")?
        .query_row([task], |row| row.get(0))?;
    for (record, expected) in records.iter().zip(last + 1..) {
        ensure!(record.sequence == expected, "a record does not follow");
        run(
            memory,
            "INSERT INTO journal (task, sequence, kind, at, body, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                task,
                record.sequence,
                record.kind,
                record.at,
                record.body,
                record.hash
            ],
        )?;
    }
    Ok(Ending::Commit)
}

/// One step, decided by the state that its own transaction reads.
fn perform(
    business: &Connection,
    names: &Names,
    tool: &str,
    row: Option<&LedgerRow>,
    record: &Record,
) -> Result<Ending> {
    if let Some(row) = row {
        check_ledger(business, row)?;
    }
    check_anchor(business, &names.task)?;
    let facts = Facts::read(business, &names.order)?;
    let done = act(business, names, tool, &facts)?;
    match row {
        Some(row) if done => {
            insert_row(business, names, row, record)?;
            anchor(business, &names.task, record)
        }
        None if !done => Ok(Ending::Rollback),
        _ => bail!("`{tool}` went another way than in the host"),
    }
}

/// What the business state says about an order.
struct Facts {
    state: String,
    stock: i64,
    rates: Vec<(String, i64)>,
}

impl Facts {
    fn read(business: &Connection, order: &str) -> Result<Self> {
        let state: Option<String> = business
            .prepare_cached(
                "SELECT state, quantity, carrier, cost FROM orders WHERE order_id = ?1",
            )?
            .query_row([order], |row| row.get(0))
            .optional()?;
        let stock = business
            .prepare_cached("SELECT stock FROM inventory ORDER BY sku LIMIT 1")?
            .query_row((), |row| row.get(0))?;
        let rates = business
            .prepare_cached(
                "SELECT carrier, cents FROM rates WHERE carrier IN ('standard', 'economy')",
            )?
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(Self {
            state: state.unwrap_or_else(|| "new".to_owned()),
            stock,
            rates,
        })
    }
}

/// Whether the tool could do its work.
fn act(business: &Connection, names: &Names, tool: &str, facts: &Facts) -> Result<bool> {
    const QUANTITY: i64 = 2;
    const LIMIT: i64 = 500;
    let save = |state: &str, shipment: Option<(&str, i64)>| {
        let (carrier, cost) = shipment.unzip();
        run(
            business,
            "INSERT INTO orders (order_id, state, quantity, carrier, cost)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (order_id) DO UPDATE
             SET state = excluded.state, carrier = excluded.carrier, cost = excluded.cost",
            params![names.order, state, QUANTITY, carrier, cost],
        )
    };
    match (tool, facts.state.as_str()) {
        ("reserve_stock", "new") if facts.stock >= QUANTITY => {
            run(
                business,
                "UPDATE inventory SET stock = stock - ?1
                 WHERE sku = (SELECT sku FROM inventory ORDER BY sku LIMIT 1)",
                [QUANTITY],
            )?;
            save("reserved", None)?;
        }
        ("pack_order", "reserved") => {
            save("packed", None)?;
        }
        ("ship_standard" | "ship_economy", "packed") => {
            let carrier = tool.trim_start_matches("ship_");
            match facts.rates.iter().find(|(name, _)| name == carrier) {
                Some((_, cents)) if *cents <= LIMIT => save("shipped", Some((carrier, *cents)))?,
                _ => return Ok(false),
            };
        }
        ("read_receipt", "shipped") => (),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether the subject is this request's, and the operation still to be done.
fn check_ledger(business: &Connection, row: &LedgerRow) -> Result<()> {
    let conflict: Option<String> = business
        .prepare_cached(
            "SELECT task, operation_key FROM wharf_ledger
             WHERE plugin = ?1 AND subject = ?2 AND input_digest <> ?3 ORDER BY operation_key LIMIT 1",
        )?
        .query_row((&row.plugin, &row.subject, &row.input_digest), |row| {
            row.get(0)
        })
        .optional()?;
    let done: Option<String> = business
        .prepare_cached(
            "SELECT plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool,
                arguments_digest, data, sequence FROM wharf_ledger
             WHERE plugin = ?1 AND subject = ?2 AND operation_key = ?3",
        )?
        .query_row((&row.plugin, &row.subject, &row.operation_key), |row| {
            row.get(9)
        })
        .optional()?;
    ensure!(conflict.is_none() && done.is_none(), "the order is not new");
    Ok(())
}

fn insert_row(
    business: &Connection,
    names: &Names,
    row: &LedgerRow,
    record: &Record,
) -> Result<()> {
    run(
        business,
        "INSERT INTO wharf_ledger (plugin, subject, operation_key, task, principal, fingerprint, input_digest, tool,
             arguments_digest, data, sequence, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            row.plugin,
            row.subject,
            row.operation_key,
            names.task,
            row.principal,
            row.fingerprint,
            row.input_digest,
            row.tool,
            row.arguments_digest,
            row.data,
            record.sequence,
            row.at
        ],
    )?;
    Ok(())
}

fn check_anchor(business: &Connection, task: &str) -> Result<()> {
    business
        .prepare_cached("SELECT sequence, head FROM wharf_anchors WHERE task = ?1")?
        .query_row([task], |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(())
}

fn anchor(business: &Connection, task: &str, record: &Record) -> Result<Ending> {
    run(
        business,
        "INSERT INTO wharf_anchors (task, sequence, head) VALUES (?1, ?2, ?3)
         ON CONFLICT (task) DO UPDATE SET sequence = excluded.sequence, head = excluded.head",
        params![task, record.sequence, record.hash],
    )?;
    Ok(Ending::Commit)
}
