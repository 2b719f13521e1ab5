//! A browser that is controlled by the DevTools protocol over two pipes, for pages that change
//! while they are open. It ends with the test.

use super::*;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Instant;

/// Chromium uses descriptors 3 and 4 for its pipes; a shell sets them up.
const WITH_PIPES: &str = r#"in=$1 out=$2; shift 2; exec "$@" 3< "$in" 4> "$out""#;

/// A page in a browser.
pub struct Page {
    browser: Child,
    to: File,
    from: BufReader<File>,
    session: Value,
    number: u64,
}

impl Page {
    /// Opens an address.
    pub fn open(browser: &Path, directory: &Path, address: &str) -> Self {
        let [to, from] = ["to-browser", "from-browser"].map(|name| directory.join(name));
        let made = Command::new("mkfifo").args([&to, &from]).status().unwrap();
        assert!(made.success());
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPES, "sh"]).args([&to, &from]).arg(browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        command.args([
            "--remote-debugging-pipe",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]);
        command.arg(format!("--user-data-dir={}", directory.join("profile").display()));
        let browser = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let to = OpenOptions::new().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let mut page = Self { browser, to, from, session: Value::Null, number: 0 };
        let target = page.asks("Target.createTarget", json!({"url": address}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        page.session = page.asks("Target.attachToTarget", target)["sessionId"].clone();
        page
    }

    /// Sends a request to the browser and returns its answer.
    fn asks(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut asked = json!({"id": self.number, "method": method, "params": parameters});
        if !self.session.is_null() {
            asked["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{asked}\0").as_bytes()).unwrap();
        loop {
            let mut said = Vec::new();
            self.from.read_until(0, &mut said).unwrap();
            let said: Value = serde_json::from_slice(said.strip_suffix(&[0]).unwrap()).unwrap();
            if said["id"] == self.number {
                return said["result"].clone();
            }
        }
    }

    /// Evaluates a JavaScript expression and returns its value as text.
    pub fn says(&mut self, expression: &str) -> String {
        let asked = json!({"expression": format!("String({expression})"), "userGesture": true});
        self.asks("Runtime.evaluate", asked)["result"]["value"].as_str().unwrap_or("").to_owned()
    }

    /// Waits until an expression has a value.
    #[track_caller]
    pub fn waits(&mut self, expression: &str, for_it: &str) {
        let began = Instant::now();
        loop {
            let said = self.says(expression);
            if said == for_it {
                return;
            }
            let page = || "document.body ? document.body.innerText : ''";
            assert!(
                began.elapsed() < PATIENCE,
                "`{expression}` is `{said}`, never `{for_it}`; the page: {}",
                self.says(page())
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _gone = self.browser.kill();
        let _ended = self.browser.wait();
    }
}
