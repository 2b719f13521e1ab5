//! The JSON Schema of every document, and the reference page, which shows the schemas as tables.
//!
//! The schemas are in `schemas.json`, which is generated from the types. Including the generator
//! would make the program much larger for a rarely used command. A test regenerates the schemas and
//! compares them; `make docs` writes them.

use crate::packed::SCHEMAS;
use serde_json::{Map, Value};

#[cfg(feature = "schema")]
mod generated;
#[cfg(feature = "schema")]
pub use generated::{generated, tables, written};

/// A kind of JSON document, and the commands that write it.
pub struct Document {
    /// Title of the document on the page.
    pub title: &'static str,
    /// The commands that write the document.
    #[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "for the reference page"))]
    commands: &'static [&'static str],
    /// Names of the document on the command line: the verb, extended if a verb has several
    /// documents.
    names: &'static [&'static str],
}

impl Document {
    /// Returns the JSON Schema of the document, draft 2020-12.
    pub fn schema(&self) -> Value {
        // The file lists every document by its first name, without definitions, and every
        // definition once.
        let written: Value = serde_json::from_str(&SCHEMAS).unwrap_or_default();
        let definitions = written[DEFINITIONS].as_object().cloned().unwrap_or_default();
        let mut schema = written["documents"][self.names[0]].clone();
        let mut names = Vec::new();
        mentioned(&schema, &definitions, &mut names);
        let own = |name: &str| definitions.get(name).map(|one| (name.to_owned(), one.clone()));
        let own: Map<String, Value> = names.into_iter().filter_map(own).collect();
        if let Some(members) = schema.as_object_mut().filter(|_| !own.is_empty()) {
            members.insert(DEFINITIONS.to_owned(), own.into());
        }
        schema
    }
}

const DEFINITIONS: &str = "$defs";

/// All documents, in the order of the page.
const DOCUMENTS: [Document; 27] = [
    Document {
        title: "A result",
        commands: &["run A B", "bench A B", "load A B", "compare A B", "profile 'A' 'B'"],
        names: &["run", "bench", "load", "compare"],
    },
    Document { title: "A list of benchmarks", commands: &["bench --list"], names: &["bench-list"] },
    Document { title: "A smoke test", commands: &["bench --smoke"], names: &["bench-smoke"] },
    Document { title: "An answer about a change", commands: &["check"], names: &["check"] },
    Document {
        title: "The benchmarks of a project",
        commands: &["check --explain"],
        names: &["check-explain"],
    },
    Document { title: "A profile", commands: &["profile"], names: &["profile"] },
    Document {
        title: "The difference of two recorded profiles",
        commands: &["profile OLD NEW"],
        names: &["profile-difference"],
    },
    Document { title: "A description", commands: &["describe"], names: &["describe"] },
    Document { title: "A repetition", commands: &["repeat"], names: &["repeat"] },
    Document {
        title: "A result on several machines",
        commands: &["repeat --summary"],
        names: &["repeat-summary"],
    },
    Document { title: "An explanation", commands: &["why"], names: &["why"] },
    Document { title: "A planned experiment", commands: &["plan"], names: &["plan"] },
    Document {
        title: "A calibration of the machine",
        commands: &["calibrate"],
        names: &["calibrate"],
    },
    Document { title: "The doctor's report", commands: &["doctor"], names: &["doctor"] },
    Document { title: "A list of runs", commands: &["history log"], names: &["history-log"] },
    Document {
        title: "A run in the history",
        commands: &["history show"],
        names: &["history-show"],
    },
    Document {
        title: "A change of the history",
        commands: &[
            "history add",
            "history rm",
            "history export",
            "history alias",
            "history bless",
            "history prune",
        ],
        names: &["history-add"],
    },
    Document { title: "A trend", commands: &["history trend"], names: &["history-trend"] },
    Document {
        title: "The changes of a project",
        commands: &["history trend (without a benchmark)"],
        names: &["history-events"],
    },
    Document {
        title: "A search for the commit of a change",
        commands: &["bisect"],
        names: &["bisect"],
    },
    Document { title: "A gate", commands: &["gate"], names: &["gate"] },
    Document {
        title: "The lines of a log by test",
        commands: &["tests log"],
        names: &["tests-log"],
    },
    Document {
        title: "A profile by test",
        commands: &["tests --profile"],
        names: &["tests-profile"],
    },
    Document { title: "A run of a watched project", commands: &["watch"], names: &["watch"] },
    Document { title: "What is kept loaded", commands: &["warm --status"], names: &["warm"] },
    Document {
        title: "What became of mutants",
        commands: &["mutate", "mutate --list"],
        names: &["mutate"],
    },
    Document { title: "Synthetic data", commands: &["simulate"], names: &["simulate"] },
];

/// Returns the document with this name.
pub fn named(name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.names.contains(&name))
}

/// Returns the names of all documents.
pub fn names() -> Vec<&'static str> {
    DOCUMENTS.iter().flat_map(|document| document.names).copied().collect()
}

/// Collects the names of the definitions reachable from a schema. Each name precedes those that its
/// definition refers to.
fn mentioned<'a>(schema: &'a Value, all: &'a Map<String, Value>, names: &mut Vec<&'a str>) {
    match schema {
        Value::Object(map) => {
            for (key, inner) in map {
                match inner.as_str().filter(|_| key == "$ref") {
                    Some(reference) => {
                        let name = name_in(reference);
                        if !names.contains(&name) {
                            names.push(name);
                            all.get(name).into_iter().for_each(|d| mentioned(d, all, names));
                        }
                    }
                    None if key != "$defs" => mentioned(inner, all, names),
                    None => {}
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| mentioned(item, all, names)),
        _ => {}
    }
}

fn name_in(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}
