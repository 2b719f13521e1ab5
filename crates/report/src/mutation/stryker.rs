//! The mutation testing report exchanged by Stryker's tools and opened by its viewer
//! (mutation-testing-report-schema, version 2).

use assay_data::mutation::{Fate, LineColumn, MutantResult, Mutation};
use serde_json::{Map, Value, json};

/// Returns the report document. `tool` is the name and version of the program. The viewer's scores
/// exclude the mutants that it calls ignored; Assay's own scores are in its JSON.
pub fn document(mutation: &Mutation, tool: (&str, &str)) -> Value {
    let mut files = Map::new();
    for (index, file) in mutation.files.iter().enumerate() {
        let is_own = |own: &&MutantResult| {
            mutation.units.get(own.unit).is_some_and(|unit| unit.file == index)
        };
        let mutants: Vec<Value> = mutation.mutants.iter().filter(is_own).map(mutant).collect();
        let language = file.language.to_lowercase();
        files.insert(
            file.path.clone(),
            json!({ "language": language, "source": file.source, "mutants": mutants }),
        );
    }
    let mut tests: Map<String, Value> = Map::new();
    for (index, test) in mutation.tests.iter().enumerate() {
        let file = test.file.clone().unwrap_or_default();
        let own = tests.entry(file).or_insert_with(|| json!({ "tests": [] }));
        if let Some(all) = own["tests"].as_array_mut() {
            all.push(json!({ "id": index.to_string(), "name": test.name }));
        }
    }
    json!({
        "schemaVersion": "2",
        "thresholds": { "high": 80, "low": 60 },
        "framework": { "name": tool.0, "version": tool.1 },
        "files": files,
        "testFiles": tests,
    })
}

fn mutant(own: &MutantResult) -> Value {
    let place = |place: LineColumn| json!({ "line": place.line, "column": place.column });
    let ids = |tests: &[usize]| -> Vec<String> { tests.iter().map(ToString::to_string).collect() };
    let mut document = json!({
        "id": own.id,
        "mutatorName": own.operator,
        "description": own.what,
        "location": { "start": place(own.begin), "end": place(own.end) },
        "replacement": own.replacement,
        "status": status(own.fate),
        "killedBy": ids(&own.killed_by),
        "testsCompleted": own.tests_run,
    });
    if let Some(tests) = &own.covered_by {
        document["coveredBy"] = json!(ids(tests));
    }
    if let Some(seconds) = own.seconds {
        document["duration"] = json!((seconds * 1000.0).round());
    }
    let implied = (own.fate == Fate::Implied)
        .then_some("it is the same program as another change, which survived");
    if let Some(reason) = own.reason.as_deref().or(implied) {
        document["statusReason"] = json!(reason);
    }
    document
}

fn status(fate: Fate) -> &'static str {
    match fate {
        Fate::Killed => "Killed",
        Fate::TimedOut => "Timeout",
        Fate::Survived | Fate::Implied => "Survived",
        Fate::Uncovered => "NoCoverage",
        Fate::Unviable => "CompileError",
        Fate::Kept | Fate::Equivalent | Fate::Absent => "Ignored",
        Fate::Pending => "Pending",
    }
}
