//! Links between pages: every link to a file or a heading, the list of all pages, and a section for
//! every verb.

use crate::documents::{read, top};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path};
use std::process::Command;

/// Directories with pages at any depth; in others only top-level pages count.
const WITH_PAGES: [&str; 9] =
    ["c", "crates", "docs", "examples", "fuzz", "packaging", "python", "ruby", "scripts"];
/// Directories with generated or third-party files only.
const LEFT_OUT: [&str; 4] = ["target", "node_modules", ".peers", "vendor"];

/// Returns all pages, as paths from the top.
fn pages() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![top()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory").flatten() {
            let (path, name) = (entry.path(), entry.file_name().into_string().expect("a name"));
            let is_top = directory == top();
            let goes_in = if is_top {
                WITH_PAGES.contains(&name.as_str())
            } else {
                !name.starts_with('.') && !LEFT_OUT.contains(&name.as_str())
            };
            if path.is_dir() && goes_in {
                open.push(path);
            } else if name.ends_with(".md") && path.is_file() {
                let place = path.strip_prefix(top()).expect("below the top");
                found.push(place.to_str().expect("a path of letters").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Returns the text without code blocks and inline code, which only look like links and headings.
fn prose(text: &str) -> String {
    let mut fence = "";
    let mut prose = String::new();
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~~"].into_iter().find(|mark| start.starts_with(mark));
        match mark {
            Some(mark) if fence.is_empty() => fence = mark,
            Some(mark) if fence == mark => fence = "",
            _ if fence.is_empty() => prose += line,
            _ => {}
        }
        prose.push('\n');
    }
    prose
}

/// Returns the targets of a page's links, including images.
fn links(text: &str) -> Vec<String> {
    let code = Regex::new("`[^`\n]*`").expect("a pattern");
    let link = Regex::new(r#"\]\(([^)\s]+)\)|\s(?:src|href)="([^"]+)""#).expect("a pattern");
    let text = code.replace_all(text, "").into_owned();
    let found = link.captures_iter(&text).filter_map(|found| found.get(1).or(found.get(2)));
    found.map(|found| found.as_str().to_owned()).collect()
}

/// Returns the anchors that forges generate for headings: lower-case letters, without punctuation,
/// blanks as dashes; `-1` after the second of the same name.
fn anchors(prose: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let headings = headings.filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let link = Regex::new(r"\[([^\]]*)\]\([^)]*\)").expect("a pattern");
    let mut found: BTreeSet<String> = headings
        .map(|heading| {
            let text = link.replace_all(heading.trim(), "$1").to_lowercase();
            let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            let name: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let times = times.entry(name.clone()).or_default();
            *times += 1;
            if *times > 1 { format!("{name}-{}", *times - 1) } else { name }
        })
        .collect();
    let named = Regex::new(r#"<a (?:id|name)="([^"]+)""#).expect("a pattern");
    found.extend(named.captures_iter(prose).map(|found| found[1].to_owned()));
    found
}

/// Returns a path from the top without `..`; `None` if it leads outside.
fn normal(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => drop(parts.pop()?),
            _ => {}
        }
    }
    Some(parts.join("/"))
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let prose_of: BTreeMap<String, String> =
        pages().into_iter().map(|page| (page.clone(), prose(&read(&page)))).collect();
    let anchors_of: BTreeMap<&str, BTreeSet<String>> =
        prose_of.iter().map(|(page, text)| (page.as_str(), anchors(text))).collect();
    assert!(prose_of.len() > 60, "{:?}", prose_of.keys());
    for (page, text) in &prose_of {
        for link in links(text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, fragment) = link.split_once('#').unwrap_or((&link, ""));
            let place = match path {
                "" => Some(page.clone()),
                path => normal(&Path::new(page).parent().unwrap_or(Path::new("")).join(path)),
            };
            let Some(place) = place.filter(|place| top().join(place).exists()) else {
                wrong.push(format!("{page}: {link}"));
                continue;
            };
            let known = anchors_of.get(place.as_str());
            if !fragment.is_empty() && known.is_some_and(|known| !known.contains(fragment)) {
                wrong.push(format!("{page}: {link}: no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the paths in a page's inline code that seem to be meant literally: not patterns, not
/// commands, and without a part in capitals that stands for a name.
fn named_paths(text: &str) -> Vec<String> {
    let code = Regex::new("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+/?)`").expect("a pattern");
    let is_placeholder = |part: &str| {
        let stem = part.split('.').next().unwrap_or_default();
        stem.len() > 1 && stem != "README" && stem.chars().all(|c| c.is_ascii_uppercase())
    };
    let found = code.captures_iter(text).map(|found| found[1].to_owned());
    found.filter(|path| !path.split('/').any(is_placeholder)).collect()
}

/// A checklist that names a moved file misleads its readers.
#[test]
fn every_path_that_a_checklist_names_is_there() {
    let is_checklist = |page: &String| {
        let in_tests = page.contains("/tests/");
        let below = ["c/", "crates/", "fuzz/", "scripts/"].iter().any(|top| page.starts_with(top));
        let named = page == "ARCHITECTURE.md" || page.ends_with("/CONTRIBUTING.md");
        named || (below && !in_tests && page.ends_with("/README.md"))
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages().into_iter().filter(is_checklist) {
        for path in named_paths(&read(&page)) {
            count += 1;
            // From the page's own folder or one above it, the crate, or the top.
            let mut folders = Path::new(&page).ancestors().skip(1);
            if !folders.any(|folder| top().join(folder).join(&path).exists()) {
                wrong.push(format!("{page}: {path}"));
            }
        }
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The site's navigation is generated from the list of all pages (`scripts/site.py`).
#[test]
fn every_page_is_in_the_list_of_pages_once() {
    let listed = links(&prose(&read("docs/README.md")));
    let listed: Vec<String> = listed.iter().map(|link| format!("docs/{link}")).collect();
    let pages = pages();
    let expected: Vec<&String> = pages
        .iter()
        .filter(|page| page.starts_with("docs/") && *page != "docs/README.md")
        .collect();
    for page in &expected {
        let times = listed.iter().filter(|own| own == page).count();
        assert_eq!(times, 1, "{page} is {times} times in docs/README.md");
    }
    assert_eq!(listed.len(), expected.len(), "{listed:#?}");
}

/// Returns the verbs listed in the help.
fn verbs() -> Vec<String> {
    let assay = Command::new(env!("CARGO_BIN_EXE_assay")).arg("-h").env("COLUMNS", "200").output();
    let help = String::from_utf8(assay.expect("it runs").stdout).expect("text");
    let (_, list) = help.split_once("Commands:\n").expect("a list of verbs");
    let named = list.lines().take_while(|line| line.starts_with("  "));
    let named = named.filter(|line| !line.starts_with("   "));
    named.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_verb_has_its_place_in_the_documents() {
    let reference = read("docs/reference/cli.md");
    let questions = read("docs/tutorial/one-line-each.md");
    let verbs = verbs();
    assert!(verbs.len() > 20, "{verbs:?}");
    for verb in verbs.iter().filter(|verb| *verb != "help") {
        let is_told = reference.contains(&format!("$ assay {verb} --help"))
            || reference.contains(&format!("$ assay help {verb}"))
            || reference.contains(&format!("## assay {verb}\n"));
        assert!(is_told, "{verb} has no section in docs/reference/cli.md");
        let is_asked = questions.contains(&format!("assay {verb} "));
        assert!(is_asked, "{verb} answers no question of docs/tutorial/one-line-each.md");
    }
}
