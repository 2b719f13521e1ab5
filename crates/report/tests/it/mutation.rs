//! The screens and files of `assay mutate`, for a small project and for arbitrary names and code,
//! which stay text everywhere.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "this is a test")]

use crate::browser;
use crate::common::schema;

use assay_analysis::mutation::scores;
use assay_data::mutation::{
    Fate, LineColumn, MutantResult, MutatedFile, MutatedUnit, Mutation, MutationTest,
};
use assay_report::mutation::{self, Material};
use assay_report::terminal::Screen;
use proptest::prelude::*;
use serde_json::Value;

const SOURCE: &str = "\
def largest(numbers):
    best = numbers[0]
    for number in numbers:
        if number > best:
            best = number
    return best


def shout(text):
    return text.upper() + \"!\"


def unused(x):
    return x + 1
";

fn place(line: u32, column: u32) -> LineColumn {
    LineColumn { line, column }
}

fn mutant(unit: usize, operator: &str, what: &str, fate: Fate) -> MutantResult {
    MutantResult {
        id: format!("{operator}{unit}"),
        unit,
        operator: operator.to_owned(),
        what: what.to_owned(),
        begin: place(1, 1),
        end: place(1, 2),
        replacement: String::new(),
        diff: String::new(),
        fate,
        covered_by: Some(vec![0]),
        killed_by: Vec::new(),
        is_complete: false,
        tests_run: 1,
        seconds: Some(0.1),
        reason: None,
        doubt: None,
    }
}

/// Returns a project with one function that is well tested except for a boundary, one that is run
/// but not checked, and one that no test uses.
fn stack() -> Mutation {
    let unit = |name: &str, begin, end| MutatedUnit { file: 0, name: name.to_owned(), begin, end };
    let test = |name: &str| MutationTest {
        name: format!("test_stack.StackTest: {name}"),
        file: Some("test_stack.py".to_owned()),
        seconds: Some(0.001),
    };
    let boundary = MutantResult {
        begin: place(4, 19),
        end: place(4, 20),
        replacement: ">=".to_owned(),
        diff: "     best = numbers[0]\n     for number in numbers:\n-        if number > best:\n+        if number >= best:\n             best = number\n     return best\n".to_owned(),
        ..mutant(0, "boundary", "a boundary is off by one", Fate::Survived)
    };
    let body = MutantResult {
        begin: place(10, 5),
        end: place(10, 29),
        replacement: "pass".to_owned(),
        diff: " def shout(text):\n-    return text.upper() + \"!\"\n+    pass\n".to_owned(),
        covered_by: Some(vec![1]),
        ..mutant(1, "body", "the whole body is gone", Fate::Survived)
    };
    let killed = MutantResult {
        killed_by: vec![0],
        ..mutant(0, "body", "the whole body is gone", Fate::Killed)
    };
    let uncovered = |operator: &str| MutantResult {
        begin: place(14, 5),
        end: place(14, 17),
        covered_by: Some(Vec::new()),
        seconds: None,
        tests_run: 0,
        ..mutant(2, operator, "the whole body is gone", Fate::Uncovered)
    };
    let kept = MutantResult {
        begin: place(2, 20),
        end: place(2, 21),
        reason: Some("any will do".to_owned()),
        ..mutant(0, "number", "a number is one more", Fate::Kept)
    };
    Mutation {
        framework: "unittest 3.11.7".to_owned(),
        files: vec![MutatedFile {
            path: "stack.py".to_owned(),
            language: "Python".to_owned(),
            source: SOURCE.to_owned(),
        }],
        units: vec![unit("largest", 1, 6), unit("Loud.shout", 9, 10), unit("unused", 13, 14)],
        mutants: vec![
            killed,
            boundary,
            kept,
            body,
            mutant(1, "text", "a text is another one", Fate::Implied),
            uncovered("body"),
            uncovered("number"),
        ],
        tests: vec![test("test_largest"), test("test_shout")],
        suite_seconds: 1.7,
        seconds: 10.0,
        ..Mutation::default()
    }
}

fn screen(width: usize) -> Screen {
    Screen { width, color: false, unicode: true, whole: false }
}

fn page(mutation: &Mutation) -> String {
    let command: Vec<String> =
        ["assay", "mutate", "--report", "out.html"].map(str::to_owned).to_vec();
    let material = Material {
        mutation,
        scores: &scores(mutation),
        tool: "assay 1",
        command: &command,
        started: "2026-11-26T01:02:03.4Z",
    };
    mutation::page(material).unwrap()
}

#[test]
fn the_screen_says_what_no_test_notices_and_what_to_assert() {
    let stack = stack();
    insta::assert_snapshot!(mutation::render(&stack, &scores(&stack), 10, &screen(80)));
}

#[test]
fn a_comment_for_a_review_has_the_same_folded_up() {
    let stack = stack();
    insta::assert_snapshot!(mutation::markdown(&stack, &scores(&stack)));
}

#[test]
fn code_scanning_finds_each_at_its_place() {
    let stack = stack();
    let sarif = mutation::sarif(&stack, &scores(&stack), "1");
    is_sarif(&sarif);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let told: Vec<String> = results
        .iter()
        .map(|own| {
            let place = &own["locations"][0]["physicalLocation"];
            let is_accepted = !own["suppressions"].is_null();
            format!(
                "{} {} {}{}: {}\n",
                own["level"].as_str().unwrap(),
                own["ruleId"].as_str().unwrap(),
                place["region"],
                if is_accepted { " accepted" } else { "" },
                own["message"]["text"].as_str().unwrap()
            )
        })
        .collect();
    insta::assert_snapshot!(told.concat());
}

#[test]
fn the_page_has_everything_and_runs_nothing_but_its_own_script() {
    let stack = stack();
    let page = page(&stack);
    for what in [
        "The tests notice 17 % of 6 changes: 5 missed",
        "<code>largest</code> <span class=\"quiet\">stack.py:4</span>",
        "Try the value at the boundary, <code>number == best</code>, and assert the result.",
        "<i>4</i><b>-</b>        if number &#62; best:",
        "<i></i><b>+</b>        if number &#62;= best:",
        "A test ran over it, and passed",
        "<li>test_stack.StackTest: test_largest</li>",
        "Call <code>unused</code> in a test",
        "<a href=\"#change-boundary0\">largest</a>",
        "any will do",
        "assay mutate --report out.html",
        "2026-11-26 01:02:03",
    ] {
        assert!(page.contains(what), "{what}: {page}");
    }
    is_harmless(&page);
    assert_eq!(page.matches("<li id=\"change-").count(), 3);
}

#[test]
fn a_browser_shows_the_page_on_a_phone_and_sorts_its_tables() {
    let Some(chromium) = browser::chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut wide = stack();
    wide.units[0].name = "a_name_that_is_much_wider_than_any_phone_can_be".repeat(3);
    let page = page(&wide);
    let phone = browser::in_windows(directory.path(), &page);
    let (dom, said) = browser::browsed(&chromium, directory.path(), &["--dump-dom"], &phone);
    assert!(dom.contains("data-overflow=\"0\"") && dom.contains("data-worst=\"\""), "{said} {dom}");
    let file = directory.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let (dom, said) = browser::browsed(&chromium, directory.path(), &["--dump-dom"], &file);
    // Headings become buttons once the script has run.
    assert!(dom.contains("<button type=\"button\">missed</button>"), "{said} {dom}");
    assert!(!said.contains("Uncaught") && !said.contains("Refused"), "{said}");
}

#[test]
fn where_nothing_was_tried_or_nothing_is_missed_that_is_said() {
    let since = Some("main".to_owned());
    let none = Mutation { since, ..Mutation::default() };
    let told = mutation::render(&none, &scores(&none), 10, &screen(80));
    assert_eq!(told, "No function has lines that differ from main: there is nothing to try\n");
    is_harmless(&page(&none));
    let all = Mutation {
        mutants: vec![stack().mutants[0].clone()],
        since: Some("HEAD".to_owned()),
        ..stack()
    };
    let told = mutation::markdown(&all, &scores(&all));
    assert!(
        told.contains(
            "✅ **The tests notice 100 % of 1 change in lines that differ from HEAD: 0 missed**"
        ),
        "{told}"
    );
    assert!(page(&all).contains("claim good"));
}

#[test]
fn the_report_of_stryker_is_as_its_schema_wants_it() {
    let text = include_str!("../data/mutation-testing-report-schema.json");
    let schema: Value = serde_json::from_str(text).unwrap();
    let document = mutation::stryker::document(&stack(), ("assay", "1"));
    let problems = schema::problems(&schema, &document);
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(document["schemaVersion"], "2");
}

/// Checks the parts of the standard's requirements on documents and results that apply here.
fn is_sarif(sarif: &Value) {
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let mut ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rules.len());
    for result in run["results"].as_array().unwrap() {
        if let Some(rule) = rules.get(result["ruleIndex"].as_u64().unwrap() as usize) {
            assert_eq!(rule["id"], result["ruleId"]);
        }
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)));
        let region = place["region"].as_object().unwrap();
        assert!(region.values().all(|number| number.as_u64() >= Some(1)), "{region:?}");
        assert!(result["partialFingerprints"]["assayMutant/v1"].is_string());
    }
}

/// Checks that a page has only its own elements and attributes.
fn is_harmless(page: &str) {
    let names = page.split('<').skip(1).map(|after| {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '/' && c != '!');
        after[..end.unwrap_or(after.len())].trim_start_matches('/').to_owned()
    });
    const OWN: [&str; 40] = [
        "!DOCTYPE", "a", "b", "body", "code", "dd", "details", "div", "dl", "dt", "footer", "h1",
        "h2", "h3", "head", "header", "html", "i", "li", "link", "main", "meta", "p", "pre",
        "script", "section", "span", "style", "summary", "table", "tbody", "td", "th", "thead",
        "title", "tr", "ul", "!", "br", "strong",
    ];
    let before_script = page.split("<script>").next().unwrap();
    assert_eq!(page.matches("<script").count(), 1);
    for name in names.take(before_script.matches('<').count()) {
        assert!(OWN.contains(&name.as_str()), "{name}");
    }
    let tags = before_script.split('<').skip(1).filter_map(|tag| tag.split_once('>'));
    for (tag, _) in tags {
        // Quoted text is a value.
        let names: String = tag.split('"').step_by(2).collect();
        assert!(!names.contains("onerror") && !names.contains("src="), "{tag}");
    }
}

/// Generates text that people and tools write into sources, and text that does not belong there.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,30}",
        "[\\x00-\\x1f\\x7f\u{9b}\u{202e}\u{2028}a-c ]{0,20}",
        Just("<img src=x onerror=alert(1)>".to_owned()),
        Just("</script><script>alert(1)</script>".to_owned()),
        Just("```\n````\n</details> @ann #1 https://x.example".to_owned()),
        Just("\u{1b}]0;title\u{7}\u{1b}[31m|a|b|".to_owned()),
    ]
}

prop_compose! {
    fn anything()(
        texts in proptest::collection::vec(hostile(), 12),
        fate in 0..Fate::ALL.len(),
        operator in 0_usize..21,
        lines in (1_u32..6, 1_u32..6),
        columns in (1_u32..40, 1_u32..40),
    ) -> Mutation {
        let [path, source, name, id, what, replacement, diff, test, reason, flaky, note, since] =
            <[String; 12]>::try_from(texts).unwrap();
        let operator = mutation::known().nth(operator).unwrap_or("<other>").to_owned();
        // Prefixes of lines, as in a diff.
        let diff: String = diff.lines().map(|line| format!("+{line}\n")).collect();
        let fate = Fate::ALL[fate];
        let mutant = MutantResult {
            id, operator, what, replacement, diff, fate,
            begin: place(lines.0, columns.0),
            end: place(lines.1, columns.1),
            reason: Some(reason),
            ..mutant(0, "", "", fate)
        };
        Mutation {
            files: vec![MutatedFile { path, language: "C".to_owned(), source }],
            units: vec![MutatedUnit { file: 0, name, begin: 1, end: 2 }],
            mutants: vec![mutant],
            tests: vec![MutationTest { name: test, file: None, seconds: None }],
            flaky: vec![flaky],
            notes: vec![note],
            since: Some(since),
            ..Mutation::default()
        }
    }
}

/// Returns the lines of a comment outside code blocks.
fn outside_of_code(text: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut outside = Vec::new();
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => outside.push(line),
            Some(open) if line == open => fence = None,
            Some(open) => {
                let bare = line.trim_start_matches(' ');
                let own = bare.len() - bare.trim_start_matches('`').len();
                assert!(own < open.len(), "{line} ends the block");
            }
        }
    }
    assert_eq!(fence, None, "a block that does not end");
    outside
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn whatever_sources_hold_stays_text(mutation in anything()) {
        let scores = scores(&mutation);
        let is_obeyed = |c: char| c.is_control() && c != '\n';
        for text in [
            mutation::render(&mutation, &scores, 0, &screen(60)),
            mutation::list(&mutation, true, &screen(60)),
            mutation::markdown(&mutation, &scores),
        ] {
            prop_assert!(!text.contains(is_obeyed) && !text.contains('\u{202e}'), "{text:?}");
        }
        let page = page(&mutation);
        is_harmless(&page);
        prop_assert!(!page.contains(is_obeyed));
        let comment = mutation::markdown(&mutation, &scores);
        let outside = outside_of_code(&comment);
        for line in &outside {
            let is_summary = line.starts_with("<details>");
            let plain = line.replace("<details><summary><code>", "").replace("</code>: ", "");
            let plain = plain.replace("</summary>", "").replace("</details>", "");
            let plain = plain.replace("<!-- assay-mutate -->", "").replace("\\`", "");
            // Code is not interpreted; Markdown is not interpreted within a summary.
            let every = if is_summary { 1 } else { 2 };
            let plain: String = plain.split('`').step_by(every).collect();
            prop_assert!(!plain.contains('<'), "{line}");
        }
        let sarif = mutation::sarif(&mutation, &scores, "1");
        is_sarif(&sarif);
        let document = mutation::stryker::document(&mutation, ("assay", "1"));
        let text = include_str!("../data/mutation-testing-report-schema.json");
        let problems = schema::problems(&serde_json::from_str(text).unwrap(), &document);
        prop_assert!(problems.is_empty(), "{problems:?}");
    }
}
