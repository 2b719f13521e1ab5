//! Schemas generated from the types, and the reference page as tables. This is compiled only for
//! tests and `make docs`; the program includes the result.

use super::super::{
    Bisection, Calibrated, Checked, Claims, Decision, Diagnosis, ExperimentPlan, Explanation,
    Gated, Happenings, HeldProcesses, Listing, Mutated, ProfileDifference, ProfileShares, Reasons,
    Repetition, RunContents, RunList, SeriesDescription, SmokeTest, StoreChange, SuiteShares,
    Synthetic, TestLog, Trends, VERSION, WatchedRun,
};
use super::{DEFINITIONS, DOCUMENTS, Document, mentioned, name_in};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The type of each document.
const TYPES: [fn() -> Schema; DOCUMENTS.len()] = [
    of::<Decision>,
    of::<Listing>,
    of::<SmokeTest>,
    of::<Checked>,
    of::<Explanation>,
    of::<ProfileShares>,
    of::<ProfileDifference>,
    of::<SeriesDescription>,
    of::<Repetition>,
    of::<Claims>,
    of::<Reasons>,
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

/// Returns the schemas of all documents, generated from the types, each with the document's first
/// name.
pub fn generated() -> Vec<(&'static str, Value)> {
    let named = |(document, schema): (&Document, &fn() -> Schema)| {
        let mut schema = schema();
        schema.insert("title".to_owned(), format!("{}, version {VERSION}", document.title).into());
        (document.names[0], schema.to_value())
    };
    DOCUMENTS.iter().zip(&TYPES).map(named).collect()
}

/// Returns the contents of `schemas.json`, generated from the types.
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

/// Returns the tables of all documents, as Markdown. Types that several documents share are
/// described once.
pub fn tables() -> String {
    let mut page = String::new();
    // A result is both a document and a part of another one.
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

/// Name of the type of a result, and its heading on the page.
const RESULT: (&str, &str) = ("Decision", "A result");

/// Returns the heading for a type: `Mann whitney` for `MannWhitney`.
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

/// Returns the description of a type, followed by a table of its members or values.
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

/// Describes the type of a member in a few words.
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
