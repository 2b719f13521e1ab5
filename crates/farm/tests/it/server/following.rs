//! Follows the log of a running job in a real browser: new output appears soon without reloading
//! the page, and can be searched.

use super::browser::chromium;
use super::driven::Page;
use super::*;

/// Counts the lines of the log on the page.
const LINES: &str = "document.querySelectorAll('#log .line').length";
/// Types into the search field.
const SEARCH: &str = "(() => { const s = document.getElementById('search'); s.value = 'tomato'; s.dispatchEvent(new Event('input')); })()";
/// Returns code that enters a token as a reader would.
fn enter(token: &str) -> String {
    format!(
        "(() => {{ const f = document.querySelector('form[action=\"/enter\"]'); f.querySelector('input').value = '{token}'; f.submit(); }})()"
    )
}

#[test]
fn a_log_is_followed_while_it_is_written_and_searched() {
    let Some(browser) = chromium() else { return };
    let server = Server::new(&[]);
    let token = server.farm("a", 1);
    let leased = server.leased("a", &token);
    let (job, nonce) = (leased.job.id, &leased.nonce);
    let mut written = 0;
    let mut write = |text: &str| {
        let path = format!("/api/v1/jobs/{job}/log?nonce={nonce}&offset={written}");
        server.asks("PUT", &path, &token, "", text.as_bytes()).is(200);
        written += text.len();
    };
    write("one tomato\ntwo\n");
    let reader = server.token("read", None, None);
    let at = |path: &str| format!("http://{}{path}", server.address);
    let mut page = Page::open(&browser, server.home.room(), &at("/"));
    page.waits("document.title", "A token is needed");
    page.says(&enter(&reader));
    page.waits("document.title", "assay farm");
    page.says(&format!("location.href = '/jobs/{job}'"));
    page.waits("document.body.dataset.ready", "1");
    page.waits(LINES, "2");
    page.waits("document.getElementById('told').textContent", "Follows the log as it is written.");
    page.says("window.loaded = 'once'");
    page.says(SEARCH);
    page.waits("document.getElementById('matched').textContent", "1 of 1 line");

    // A line that arrives in two pieces, and untrusted output, which is shown as text.
    write("three tom");
    write(
        "ato\n\u{1b}[31mfour\u{1b}[0m <img src=x onerror=document.body.dataset.ran=1>\n10 %\r20 %\n",
    );
    page.waits(LINES, "5");
    page.waits("document.getElementById('matched').textContent", "1 of 2 lines");
    let last = |n: usize| format!("document.querySelectorAll('#log .line')[{n}].textContent");
    assert_eq!(page.says(&last(3)), "four <img src=x onerror=document.body.dataset.ran=1>");
    assert_eq!(page.says(&last(4)), "20 %");
    assert_eq!(page.says("document.body.dataset.ran"), "undefined");
    assert_eq!(page.says("window.loaded"), "once");

    // The page shows that the job has ended, and its result.
    server.end(&token, &leased, "k").is(201);
    page.waits("window.loaded", "undefined");
    page.waits("document.querySelector('header a[href^=\"/builds/\"]') !== null", "true");
    assert_eq!(page.says("document.querySelector('header .claim').className"), "claim good");
    page.says("document.querySelector('header a[href^=\"/builds/\"]').click()");
    page.waits("location.pathname.startsWith('/builds/')", "true");
    page.waits(LINES, "5");
    assert_eq!(page.says("document.querySelector('#log .c1').textContent"), "four");
}
