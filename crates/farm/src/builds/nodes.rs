//! Nodes, which are the machines that request jobs: their registration, when they were last seen,
//! and which kinds of jobs they may get.

use crate::builds::coded::{from_json, json};
use crate::builds::error::{FarmError, Stop};
use crate::builds::model::{Kind, digest};
use crate::builds::policy::MOST_TARGETS;
use crate::builds::store::Store;
use crate::builds::things::check_target;
use crate::builds::wire::{Calibration, Hello, Node, Page};
use crate::builds::{names, paging, sql, when};
use assay_history::db::{Db, DbError, Row, values};

/// The server's answer to a node that registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    /// Difference between the node's clock and the server's, in seconds. It is positive if the
    /// node's clock is ahead.
    pub clock_ahead: f64,
    /// The reason why the node is drained, that is, gets no new jobs. `None` if it is not drained.
    pub drained: Option<String>,
}

/// The columns of a node that the queue needs.
#[derive(Clone, Debug)]
pub(crate) struct NodeColumns {
    pub id: i64,
    pub drained: Option<String>,
    /// False if the node's last calibration found it unfit for measuring. True without a
    /// calibration.
    pub is_fit: bool,
}

impl NodeColumns {
    /// Returns those of `kinds` that may be leased to the node: none if it is drained, and no
    /// benchmarks if it is unfit for measuring.
    pub fn gets(&self, kinds: &[Kind]) -> Vec<Kind> {
        let gets = |kind: &Kind| self.drained.is_none() && (self.is_fit || *kind != Kind::Bench);
        kinds.iter().copied().filter(gets).collect()
    }
}

/// Returns the node with this name, provided that `instance` is the agent that registered last
/// under it. If `locks` is true, the node's row is locked until this transaction ends.
pub(crate) fn checked(
    db: &Db,
    name: &str,
    instance: &str,
    locks: bool,
) -> Result<NodeColumns, Stop> {
    let statement = match locks {
        true => sql::locking(db, sql::NODE_OWN),
        false => sql::NODE_OWN.to_owned(),
    };
    let found = db.rows(&statement, values![name], |row| {
        let own = NodeColumns { id: row.get(0)?, drained: row.get(1)?, is_fit: true };
        Ok((own, row.get::<String>(2)?, row.get::<Option<String>>(3)?))
    })?;
    let (mut own, last, calibration) = found.into_iter().next().ok_or_else(|| no_node(name))?;
    if let Some(text) = calibration {
        own.is_fit = from_json::<Calibration>(&text)?.is_fit;
    }
    match last == instance {
        true => Ok(own),
        false => Err(FarmError::Conflict(format!(
            "another agent with the name {name} registered later: give each agent its own name and token"
        ))
        .into()),
    }
}

fn no_node(name: &str) -> FarmError {
    FarmError::NotFound(format!("node `{}`; its agent must register first", name.escape_debug()))
}

impl Store {
    /// Registers a node and its targets. If two agents use the same name, the one that registered
    /// last owns the name.
    ///
    /// # Errors
    /// If the message is invalid, or writing to the store fails.
    pub fn hello(&self, name: &str, hello: &Hello, now: i64) -> Result<Registration, FarmError> {
        names::plain("a node", name)?;
        names::checked("a tool", &hello.tool)?;
        names::checked("an instance", &hello.instance)?;
        if hello.targets.len() > MOST_TARGETS {
            return Err(FarmError::Bad(format!("at most {MOST_TARGETS} targets")));
        }
        hello.targets.iter().try_for_each(check_target)?;
        let clock_ahead = (when::read(&hello.time)? - now) as f64 / 1e3;
        let mut digests: Vec<String> = hello.targets.iter().map(|t| digest(&t.facts)).collect();
        for (key, target) in digests.iter().zip(&hello.targets) {
            self.add_target(key, target, now)?;
        }
        digests.dedup();
        let targets = json(&digests)?;
        self.beside(|db| {
            let said = values![name, &hello.tool, &hello.instance, &targets, now, clock_ahead];
            db.execute(sql::SET_NODE, said)?;
            let own = checked(db, name, &hello.instance, false)?;
            Ok(Registration { clock_ahead, drained: own.drained })
        })
    }

    /// Stores the times at which nodes were last seen, in ms since 1970, by name.
    ///
    /// # Errors
    /// If writing to the store fails.
    pub fn seen(&self, nodes: &[(String, i64)]) -> Result<(), FarmError> {
        if nodes.is_empty() {
            return Ok(());
        }
        self.beside(|db| {
            for (name, time) in nodes {
                db.execute(sql::SEEN, values![name, *time])?;
            }
            Ok(())
        })
    }

    /// Drains a node for the given reason: it gets no more leases, but may finish its current jobs.
    ///
    /// # Errors
    /// If the node does not exist, or writing to the store fails.
    pub fn drain(&self, name: &str, reason: &str) -> Result<Node, FarmError> {
        let reason = if reason.trim().is_empty() { "no reason was given" } else { reason };
        self.set_drained(name, Some(reason))
    }

    /// Allows a drained node to get leases again.
    ///
    /// # Errors
    /// If the node does not exist, or writing to the store fails.
    pub fn resume(&self, name: &str) -> Result<Node, FarmError> {
        self.set_drained(name, None)
    }

    fn set_drained(&self, name: &str, reason: Option<&str>) -> Result<Node, FarmError> {
        self.beside(|db| {
            db.execute(sql::DRAIN, values![name, reason])?;
            node(db, name)
        })
    }

    /// Stores the result of a node's A/A runs, which compare a program with itself. An unfit node
    /// gets no benchmarks until a later result shows that it is fit.
    ///
    /// # Errors
    /// If the node does not exist, the calibration is invalid, or writing to the store fails.
    pub fn calibrated(&self, name: &str, said: &Calibration) -> Result<Node, FarmError> {
        when::read(&said.time)?;
        if !said.false_alarms.is_finite() || !said.detects.is_finite() {
            return Err(FarmError::Bad("false_alarms, detects: must be numbers".to_owned()));
        }
        let text = json(said)?;
        self.beside(|db| {
            let found = node(db, name)?;
            db.execute(sql::ADD_CALIBRATION, values![found.id, &text])?;
            db.execute(sql::LAST_CALIBRATION, values![found.id, &text])?;
            node(db, name)
        })
    }

    /// Returns at most `most` calibrations of a node, newest first.
    ///
    /// # Errors
    /// If the node does not exist, or reading from the store fails.
    pub fn calibrations(&self, name: &str, most: i64) -> Result<Vec<Calibration>, FarmError> {
        self.look(|db| {
            let found = node(db, name)?;
            let rows =
                db.rows(sql::CALIBRATIONS, values![found.id, most], |row| row.get::<String>(0))?;
            rows.iter().map(|text| from_json(text)).collect()
        })
    }

    /// Returns the node with this name.
    ///
    /// # Errors
    /// If the node does not exist, or reading from the store fails.
    pub fn node(&self, name: &str) -> Result<Node, FarmError> {
        self.look(|db| node(db, name))
    }

    /// Returns a page of nodes, sorted by name.
    ///
    /// # Errors
    /// If reading from the store fails.
    pub fn nodes(&self, after: Option<&str>, most: i64) -> Result<Page<Node>, FarmError> {
        let found = self.look(|db| {
            let statement = format!("{}{}", sql::NODE, sql::NODES);
            let values = values![after.unwrap_or_default(), most + 1];
            let rows = db.rows(&statement, values, node_row)?;
            rows.into_iter().map(|row| row.read(db)).collect::<Result<Vec<_>, Stop>>()
        })?;
        Ok(paging::page(found, most, |node| node.name.clone()))
    }
}

/// A row of the table of nodes.
struct NodeRow {
    id: i64,
    name: String,
    tool: String,
    targets: String,
    seen: i64,
    clock_ahead: f64,
    drained: Option<String>,
    calibration: Option<String>,
}

impl NodeRow {
    fn read(self, db: &Db) -> Result<Node, Stop> {
        let calibration = self.calibration.as_deref().map(from_json).transpose()?;
        Ok(Node {
            id: self.id,
            name: self.name,
            tool: self.tool,
            targets: from_json(&self.targets)?,
            seen: when::text(self.seen),
            clock_ahead: self.clock_ahead,
            drained: self.drained,
            jobs: db.rows(sql::JOBS_OF_NODE, values![self.id], |row| row.get(0))?,
            calibration,
        })
    }
}

fn node_row(row: &Row<'_>) -> Result<NodeRow, DbError> {
    Ok(NodeRow {
        id: row.get(0)?,
        name: row.get(1)?,
        tool: row.get(2)?,
        targets: row.get(3)?,
        seen: row.get(4)?,
        clock_ahead: row.get(5)?,
        drained: row.get(6)?,
        calibration: row.get(7)?,
    })
}

pub(crate) fn node(db: &Db, name: &str) -> Result<Node, Stop> {
    let statement = format!("{}{}", sql::NODE, sql::NODE_OF);
    let row = db.rows(&statement, values![name], node_row)?.pop();
    row.ok_or_else(|| no_node(name))?.read(db)
}
