//! The JSON Schema of every document, and the reference page, which is the schema as tables.
//!
//! The schemas stand in `schemas.json`, as they were generated from the types: what generates them would be a good part of the program, for
//! one verb that is seldom asked for. A test generates them again and compares; `make docs` writes what it finds.

use super::{
    Bisection, Calibrated, Decision, Diagnosis, ExperimentPlan, Gated, Happenings, HeldProcesses,
    Listing, Mutated, ProfileDifference, ProfileShares, Repetition, RunContents, RunList,
    SeriesDescription, SmokeTest, StoreChange, SuiteShares, Synthetic, TestLog, Trends, VERSION,
    WatchedRun,
};
use crate::packed::SCHEMAS;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// A document that verbs write.
pub struct Document {
    /// What it is called in the page.
    pub title: &'static str,
    /// The commands that write it.
    commands: &'static [&'static str],
    /// What it is called on the command line: the verb, and what else tells several documents of one verb apart.
    names: &'static [&'static str],
}

impl Document {
    /// Its JSON Schema, draft 2020-12.
    pub fn schema(&self) -> Value {
        // Every document without what it mentions, by its first name, and every type that is mentioned, once.
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

// ---- From the types; not in the program, which asks for none of it. ----

/// The type of each document.
const TYPES: [fn() -> Schema; 23] = [
    of::<Decision>,
    of::<Listing>,
    of::<SmokeTest>,
    of::<ProfileShares>,
    of::<ProfileDifference>,
    of::<SeriesDescription>,
    of::<Repetition>,
    of::<ExperimentPlan>,
    of::<Calibrated>,
    of::<Diagnosis>,
    of::<RunList>,
    of::<RunContents>,
    of::<StoreChange>,
    of::<Trends>,
    of::<Happenings>,
    of::<Bisection>,
    of::<Gated>,
    of::<TestLog>,
    of::<SuiteShares>,
    of::<WatchedRun>,
    of::<HeldProcesses>,
    of::<Mutated>,
    of::<Synthetic>,
];

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// The schemas of all documents as the types are, each with its document's first name.
pub fn generated() -> Vec<(&'static str, Value)> {
    let named = |(document, schema): (&Document, &fn() -> Schema)| {
        let mut schema = schema();
        schema.insert("title".to_owned(), format!("{}, version {VERSION}", document.title).into());
        (document.names[0], schema.to_value())
    };
    DOCUMENTS.iter().zip(&TYPES).map(named).collect()
}

/// The text of `schemas.json` as the types are.
pub fn written() -> String {
    let (mut documents, mut definitions) = (Vec::new(), Map::new());
    for (name, mut schema) in generated() {
        if let Some(Value::Object(own)) = schema.as_object_mut().and_then(|s| s.remove(DEFINITIONS))
        {
            definitions.extend(own);
        }
        documents.push(format!("\"{name}\":{schema}"));
    }
    let definitions: Vec<String> =
        definitions.iter().map(|(name, schema)| format!("\"{name}\":{schema}")).collect();
    format!(
        "{{\"documents\":{{\n{}\n}},\"{DEFINITIONS}\":{{\n{}\n}}}}\n",
        documents.join(",\n"),
        definitions.join(",\n")
    )
}

// ---- The documents. ----

/// All documents, in the order of the page.
const DOCUMENTS: [Document; 23] = [
    Document {
        title: "A result",
        commands: &["run A B", "bench A B", "load A B", "compare A B", "profile 'A' 'B'"],
        names: &["run", "bench", "load", "compare"],
    },
    Document { title: "A list of benchmarks", commands: &["bench --list"], names: &["bench-list"] },
    Document { title: "A smoke test", commands: &["bench --smoke"], names: &["bench-smoke"] },
    Document { title: "A profile", commands: &["profile"], names: &["profile"] },
    Document {
        title: "The difference of two recorded profiles",
        commands: &["profile OLD NEW"],
        names: &["profile-difference"],
    },
    Document { title: "A description", commands: &["describe"], names: &["describe"] },
    Document { title: "A repetition", commands: &["repeat"], names: &["repeat"] },
    Document { title: "A planned experiment", commands: &["plan"], names: &["plan"] },
    Document {
        title: "A calibration of the machine",
        commands: &["calibrate"],
        names: &["calibrate"],
    },
    Document { title: "The doctor's report", commands: &["doctor"], names: &["doctor"] },
    Document { title: "A list of runs", commands: &["history log"], names: &["history-log"] },
    Document { title: "A run that is kept", commands: &["history show"], names: &["history-show"] },
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
        title: "What happened to a project",
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

/// The document of a name.
pub fn named(name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.names.contains(&name))
}

/// The names of all documents.
pub fn names() -> Vec<&'static str> {
    DOCUMENTS.iter().flat_map(|document| document.names).copied().collect()
}

/// The tables of all documents, as Markdown. Types that several documents share are described once.
pub fn tables() -> String {
    let mut page = String::new();
    // A result is a document and a part of another.
    let mut told = vec![RESULT.0.to_owned()];
    for (document, (_, schema)) in DOCUMENTS.iter().zip(generated()) {
        let commands: Vec<String> =
            document.commands.iter().map(|command| format!("`assay {command} --json`")).collect();
        page += &format!("## {}\n\n{}. ", document.title, commands.join(", "));
        page += &section(&schema);
        let none = Map::new();
        let definitions = schema["$defs"].as_object().unwrap_or(&none);
        let mut names = Vec::new();
        mentioned(&schema, definitions, &mut names);
        for name in names {
            if let Some(definition) = definitions.get(name)
                && !told.iter().any(|known| known == name)
            {
                page += &format!("### {}\n\n{}", spelled(name), section(definition));
                told.push(name.to_owned());
            }
        }
    }
    page
}

/// The definitions that a schema leads to, each before those that it mentions itself.
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

/// Name of the type of a result, and its heading.
const RESULT: (&str, &str) = ("Decision", "A result");

/// `MannWhitney` as `Mann whitney`.
fn spelled(name: &str) -> String {
    if name == RESULT.0 {
        return RESULT.1.to_owned();
    }
    let mut words = String::new();
    for letter in name.chars() {
        match letter.is_ascii_uppercase() && !words.is_empty() {
            true => words.extend([' ', letter.to_ascii_lowercase()]),
            false => words.push(letter),
        }
    }
    words
}

fn anchor(name: &str) -> String {
    spelled(name).to_lowercase().replace(' ', "-")
}

/// What is said of one type: its sentence and the table of its members or words.
fn section(schema: &Value) -> String {
    let mut text = described(schema);
    text += "\n\n";
    let choices = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    if let Some(choices) = choices.filter(|all| all.iter().any(|c| c.get("const").is_some())) {
        text += "| value | meaning |\n| --- | --- |\n";
        for choice in choices {
            let value = choice["const"].as_str().unwrap_or_default();
            text += &format!("| `{value}` | {} |\n", cell(choice));
        }
        return text + "\n";
    }
    if let Some(choices) = choices {
        text += "| one of |\n| --- |\n";
        choices.iter().for_each(|choice| text += &format!("| {} |\n", kind(choice)));
        return text + "\n";
    }
    text += "| key | type | meaning |\n| --- | --- | --- |\n";
    let none = Map::new();
    for (key, member) in schema["properties"].as_object().unwrap_or(&none) {
        text += &format!("| `{key}` | {} | {} |\n", kind(member), cell(member));
    }
    if let Some(others) = schema.get("additionalProperties").filter(|others| others.is_object()) {
        text += &format!(
            "| `ci90`, `ci95`, … | {} | Intervals, by their confidence. |\n",
            kind(others)
        );
    }
    text + "\n"
}

fn described(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

fn cell(schema: &Value) -> String {
    described(schema).replace('|', "\\|")
}

/// The type of a member in a few words.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = name_in(reference);
        return format!("[{}](#{})", spelled(name).to_lowercase(), anchor(name));
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = choices.iter().map(kind).collect();
        return kinds.join(" or ");
    }
    let of_word = |word: &str| match word {
        "string" => "text".to_owned(),
        "integer" => "number".to_owned(),
        "null" => "`null`".to_owned(),
        "array" => match schema.get("items") {
            Some(items) => format!("list of {}", kind(items)),
            None => "list".to_owned(),
        },
        "object" => match schema.get("additionalProperties").filter(|of| of.is_object()) {
            Some(of) => format!("by name: {}", kind(of)),
            None => "object".to_owned(),
        },
        word => word.to_owned(),
    };
    match &schema["type"] {
        Value::String(word) => of_word(word),
        Value::Array(words) => {
            words.iter().filter_map(Value::as_str).map(of_word).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}
