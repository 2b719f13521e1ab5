//! The pages of a farm: golden files, the harmlessness of untrusted text, and their rendering in a
//! real browser.
#![allow(clippy::unwrap_used, reason = "a test may stop")]

use crate::browser;
mod sample;

use assay_report::farm::{SHARED, badge};
use assay_report::terminal::Screen;
use browser::{browsed, chromium};
use proptest::prelude::*;
use sample::{Sample, pages};
use std::fs;
use std::path::Path;

/// Returns a sample with unmodified texts.
fn plain() -> Sample {
    Sample::new(&|text| text.to_owned())
}

#[test]
fn the_pages_are_as_they_were() {
    for (name, page) in pages(&plain(), "") {
        insta::assert_snapshot!(format!("farm_{name}"), page);
    }
}

#[test]
fn the_matrix_is_a_screen_too() {
    let sample = plain();
    let screen = Screen { width: 80, color: false, unicode: true, whole: false };
    insta::assert_snapshot!("farm_screen", sample.screen(&screen));
    insta::assert_snapshot!(
        "farm_screen_ascii",
        sample.screen(&Screen { unicode: false, width: 60, ..screen })
    );
}

/// Returns the tags of a page with their attribute names, in order: the page as a browser sees it,
/// without the texts.
fn skeleton(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let mut quoted = false;
        let end = tag
            .char_indices()
            .find(|&(_, c)| {
                quoted ^= c == '"';
                c == '>' && !quoted
            })
            .map(|(at, _)| at)
            .unwrap_or_else(|| unreachable!("a tag that does not end: {tag:.80}"));
        // Every second part is a value.
        let parts = tag[..end].split('"').step_by(2);
        tags.push(parts.collect::<Vec<_>>().join("\"").trim().to_owned());
        rest = &tag[end + 1..];
    }
    tags
}

fn harmless(name: &str, page: &str, expected: &str) {
    let (found, wanted) = (skeleton(page), skeleton(expected));
    let differ = found.iter().zip(&wanted).find(|(a, b)| a != b);
    assert!(
        differ.is_none() && found.len() == wanted.len(),
        "{name}: {differ:?} of {} and {} tags",
        found.len(),
        wanted.len()
    );
    let steers = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!page.contains(steers), "{name}: {:?}", page.find(steers));
}

#[test]
fn hostile_texts_change_nothing_of_a_page() {
    let expected = pages(&plain(), "");
    for hostile in [
        "</script><img src=x onerror=alert(1)>",
        "\"'><svg/onload=alert(1)>",
        "javascript:alert(1)//",
        "\u{202e}\u{1b}[31m\u{9b}2J\u{0}\r\u{2028}",
        "{{ around.tool }}{% include \"x\" %}",
        "&lt;b&gt;&#60;b&#62;",
        "-->]]><!--",
        "../../..//evil.example/?#",
        "http://evil.example",
    ] {
        let sample = Sample::new(&|text| format!("{text}{hostile}"));
        for ((name, page), (_, plain)) in pages(&sample, "").iter().zip(&expected) {
            harmless(name, page, plain);
            // No link leads elsewhere.
            for link in page.split("href=\"").skip(1).chain(page.split("src=\"").skip(1)) {
                let link = link.split('"').next().unwrap();
                let inside = link.starts_with('/') && !link.starts_with("//");
                assert!(inside || link == "data:,", "{name}: {link}");
            }
        }
        let screen = Screen { width: 80, color: false, unicode: true, whole: true };
        assert!(!sample.screen(&screen).contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{0}']));
        assert!(!badge(Some(hostile), &[]).unwrap().contains("onerror=alert(1)>"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn no_text_gets_out_as_markup(text in proptest::collection::vec(prop_oneof![
        Just('<'), Just('>'), Just('"'), Just('\''), Just('&'), Just('/'), Just('='), Just(' '), Just(';'), Just('\u{1b}'), any::<char>()
    ], 0..40)) {
        let text: String = text.into_iter().collect();
        let sample = Sample::new(&|plain| format!("{plain}{text}"));
        for ((name, page), (_, plain)) in pages(&sample, "").iter().zip(&pages(&plain(), "")) {
            harmless(name, page, plain);
        }
    }
}

/// Writes all pages and their shared files to a directory.
fn written(directory: &Path) -> Vec<String> {
    fs::create_dir(directory.join("assets")).unwrap();
    for (name, _, text) in SHARED {
        fs::write(directory.join("assets").join(name), text).unwrap();
    }
    let all = pages(&plain(), ".");
    for (name, page) in &all {
        fs::write(directory.join(format!("{name}.html")), page).unwrap();
    }
    all.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Appends a script to a page; it writes its findings into the body.
fn with_script(directory: &Path, name: &str, script: &str) {
    let path = directory.join(format!("{name}.html"));
    let page = fs::read_to_string(&path).unwrap();
    fs::write(directory.join("test.js"), script).unwrap();
    fs::write(&path, page.replace("</body>", "<script src=\"test.js\" defer></script></body>"))
        .unwrap();
}

#[test]
fn a_browser_opens_every_page_without_a_complaint_and_none_is_wider_than_a_phone() {
    let Some(browser) = chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    for name in written(directory.path()) {
        let page = directory.path().join(format!("{name}.html"));
        let frame = fs::read_to_string(&page).unwrap();
        let phone = browser::in_windows(directory.path(), &frame);
        let (dom, said) = browsed(&browser, directory.path(), &["--dump-dom"], &phone);
        assert!(!said.contains("CONSOLE"), "{name}: {said}");
        assert!(
            dom.contains("data-overflow=\"0\""),
            "{name}: {}",
            dom.split("data-worst").nth(1).unwrap_or("")
        );
    }
}

#[test]
fn keys_choose_rows_search_and_help_and_a_log_is_searched() {
    let Some(browser) = chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    with_script(
        directory.path(),
        "build",
        "const key = (k) => document.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));\n\
         const wait = (f) => new Promise((done) => { const t = setInterval(() => { if (f()) { clearInterval(t); done(); } }, 20); });\n\
         (async () => {\n\
           const said = [];\n\
           key('j'); key('j'); key('k'); said.push('row ' + [...document.querySelectorAll('[data-row]')].indexOf(document.querySelector('.chosen')));\n\
           key('/'); said.push('search ' + (document.activeElement.id === 'search'));\n\
           const search = document.getElementById('search'); search.value = 'error'; search.dispatchEvent(new Event('input'));\n\
           await wait(() => document.getElementById('matched').textContent.includes(' of '));\n\
           said.push(document.getElementById('matched').textContent); search.blur();\n\
           key('n'); said.push(document.getElementById('matched').textContent);\n\
           document.getElementById('only').click(); said.push('shown ' + [...document.querySelectorAll('.line')].filter((l) => l.offsetHeight > 0).length);\n\
           key('?'); said.push('help ' + document.getElementById('keys').open);\n\
           document.body.dataset.said = said.join('; ');\n\
         })();",
    );
    let page = directory.path().join("build.html");
    let (dom, told) = browsed(&browser, directory.path(), &["--dump-dom"], &page);
    assert!(!told.contains("CONSOLE"), "{told}");
    let said = dom.split("data-said=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
    assert_eq!(
        said,
        Some("row 0; search true; 1 of 2 lines; 2 of 2 lines; shown 2; help true"),
        "{dom}"
    );
}
