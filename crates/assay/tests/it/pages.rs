//! `assay history site` and `serve`: pages that a real browser opens from the disk, and the same
//! pages from a server that answers only its owner.

use crate::browser::{browsed, chromium, in_windows};
use crate::room::{Room, finish, start, until};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

/// A name that tries to run a script.
const HOSTILE: &str =
    r#"</script><img src=x onerror=document.body.dataset.ran=1>'\"&\u2028\u202e/../x"#;
const RUNS: u32 = 24;

/// Returns a store with runs of three benchmarks, of which the first takes a tenth longer from the
/// middle on.
fn recorded() -> Room {
    let room = Room::new();
    let mut line = String::new();
    for run in 1..=RUNS {
        let noise = |seed: u32| 1.0 + f64::from(run * seed % 23) / 460.0;
        let step = if run > RUNS / 2 { 1.1 } else { 1.0 };
        let rows: Vec<String> = [("BM_Copy", 100.0 * noise(7) * step), (HOSTILE, 50.0 * noise(11)), ("BM_Sort/8", 3.0 * noise(5))]
            .into_iter()
            .flat_map(|(name, time)| (0..6).map(move |i| (name, time * (1.0 + f64::from(i * 5 % 6) / 1000.0))))
            .map(|(name, time)| {
                format!(
                    r#"{{"name": "{name}", "run_name": "{name}", "run_type": "iteration", "iterations": 10, "real_time": {time}, "cpu_time": {time}, "time_unit": "ns"}}"#
                )
            })
            .collect();
        let context = format!(
            r#"{{"context": {{"date": "2026-05-{run:02}T12:00:00+00:00", "host_name": "build-1"}}"#
        );
        room.write(
            &format!("{run}.json"),
            &format!("{context}, \"benchmarks\": [{}]}}", rows.join(", ")),
        );
        line +=
            &format!("$ASSAY history add -q {run}.json --rev r{run} --store s.db --project p && ");
    }
    finish(
        room.shell(&format!(
            "{line} $ASSAY history site out --unredacted --store s.db --project p"
        )),
    )
    .ends(0)
    .complains("files, ");
    room
}

/// Returns the path of a benchmark's page, from its link on the first page.
fn page_of(room: &Room, name: &str) -> String {
    let overview = room.read("out/index.html");
    let (before, _) = overview.split_once(&format!(".html\">{name}")).expect("a link");
    format!("out/{}.html", before.rsplit('"').next().unwrap())
}

/// Adds a script to a page, in a file, because the pages allow no others.
fn with_script(room: &Room, page: &str, script: &str) {
    room.write("out/data/test.js", script);
    let up = if page.contains("/benchmarks/") { "../" } else { "" };
    let text = room
        .read(page)
        .replace("</body>", &format!("<script src=\"{up}data/test.js\" defer></script></body>"));
    room.write(page, &text);
}

fn attribute<'a>(dom: &'a str, name: &str) -> &'a str {
    let found = dom
        .split(&format!("{name}=\""))
        .nth(1)
        .unwrap_or_else(|| unreachable!("no {name} in {dom}"));
    found.split('"').next().unwrap()
}

#[test]
fn a_browser_opens_the_pages_from_the_disk_draws_zooms_and_follows_a_run_to_its_comparison() {
    let Some(browser) = chromium() else { return };
    let room = recorded();
    let here = room.path(".");
    let page = page_of(&room, "BM_Copy");
    with_script(
        &room,
        &page,
        "const wait = (f) => new Promise((done) => { const t = setInterval(() => { if (f()) { clearInterval(t); done(); } }, 20); });\n\
         (async () => {\n\
           await wait(() => document.body.dataset.drawn);\n\
           const over = document.querySelector('.u-over'), box = over.getBoundingClientRect(), shown = document.getElementById('shown');\n\
           const mouse = (name, share, on = over) => on.dispatchEvent(new MouseEvent(name, { clientX: box.left + box.width * share, clientY: box.top + 50, bubbles: true, button: 0, movementX: 9, view: window }));\n\
           mouse('mousemove', 0.1); mouse('mousedown', 0.1); mouse('mousemove', 0.5); mouse('mouseup', 0.5, document);\n\
           await wait(() => !shown.textContent.startsWith('24 of') && shown.textContent.includes(' of the '));\n\
           console.log('zoomed to ' + shown.textContent.split(',')[0]);\n\
           document.querySelector('[data-last=\"0\"]').click();\n\
           await wait(() => shown.textContent.startsWith('24 of the 24'));\n\
           mouse('mousemove', 0.5);\n\
           await wait(() => document.getElementById('told').textContent.includes('2026-05-'));\n\
           mouse('pointerdown', 0.5); mouse('mousedown', 0.5); mouse('mouseup', 0.5, document); mouse('click', 0.5);\n\
         })();",
    );
    let (dom, said) =
        browsed(&browser, &here, &["--dump-dom", "--window-size=1200,900"], &room.path(&page));
    let consoles: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(consoles.len() == 1 && consoles[0].contains("zoomed to "), "{said}");
    // The click led to a comparison of the run with the previous one.
    assert!(dom.contains("data-page=\"compare\""), "{dom}");
    assert_eq!(attribute(&dom, "data-drawn"), "3");
    assert!(dom.contains(" beside r"), "{dom}");
    assert!(!dom.contains("data-ran") && !dom.contains("<img"), "{dom}");
    // Every page opens without an error, and names have no effect.
    for (name, drawn) in [
        ("out/index.html", None),
        ("out/machines.html", None),
        (page_of(&room, "&#60;/script").as_str(), Some("24")),
    ]
    .into_iter()
    .filter(|(name, _)| !name.is_empty())
    {
        let (dom, said) = browsed(&browser, &here, &["--dump-dom"], &room.path(name));
        assert!(!said.contains("CONSOLE"), "{name}: {said}");
        assert!(!dom.contains("data-ran") && !dom.contains("<img"), "{name}: {dom}");
        assert!(drawn.is_none_or(|drawn| attribute(&dom, "data-drawn") == drawn), "{name}");
    }
}

#[test]
fn the_pages_say_without_scripts_what_changed_and_stay_small() {
    let room = recorded();
    let overview = room.read("out/index.html");
    assert!(
        overview.contains(
            "24 runs of 24 revisions on 1 machine, 3 benchmarks, 2026-05-01 to 2026-05-24"
        ),
        "{overview}"
    );
    assert!(
        overview.contains("<strong>1 series worse</strong> in the")
            && overview.contains("<polyline points=\"0,"),
        "{overview}"
    );
    let page = room.read(&page_of(&room, "BM_Copy"));
    assert!(
        page.contains("wall of BM_Copy changed for the worse, by +")
            && page.contains("<h2>Levels</h2>"),
        "{page}"
    );
    assert_eq!(page.matches("compare.html#a=").count(), 23 + 1);
    // File names are safe for arbitrary names of benchmarks, and no part of a name is markup or
    // leaves its script.
    let mut bytes = 0;
    for directory in ["out/benchmarks", "out/data"] {
        for entry in fs::read_dir(room.path(directory)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)),
                "{name}"
            );
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains("<img") && !text.contains('\u{2028}') && !text.contains('\u{202e}'),
                "{name}"
            );
            if name.ends_with(".js") {
                assert!(!text.contains('<'), "{name}");
                bytes += text.len();
            }
        }
    }
    // Two metrics of three benchmarks in 24 runs, twice, and the names of all of them.
    assert!(bytes < 2 * 24 * 6 * 40 + 12_000, "{bytes}");
    // Removed benchmarks disappear from the pages as well; other files are not touched.
    finish(room.shell("$ASSAY history alias BM_Sort/8 BM_Sort --store s.db --project p && $ASSAY history site out -q --store s.db --project p"))
        .ends(0);
    let pages = fs::read_dir(room.path("out/benchmarks")).unwrap().count();
    assert_eq!(pages, 3);
    assert!(
        room.read("out/index.html").contains("…/x"),
        "paths are shortened unless they are asked for"
    );
    room.write("out/index.html", "<h1>My cat</h1>");
    room.run(&["history", "site", "out", "--store", "s.db", "--project", "p"])
        .ends(2)
        .complains("was not written by assay");
}

#[test]
fn a_phone_shows_the_whole_width_of_the_pages() {
    let Some(browser) = chromium() else { return };
    let room = recorded();
    for page in ["out/index.html".to_owned(), page_of(&room, "BM_Copy")] {
        // A page in a frame, loaded from the disk, does not load its own style sheet.
        let style = room.read("out/assets/site.css");
        let text = room.read(&page).replace("</head>", &format!("<style>{style}</style></head>"));
        let text = text.replace("Content-Security-Policy", "nothing");
        let phone = in_windows(&room.path("."), &text);
        let (dom, said) = browsed(&browser, &room.path("."), &["--dump-dom"], &phone);
        assert_eq!(
            (attribute(&dom, "data-overflow"), attribute(&dom, "data-worst")),
            ("0", ""),
            "{page}: {said}"
        );
    }
}

/// Returns a server's response: its status line with the headers, and the body.
fn asked(address: &str, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[test]
fn a_server_makes_the_same_pages_of_what_is_there_now_and_answers_nobody_else() {
    let room = recorded();
    let mut serving =
        start(room.shell("exec $ASSAY history serve --port 0 --store s.db --project p > address"));
    until("it says where it listens", || room.read("address").ends_with("/\n"));
    assert!(serving.is_running());
    let address =
        room.read("address").trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let get =
        |path: &str| asked(&address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    let (head, body) = get("/");
    assert!(
        head.starts_with("HTTP/1.1 200 ")
            && head.contains("nosniff")
            && head.contains("default-src 'none'"),
        "{head}"
    );
    assert!(body.contains("24 runs of 24 revisions"));
    // The data are equal to those of the files.
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let mut compared = 0;
    for entry in fs::read_dir(room.path("out/data")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert_eq!(
            lines(&get(&format!("/data/{name}")).1),
            lines(&room.read(&format!("out/data/{name}"))),
            "{name}"
        );
        compared += 1;
    }
    assert!(compared >= 3 + 1 + 6, "{compared}");
    for (request, status) in [
        (format!("HEAD / HTTP/1.1\r\nHost: {address}\r\n\r\n"), "200"),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), "403"),
        (format!("POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n"), "405"),
        (format!("GET /../s.db HTTP/1.1\r\nHost: {address}\r\n\r\n"), "404"),
        (format!("GET /data/runs-999999999999.js HTTP/1.1\r\nHost: {address}\r\n\r\n"), "404"),
        ("nonsense\r\n\r\n".to_owned(), "400"),
    ] {
        let (head, body) = asked(&address, &request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {head}");
        assert!(!request.starts_with("HEAD") || body.is_empty());
    }
    // Many clients send requests at the same moment, while others leave theirs incomplete: all
    // complete requests are answered.
    let _halves: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
            stream
        })
        .collect();
    let readers = std::thread::scope(|scope| {
        let reader = || get("/").0.starts_with("HTTP/1.1 200 ");
        let readers: Vec<_> = (0..200).map(|_| scope.spawn(reader)).collect();
        readers.into_iter().filter_map(|reader| reader.join().ok()).filter(|ok| *ok).count()
    });
    assert_eq!(readers, 200);
    // A run that was added in the meantime is shown.
    finish(room.shell("$ASSAY history add -q 1.json --rev later --store s.db --project p")).ends(0);
    assert!(get("/index.html").1.contains("25 runs of 25 revisions"));
    serving.signal("INT");
    assert_eq!(serving.finish().status, 130);
}
