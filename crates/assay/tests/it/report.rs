//! `--report` and `--plots` through the real binary, and the page in a real browser, offline.
//!
//! The browser is a headless Chromium, which `make test` installs where possible; without it, these
//! tests report that they are skipped.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "this is a test")]

use crate::browser;

use browser::{browsed, chromium, in_windows};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn assay(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(arguments)
        .current_dir(directory)
        .env("XDG_STATE_HOME", directory)
        .output()
        .unwrap()
}

/// Returns a directory with two recordings of `count` numbers.
fn recordings(count: u32) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, factor) in [("old.txt", 10.0), ("new.txt", 9.5)] {
        let value = |i: u32| {
            factor * (1.0 + 0.1 * (f64::from(i * 7919 % 1009) / 1009.0 - 0.5).powi(3) * 8.0)
        };
        let text: String = (0..count).map(|i| format!("{}\n", value(i))).collect();
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

fn with_report(directory: &Path) -> PathBuf {
    let run = assay(
        directory,
        &["compare", "--unit", "ms", "old.txt", "new.txt", "--report", "out.html"],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    directory.join("out.html")
}

#[test]
fn a_report_and_plots_are_written_beside_the_screen() {
    let directory = recordings(60);
    let path = directory.path();
    let plain = assay(path, &["compare", "--unit", "ms", "old.txt", "new.txt"]);
    let run = assay(
        path,
        &[
            "compare",
            "--unit",
            "ms",
            "old.txt",
            "new.txt",
            "--report",
            "out.html",
            "--plots",
            "plots/all",
        ],
    );
    assert_eq!(run.stdout, plain.stdout);
    assert!(String::from_utf8_lossy(&run.stderr).contains("report: out.html"));
    let page = fs::read_to_string(path.join("out.html")).unwrap();
    let screen = String::from_utf8_lossy(&run.stdout);
    let claim = screen.lines().next().unwrap();
    assert!(page.contains(claim.split(',').next().unwrap()), "{claim}");
    assert!(
        page.contains(
            "assay compare --unit ms old.txt new.txt --report out.html --plots plots/all"
        )
    );
    for name in [
        "raw",
        "density",
        "ecdf",
        "box",
        "correlogram",
        "differences",
        "quantiles",
        "bootstrap",
        "power",
    ] {
        let svg = fs::read_to_string(path.join(format!("plots/all/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<?xml") && svg.contains("#ffffff"));
        assert!(
            fs::read(path.join(format!("plots/all/{name}.png"))).unwrap().starts_with(b"\x89PNG")
        );
    }
    // No partially written file is left.
    assert!(
        fs::read_dir(path).unwrap().all(|e| !e
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with(".assay"))
    );
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let directory = recordings(5);
    let path = directory.path();
    for (arguments, told) in [
        (["--report", "none/out.html"], "the directory none does not exist"),
        (["--report", "."], "that is a directory"),
        (["--plots", "old.txt"], "that is a file"),
    ] {
        let mut all = vec!["run", "--no-save", "--runs", "1", "touch measured"];
        all.extend(arguments);
        let run = assay(path, &all);
        assert_eq!(run.status.code(), Some(2));
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(said.contains(told) && said.contains(arguments[0]), "{said}");
        assert!(!path.join("measured").exists());
    }
}

#[test]
fn a_run_has_a_report_with_its_environment_and_its_command() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let run = assay(
        path,
        &[
            "run",
            "-q",
            "--runs",
            "6",
            "--save",
            "r.assay",
            "--report",
            "out.html",
            "sleep 0.001",
            "sleep 0.002",
        ],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let page = fs::read_to_string(path.join("out.html")).unwrap();
    for part in [
        "<h2>Environment</h2>",
        "assay run -q --runs 6",
        "6 blocks",
        "id=\"plot-blocks\"",
        "subject,block,pos",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The recording gives the same page.
    let again = assay(path, &["compare", "r.assay", "--report", "again.html"]);
    assert!(again.status.success());
    let again = fs::read_to_string(path.join("again.html")).unwrap();
    assert_eq!(again.matches("<svg").count(), page.matches("<svg").count());
}

#[test]
fn a_description_has_a_page_that_compares_nobody() {
    let directory = recordings(60);
    let run = assay(
        directory.path(),
        &["describe", "--unit", "ms", "old.txt", "new.txt", "--report", "out.html", "--plots", "p"],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let page = fs::read_to_string(directory.path().join("out.html")).unwrap();
    assert!(page.contains("plot-density") && !page.contains("plot-differences"));
    assert!(!page.contains("NOT_INTERLEAVED") && directory.path().join("p/box.png").is_file());
}

#[test]
fn a_comparison_has_a_page_that_shows_each_side_by_itself_too() {
    let directory = recordings(60);
    let path = directory.path();
    let rows = |page: &Path| {
        let page = fs::read_to_string(page).unwrap();
        let (_, section) = page.split_once("<div class=\"series\">").expect("the part");
        section.split_once("</div>").unwrap().0.to_owned()
    };
    let compared = rows(&with_report(path));
    for part in ["<h3>old</h3>", "<h3>new</h3>", "over time", "dependence", "lognormal", " ms"] {
        assert!(compared.contains(part), "{part}: {compared}");
    }
    // It has the same content as the page of a description.
    let run =
        assay(path, &["describe", "--unit", "ms", "old.txt", "new.txt", "--report", "alone.html"]);
    assert!(run.status.success());
    assert_eq!(compared, rows(&path.join("alone.html")));
}

#[test]
fn what_is_skipped_is_left_out_of_the_numbers_and_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let value = |i: u32| if i < 30 { 20.0 } else { 10.0 + f64::from(i * 7919 % 1009) / 1009.0 };
    let text: String = (0..200).map(|i| format!("{}\n", value(i))).collect();
    fs::write(path.join("warm.txt"), text).unwrap();
    let said =
        |arguments: &[&str]| String::from_utf8_lossy(&assay(path, arguments).stdout).into_owned();
    assert!(said(&["describe", "warm.txt", "--verbose"]).contains("--skip 30"));
    let steady = said(&["describe", "warm.txt", "--skip", "30"]);
    assert!(steady.contains("170 values") && !steady.contains("warmed up"), "{steady}");
    assert!(steady.contains("first 30 observations of every series were left out"), "{steady}");
    let compared = said(&["compare", "warm.txt", "warm.txt", "--skip", "30", "--verbose"]);
    assert!(compared.contains("first 30 observations of every series were left out"), "{compared}");
    let none = assay(path, &["describe", "warm.txt", "--skip", "200"]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(2) && said.contains("leaves nothing of warm"), "{said}");
}

#[test]
fn the_page_opens_in_a_browser_without_errors_and_the_net() {
    let Some(browser) = chromium() else { return };
    let directory = recordings(500);
    let page = with_report(directory.path());
    let (dom, said) = browsed(&browser, directory.path(), &["--dump-dom"], &page);
    assert!(!said.contains("CONSOLE"), "{said}");
    // Its script ran: the link to the values is shown.
    assert!(
        dom.contains("id=\"save\">") || dom.contains("id=\"save\" >"),
        "the script did not run"
    );
    assert!(dom.matches("<svg").count() >= 9);
}

#[test]
fn whoever_points_into_a_plot_is_told_the_value_there() {
    let Some(browser) = chromium() else { return };
    let directory = recordings(60);
    let page = with_report(directory.path());
    let pointing = "<script>addEventListener('load',function(){document.querySelectorAll('details').forEach(function(d){d.open=true});var s=document.querySelector('#plot-ecdf svg'),b=s.getBoundingClientRect();\
         s.dispatchEvent(new PointerEvent('pointermove',{clientX:b.left+b.width/2,clientY:b.top+b.height/2,bubbles:true}));\
         document.body.setAttribute('data-told',document.querySelector('.at').hidden?'':document.querySelector('.at').textContent)})</script>";
    let text = fs::read_to_string(&page).unwrap().replace("</body>", &format!("{pointing}</body>"));
    fs::write(&page, text).unwrap();
    let (dom, said) = browsed(&browser, directory.path(), &["--dump-dom"], &page);
    assert!(!said.contains("CONSOLE"), "{said}");
    let told = dom.split("data-told=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(told.contains(" ms · ") && told.ends_with('%'), "{told}");
}

#[test]
fn every_window_shows_the_whole_width_of_a_page_with_long_names() {
    let Some(browser) = chromium() else { return };
    let long = "a-very-long-name-of-a-command --with=/many/parts/and/no/spaces/".repeat(3);
    let directory = recordings(500);
    fs::rename(
        directory.path().join("old.txt"),
        directory.path().join(format!("{}.txt", long.replace('/', "_"))),
    )
    .unwrap();
    let run = assay(
        directory.path(),
        &[
            "compare",
            "--unit",
            "ms",
            &format!("{}.txt", long.replace('/', "_")),
            "new.txt",
            "--report",
            "out.html",
        ],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let page = fs::read_to_string(directory.path().join("out.html")).unwrap();
    let phone = in_windows(directory.path(), &page);
    let (dom, said) = browsed(&browser, directory.path(), &["--dump-dom"], &phone);
    let attribute = |name: &str| {
        let rest =
            dom.split(&format!("{name}=\"")).nth(1).unwrap_or_else(|| panic!("{name}: {said}"));
        rest.split('"').next().unwrap().to_owned()
    };
    assert_eq!((attribute("data-overflow").as_str(), attribute("data-worst").as_str()), ("0", ""));
    assert!(attribute("data-figures").parse::<u32>().unwrap() > 50);
}

#[test]
fn the_page_is_drawn_in_light_and_dark_and_prints() {
    let Some(browser) = chromium() else { return };
    let directory = recordings(200);
    let page = with_report(directory.path());
    let picture = |name: &str, scheme: &str| {
        let file = directory.path().join(name);
        let (screenshot, scheme) = (
            format!("--screenshot={}", file.display()),
            format!("--blink-settings=preferredColorScheme={scheme}"),
        );
        browsed(
            &browser,
            directory.path(),
            &["--window-size=1280,900", &screenshot, &scheme],
            &page,
        );
        fs::read(file).unwrap()
    };
    // In Chromium 0 is dark and 1 is light.
    assert_ne!(picture("dark.png", "0"), picture("light.png", "1"));
    let file = directory.path().join("out.pdf");
    browsed(
        &browser,
        directory.path(),
        &[&format!("--print-to-pdf={}", file.display()), "--no-pdf-header-footer"],
        &page,
    );
    let pdf = fs::read(file).unwrap();
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 20_000);
}

#[test]
fn plots_by_themselves_open_in_a_browser() {
    let Some(browser) = chromium() else { return };
    let directory = recordings(200);
    let run =
        assay(directory.path(), &["compare", "--unit", "ms", "old.txt", "new.txt", "--plots", "p"]);
    assert!(run.status.success());
    let (dom, said) = browsed(
        &browser,
        directory.path(),
        &["--dump-dom"],
        &directory.path().join("p/density.svg"),
    );
    assert!(
        dom.contains("<svg") && !dom.contains("parsererror") && !said.contains("CONSOLE"),
        "{said}"
    );
}

#[test]
fn the_flame_graph_of_a_profile_is_zoomed_and_searched() {
    let Some(browser) = chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("p.collapsed"),
        "main;<load>;parse 60\nmain;draw;line 30\nmain;(marking) 10\n",
    )
    .unwrap();
    let made = assay(directory.path(), &["profile", "p.collapsed", "-o", "p.html"]);
    assert!(made.status.success(), "{made:?}");
    let page = directory.path().join("p.html");
    let using = "<script>const s=document.querySelector('.search');s.value='^(parse|line)$';s.dispatchEvent(new Event('input'));\
         document.body.setAttribute('data-found',document.querySelectorAll('.flame .found').length);\
         document.body.setAttribute('data-matched',document.querySelector('.matched').textContent);\
         [...document.querySelectorAll('.flame button')].find(b=>b.textContent==='<load>').click();\
         document.body.setAttribute('data-zoomed',[...document.querySelectorAll('.flame button')].map(b=>b.textContent.replace(/[<>]/g,'')).sort().join())</script>";
    let text = fs::read_to_string(&page).unwrap().replace("</body>", &format!("{using}</body>"));
    fs::write(&page, text).unwrap();
    let (dom, said) = browsed(&browser, directory.path(), &["--dump-dom"], &page);
    assert!(!said.contains("CONSOLE"), "{said}");
    for told in [
        "data-found=\"2\"",
        "data-matched=\"matched: 90.0 % of the whole profile\"",
        "data-zoomed=\"all,load,main,parse\"",
    ] {
        assert!(dom.contains(told), "no {told} in {dom}");
    }
}

#[test]
fn a_page_shows_neither_where_files_lie_nor_secrets_unless_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = path.join("copy");
    std::os::unix::fs::symlink("/bin/true", &program).unwrap();
    let command = format!("{} --token=hunter2", program.display());
    let measured = |more: &[&str]| {
        let fixed = ["run", &command, "-r", "6", "--no-save", "-q", "--report", "page.html"];
        assert!(assay(path, &[&fixed[..], more].concat()).status.success());
        fs::read_to_string(path.join("page.html")).unwrap()
    };
    let page = measured(&[]);
    let place = path.display().to_string();
    assert!(!page.contains(&place) && !page.contains("hunter2"));
    assert!(page.contains("…/copy --token=…"));
    // Numbers of the machine have units, and the page explains its terms.
    assert!(page.contains("<th scope=\"row\">memory total</th><td>") && page.contains("GiB</td>"));
    assert!(page.contains("<dt id=\"word-wall-time\">Wall time</dt>"));
    let page = measured(&["--unredacted"]);
    assert!(page.contains(&place) && page.contains("hunter2"));
}

/// Writes a recording of a suite of three tests in two files, given by names and times in seconds;
/// the last one failed.
fn recorded_suite(directory: &Path, tests: [(&str, &str, f64); 3]) {
    use assay_data::samples::{BEGAN, WHOLE_SUITE};
    use assay_data::{Metric, Observation, Outcome, Row, Samples, Subject, Unit};
    let names = ["wall", "boot", "body", BEGAN];
    let mut samples =
        Samples::new(names.iter().map(|name| Metric::lower(name, Unit::Second)).collect());
    samples.environment.set("test_framework", "pytest 8.3");
    let side = samples.side_named("suite");
    let total: f64 = tests.iter().map(|(.., seconds)| seconds).sum();
    let whole = [(WHOLE_SUITE, "", total)];
    let mut began = 1.0;
    for (row, (name, file, seconds)) in whole.iter().chain(&tests).enumerate() {
        let group = if file.is_empty() { Vec::new() } else { vec![(*file).to_owned()] };
        let noun = Some("test".to_owned());
        samples.rows.push(Row { name: (*name).to_owned(), group, noun, ..Row::default() });
        let subject = samples.add(Subject {
            side,
            row,
            name: (*name).to_owned(),
            against: Some(row),
            ..Subject::default()
        });
        let values = match row {
            0 => vec![seconds + 1.0, 1.0, *seconds, f64::NAN],
            _ => vec![*seconds, f64::NAN, f64::NAN, began],
        };
        let outcome = if row == tests.len() { Outcome::Exit(1) } else { Outcome::Ok };
        began += if row > 0 { *seconds } else { 0.0 };
        samples.push(Observation {
            subject,
            block: Some(0),
            outcome,
            values,
            ..Observation::default()
        });
    }
    let file = fs::File::create(directory.join("suite.assay")).unwrap();
    assay_data::assay_file::write(&samples, file).unwrap();
}

#[test]
fn the_page_of_a_recorded_suite_is_sorted_searched_and_zoomed() {
    let Some(browser) = chromium() else { return };
    let directory = tempfile::tempdir().unwrap();
    let hostile = "</script><img src=x onerror=document.body.dataset.ran=1>";
    recorded_suite(
        directory.path(),
        [("f.py::b", "f.py", 2.0), ("f.py::a", "f.py", 0.5), (hostile, "g.py", 1.0)],
    );
    let made = assay(directory.path(), &["compare", "suite.assay", "--report", "t.html"]);
    assert!(made.status.success(), "{made:?}");
    let page = directory.path().join("t.html");
    let using = "<script>const names=()=>[...document.querySelectorAll('.sortable tbody th')].map(c=>c.textContent.slice(0,7)).join();\
         const heads=document.querySelectorAll('.sortable thead button'),say=(n,v)=>document.body.setAttribute('data-'+n,v);\
         say('given',names());heads[0].click();say('words',names());heads[1].click();say('falls',names());heads[1].click();say('rises',names());\
         const s=document.querySelector('.search');s.value='^b$';s.dispatchEvent(new Event('input'));say('matched',document.querySelector('.matched').textContent);\
         [...document.querySelectorAll('.flame button')].find(b=>b.textContent==='f.py').click();\
         say('zoomed',[...document.querySelectorAll('.flame button')].map(b=>b.textContent).sort().join())</script>";
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("1: ") || text.contains(">3 tests</text>"), "{text}");
    fs::write(&page, text.replace("</body>", &format!("{using}</body>"))).unwrap();
    let (dom, said) = browsed(&browser, directory.path(), &["--dump-dom"], &page);
    assert!(!said.contains("CONSOLE"), "{said}");
    for told in [
        "data-given=\"f.py::b,&lt;/scrip,f.py::a\"",
        "data-words=\"&lt;/scrip,f.py::a,f.py::b\"",
        "data-falls=\"f.py::b,&lt;/scrip,f.py::a\"",
        "data-rises=\"f.py::a,&lt;/scrip,f.py::b\"",
        "data-matched=\"matched: 57.1 % of all tests\"",
        "data-zoomed=\"a,all tests,b,f.py\"",
    ] {
        assert!(dom.contains(told), "no {told} in {dom}");
    }
    assert!(!dom.contains("data-ran") && !dom.contains("<img"), "{dom}");
    let phone = in_windows(directory.path(), &fs::read_to_string(&page).unwrap());
    let (dom, _) = browsed(&browser, directory.path(), &["--dump-dom"], &phone);
    assert!(dom.contains("data-overflow=\"0\""), "{dom}");
}
