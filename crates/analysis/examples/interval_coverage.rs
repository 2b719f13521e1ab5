//! Generates the table of interval coverage: in `docs/concepts/deciding.md` for readers, and in
//! `crates/analysis/src/coverage/table.csv` for the tool's own warnings. Takes a few minutes on two
//! cores, and gives the same digits everywhere.
//!
//!     cargo run --release -p assay-analysis --example interval_coverage
//!
//! With method names after `--`, it simulates only those methods and keeps the other lines of the
//! table.
#![allow(clippy::print_stdout, reason = "says where it is")]

use assay_analysis::coverage::simulation::{EXPERIMENTS, GROUPS, cells};
use assay_analysis::coverage::{Kind, Method, SIZES, page};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

type Table = BTreeMap<(Method, Kind, usize), Option<f64>>;

fn main() -> io::Result<()> {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |group: &[Method]| {
        only.is_empty() || group.iter().any(|method| only.iter().any(|name| name == method.name()))
    };
    let mut jobs: Vec<(&[Method], Kind, usize)> = Vec::new();
    for size in SIZES.into_iter().rev() {
        for group in GROUPS.into_iter().filter(|group| wanted(group)) {
            jobs.extend(Kind::ALL.map(|kind| (group, kind, size)));
        }
    }
    let table: Table = jobs
        .par_iter()
        .flat_map_iter(|&(group, kind, size)| {
            let found = cells(group, kind, size, EXPERIMENTS);
            println!("{} {} {size}: {found:?}", group[0].name(), kind.name());
            group
                .iter()
                .zip(found)
                .map(move |(method, cell)| ((*method, kind, size), cell.coverage(EXPERIMENTS)))
        })
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = root.join("src/coverage/table.csv");
    let text = csv(&table, &std::fs::read_to_string(&place)?);
    std::fs::write(place, &text)?;
    let place = root.join("../../docs/concepts/deciding.md");
    let page = page::updated(&std::fs::read_to_string(&place)?, &text).ok_or_else(|| {
        io::Error::other("docs/concepts/deciding.md lacks the marks of the table")
    })?;
    std::fs::write(place, page)
}

/// The table as text; lines that were not simulated are copied from the previous table.
fn csv(table: &Table, before: &str) -> String {
    let mut text = String::from("method,kind,5,20,100,1000\n");
    for (method, name) in Method::ALL {
        for kind in Kind::ALL {
            let head = format!("{name},{}", kind.name());
            text += &head;
            let simulated = |size| table.get(&(method, kind, size));
            if SIZES.iter().all(|&size| simulated(size).is_none()) {
                let kept = before.lines().find_map(|line| line.strip_prefix(&head));
                text += kept.unwrap_or(",,,,");
            } else {
                for size in SIZES {
                    let cell = simulated(size).copied().flatten();
                    let cell = cell.map_or(String::new(), |c| format!("{c:.4}"));
                    let _ = write!(text, ",{cell}");
                }
            }
            text.push('\n');
        }
    }
    text
}
