//! What one order made the host write, as the floors' model.
//!
//! Read from a closed workspace by its documented names, after a run of the host itself. So the floors write rows and
//! files of the same sizes in as many commits, whatever the protocol becomes: that a record with an effect ends a commit
//! is all that is known of it here.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scenario::Names;

/// Everything that an order does to the disk, in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Recording {
    pub(crate) names: (String, String),
    pub(crate) moves: Vec<Move>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Move {
    /// The files that stand before the first record.
    Admit(Vec<File>),
    /// One durable commit of records.
    Append(Vec<Record>),
    /// A reading of the business state.
    Look,
    /// One business transaction. Without a row it ends in a rollback.
    Perform {
        tool: String,
        row: Option<Box<LedgerRow>>,
        evidence: Option<File>,
    },
    /// The outputs, the report last.
    Publish(Vec<File>),
    /// The last anchor, durable.
    Anchor,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) sequence: i64,
    pub(crate) kind: String,
    pub(crate) at: String,
    pub(crate) body: String,
    pub(crate) hash: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LedgerRow {
    pub(crate) plugin: String,
    pub(crate) subject: String,
    pub(crate) operation_key: String,
    pub(crate) principal: String,
    pub(crate) fingerprint: String,
    pub(crate) input_digest: String,
    pub(crate) tool: String,
    pub(crate) arguments_digest: String,
    pub(crate) data: String,
    pub(crate) at: String,
}

impl Recording {
    /// Reads what order `names` left in a workspace that nobody has open.
    pub(crate) fn read(workspace: &Path, names: Names) -> Result<Self> {
        let folder = workspace.join("tasks").join(&names.task);
        let memory = Connection::open(workspace.join("memory.sqlite"))?;
        let records: Vec<Record> = memory
            .prepare("SELECT sequence, kind, at, body, hash FROM journal WHERE task = ?1 ORDER BY sequence")?
            .query_map([&names.task], record)?
            .collect::<Result<_, _>>()?;
        let business = Connection::open(workspace.join("business.sqlite"))?;
        let rows: HashMap<i64, LedgerRow> = business
            .prepare(
                "SELECT sequence, plugin, subject, operation_key, principal, fingerprint, input_digest, tool,
                    arguments_digest, data, at FROM wharf_ledger WHERE task = ?1",
            )?
            .query_map([&names.task], |row| Ok((row.get(0)?, ledger_row(row)?)))?
            .collect::<Result<_, _>>()?;
        let evidence = evidence(&folder.join("evidence"))?;
        let mut moves = vec![Move::Admit(vec![
            file(&folder, "request.json")?,
            file(&folder, "policy.json")?,
        ])];
        let mut pending = Vec::new();
        for record in records {
            let sequence = record.sequence;
            let body: Value = serde_json::from_str(&record.body)?;
            pending.push(record);
            let graph = &body["intended"]["graph"];
            let nodes = graph["nodes"].as_array().map_or(&[][..], Vec::as_slice);
            if has_effect(nodes) {
                moves.push(Move::Append(std::mem::take(&mut pending)));
            }
            match graph["stage"].as_str() {
                None | Some("plan") => (),
                Some("snapshot" | "conclude") => moves.push(Move::Look),
                Some("step") => moves.push(step(nodes, &rows, sequence, &evidence)?),
                Some("publish") => moves.push(publication(nodes, &folder.join("output"))?),
                Some(other) => bail!("the benchmark does not know the stage `{other}`"),
            }
        }
        moves.push(Move::Append(pending));
        moves.push(Move::Anchor);
        Ok(Self {
            names: (names.task, names.order),
            moves,
        })
    }

    /// The same for another order.
    pub(crate) fn of_order(text: &str, names: &Names) -> Result<Self> {
        let recording: Self = serde_json::from_str(text)?;
        let (task, order) = &recording.names;
        let text = text
            .replace(task.as_str(), &names.task)
            .replace(order.as_str(), &names.order);
        Ok(serde_json::from_str(&text)?)
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        sequence: row.get(0)?,
        kind: row.get(1)?,
        at: row.get(2)?,
        body: row.get(3)?,
        hash: row.get(4)?,
    })
}

fn ledger_row(row: &Row<'_>) -> rusqlite::Result<LedgerRow> {
    Ok(LedgerRow {
        plugin: row.get(1)?,
        subject: row.get(2)?,
        operation_key: row.get(3)?,
        principal: row.get(4)?,
        fingerprint: row.get(5)?,
        input_digest: row.get(6)?,
        tool: row.get(7)?,
        arguments_digest: row.get(8)?,
        data: row.get(9)?,
        at: row.get(10)?,
    })
}

fn has_effect(nodes: &[Value]) -> bool {
    nodes.iter().any(|node| {
        node["kind"]
            .as_str()
            .is_some_and(|kind| matches!(kind, "infer.sample" | "interaction.act"))
    })
}

/// What the one node with an effect is told.
fn act(nodes: &[Value]) -> &Value {
    nodes
        .iter()
        .find(|node| node["kind"] == "interaction.act")
        .map_or(&Value::Null, |node| &node["inputs"][0]["literal"])
}

fn step(
    nodes: &[Value],
    rows: &HashMap<i64, LedgerRow>,
    sequence: i64,
    evidence: &HashMap<String, File>,
) -> Result<Move> {
    let tool = act(nodes)["perform"]["step"]["tool"]
        .as_str()
        .context("a step without a tool")?;
    let row = rows.get(&sequence).cloned().map(Box::new);
    Ok(Move::Perform {
        tool: tool.to_owned(),
        evidence: row.as_ref().and_then(|_| evidence.get(tool).cloned()),
        row,
    })
}

fn publication(nodes: &[Value], folder: &Path) -> Result<Move> {
    let outputs = act(nodes)["publish"]
        .as_array()
        .context("a publication without outputs")?;
    let files = outputs.iter().map(|output| {
        let name = output["name"].as_str().context("an output has no name")?;
        file(folder, name)
    });
    Ok(Move::Publish(files.collect::<Result<_>>()?))
}

/// By tool; none is used twice.
fn evidence(folder: &Path) -> Result<HashMap<String, File>> {
    let mut evidence = HashMap::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let file = file(folder, &name)?;
        let content: Value = serde_json::from_str(&file.text)?;
        let tool = content["tool"].as_str().context("evidence of no tool")?;
        evidence.insert(tool.to_owned(), file);
    }
    Ok(evidence)
}

fn file(folder: &Path, name: &str) -> Result<File> {
    let path = folder.join(name);
    Ok(File {
        name: name.to_owned(),
        text: fs::read_to_string(&path).with_context(|| path.display().to_string())?,
    })
}
