//! The command that repeats a job: one shell line, made from what is known about the version, with
//! all untrusted words quoted. It uses no sandbox: users who paste it are expected to know whose
//! code it is.

use super::suggesting::Steps;
use assay_farm::builds::model::Kind;
use assay_farm::builds::wire::{LeasedJob, Origin, Version};

/// Copies the contents of an unpacked archive's single directory into the current directory.
const UP: &str = "cp -R ./*/. .";

/// Returns true for the address of a zip archive.
pub(super) fn is_zip(url: &str) -> bool {
    url.split(['?', '#']).next().unwrap_or_default().ends_with(".zip")
}

fn quoted(word: &str) -> String {
    shell_words::quote(word).into_owned()
}

/// Returns commands of a project, which may have several lines, as a shell word on one line. Other
/// control characters remain, and cause the whole line to be refused.
fn script(commands: &str) -> String {
    match commands.trim_end().contains('\n') {
        false => quoted(commands.trim_end()),
        true => {
            let escaped = commands.trim_end().replace('\\', "\\\\").replace('\n', "\\n");
            format!("\"$(printf %b {})\"", quoted(&escaped))
        }
    }
}

/// Returns one command, whose words may contain line breaks, on one line.
fn words(command: &str) -> String {
    match shell_words::split(command) {
        Ok(words) if command.trim().contains('\n') => {
            words.iter().map(|word| script(word)).collect::<Vec<_>>().join(" ")
        }
        _ => command.trim().to_owned(),
    }
}

/// Returns commands as a group that does not affect the commands after it.
fn group(commands: &str) -> String {
    match commands.trim_end().contains('\n') {
        false => format!("( {commands} )"),
        true => format!("sh -c {}", script(commands)),
    }
}

/// Returns the commands that fetch a version into a directory of this name.
fn got(origin: Option<&Origin>, version: &Version, directory: &str) -> Option<String> {
    let address = version.of.address.as_deref();
    let checked = |file: &str| match &version.of.sha256 {
        Some(sum) => {
            format!(" && echo {} | sha256sum --check --quiet", quoted(&format!("{sum}  {file}")))
        }
        None => String::new(),
    };
    let at = quoted(directory);
    let unpacked = |url: &str| {
        let (file, unpack) = match is_zip(url) {
            true => ("version.zip", format!("python3 -m zipfile -e version.zip . && {UP}")),
            false => ("version.tar.gz", "tar xzf version.tar.gz --strip-components 1".to_owned()),
        };
        let (url, checked) = (quoted(url), checked(file));
        format!("mkdir {at} && cd {at} && curl -fsSL -o {file} {url}{checked} && {unpack}")
    };
    match (origin?, address) {
        (Origin::Git { url }, _) => Some(format!(
            "git init -q {at} && cd {at} && git fetch -q --depth 1 -- {} {} && git checkout -q FETCH_HEAD",
            quoted(url),
            quoted(&version.name)
        )),
        (Origin::Gem { .. }, Some(url)) => Some(format!(
            "mkdir {at} && cd {at} && curl -fsSL -o version.gem {}{} && gem unpack version.gem && {UP}",
            quoted(url),
            checked("version.gem")
        )),
        (Origin::Gem { name, index }, None) => {
            let source =
                index.as_ref().map(|own| format!(" --clear-sources --source {}", quoted(own)));
            Some(format!(
                "mkdir {at} && cd {at} && gem fetch {} --version {}{} && gem unpack ./*.gem && {UP}",
                quoted(name),
                quoted(&version.name),
                source.unwrap_or_default()
            ))
        }
        (Origin::PyPi { .. }, Some(url)) => Some(unpacked(url)),
        (Origin::PyPi { name, index }, None) => {
            let index = index.as_ref().map(|own| format!(" --index-url {}", quoted(own)));
            Some(format!(
                "mkdir {at} && cd {at} && python3 -m pip download --no-deps --no-binary :all:{} {} && {{ tar xzf ./*.tar.gz --strip-components 1 || {{ python3 -m zipfile -e ./*.zip . && {UP}; }}; }}",
                index.unwrap_or_default(),
                quoted(&format!("{name}=={}", version.name))
            ))
        }
        (Origin::Command { get, .. }, _) => Some(format!(
            "mkdir {at} && cd {at} && VERSION={} ADDRESS={} sh -c {}",
            quoted(&version.name),
            quoted(address.unwrap_or_default()),
            script(get)
        )),
    }
}

/// Returns the line; `None` if it is unknown how to fetch the version, or a name in it cannot be
/// pasted safely.
pub(super) fn line(leased: &LeasedJob, steps: &Steps, runtime: (&str, &str)) -> Option<String> {
    let name = |version: &Version| {
        let text = format!("{}-{}", leased.project.name, version.name);
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' }
        };
        let text: String = text.chars().map(plain).collect();
        text.trim_start_matches(['-', '.']).to_owned()
    };
    let origin = leased.project.of.origin.as_ref();
    let own = got(origin, &leased.version, &name(&leased.version));
    let own = own.or_else(|| {
        let url = leased.version.of.address.as_deref()?;
        let origin = Origin::PyPi { name: String::new(), index: None };
        (url.ends_with(".tar.gz") || is_zip(url))
            .then(|| got(Some(&origin), &leased.version, &name(&leased.version)))
            .flatten()
    })?;
    let line = match leased.job.of.kind {
        Kind::Test => {
            let mut parts = vec![own];
            parts.extend(steps.install.iter().map(|own| group(own)));
            parts.extend(steps.test.iter().map(|own| format!("assay tests -- {}", words(own))));
            parts.join(" && ")
        }
        Kind::Bench => {
            let base = leased.base.as_ref()?;
            let bench = words(leased.project.of.recipe.bench.as_deref()?);
            match origin? {
                Origin::Git { url } => format!(
                    "git clone -q -- {} {at} && cd {at} && assay bench --rev {} --rev {} {bench}",
                    quoted(url),
                    quoted(&base.name),
                    quoted(&leased.version.name),
                    at = quoted(&name(&leased.version)),
                ),
                // The base and the version become two commits of one repository.
                _ => format!(
                    "( {} && git init -q && git add -Af && git commit -qm base ) && ( {own} ) && mv {base}/.git {at}/ && cd {at} && git add -Af && git commit -qm version && assay bench --rev HEAD~1 --rev HEAD {bench}",
                    got(origin, base, &name(base))?,
                    base = quoted(&name(base)),
                    at = quoted(&name(&leased.version)),
                ),
            }
        }
    };
    // The job's variables are set if its commands use them.
    let line = match line.contains("ASSAY_RUNTIME") {
        true => format!(
            "export ASSAY_RUNTIME={} ASSAY_RUNTIME_VERSION={} && {line}",
            quoted(runtime.0),
            quoted(runtime.1)
        ),
        false => line,
    };
    (!line.chars().any(char::is_control)).then_some(line)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use serde_json::{Value, json};
    use std::process::Command;

    const RUBY: (&str, &str) = ("ruby", "3.1.2");

    fn leased(kind: &str, origin: &Value, version: &str) -> LeasedJob {
        let named = |name: &str| json!({"id": 1, "owner": "me", "project": "p", "name": name, "kind": "release"});
        let all = json!({
            "job": {"id": 1, "owner": "me", "project": "p", "version": version, "kind": kind, "progress": "leased", "attempts": 1},
            "project": {"id": 1, "owner": "me", "name": "p", "origin": origin, "recipe": {"bench": "--program ./b"}},
            "version": named(version), "base": named("0.9"), "target": "t", "nonce": "n", "until": "u",
        });
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn each_origin_has_a_line_that_a_shell_reads_and_names_in_it_are_words() {
        let steps = Steps {
            install: vec!["python3 -m venv v".to_owned()],
            test: Some("python3 -m pytest".to_owned()),
            ..Steps::default()
        };
        let origins = [
            json!({"kind": "git", "url": "https://h/p.git"}),
            json!({"kind": "gem", "name": "p", "index": "http://h"}),
            json!({"kind": "py_pi", "name": "p"}),
            json!({"kind": "command", "list": "l", "get": "get \"$VERSION\""}),
        ];
        for origin in &origins {
            for kind in ["test", "bench"] {
                let evil = "1.0'; touch /tmp/assay-farm-got-out; $(id) `id`";
                let line = line(&leased(kind, origin, evil), &steps, RUBY).unwrap();
                assert!(line.contains(&quoted(evil)) || line.contains("p=="), "{line}");
                let reads = Command::new("sh").args(["-n", "-c", &line]).status().unwrap();
                assert!(reads.success(), "{line}");
            }
        }
        let test = line(&leased("test", &origins[2], "1.0"), &steps, RUBY).unwrap();
        assert!(
            test.ends_with("&& ( python3 -m venv v ) && assay tests -- python3 -m pytest"),
            "{test}"
        );
        // Several lines become one with the same effect.
        let get = "printf '%s\\n' a\\\\b \"$VERSION\"\nif true; then\n  echo \"it's 5 %\"\nfi\n";
        let origin = json!({"kind": "command", "list": "l", "get": get});
        let steps = Steps { install: vec!["echo one\necho two".to_owned()], ..Steps::default() };
        let several = line(&leased("test", &origin, "1.0"), &steps, RUBY).unwrap();
        let room = tempfile::tempdir().unwrap();
        let ran = Command::new("sh").args(["-c", &several]).current_dir(room.path()).output();
        let said = String::from_utf8(ran.unwrap().stdout).unwrap();
        assert_eq!(said, "a\\b\n1.0\nit's 5 %\none\ntwo\n", "{several}");
        let steps = Steps {
            test: Some("python3 -m pytest -x\n  -k 'a or b'\n  --of 'c\nd'\n".to_owned()),
            ..Steps::default()
        };
        let tests = line(&leased("test", &origins[0], "1.0"), &steps, RUBY).unwrap();
        let own = tests.split_once("assay tests -- ").unwrap().1;
        assert_eq!(own, r#"python3 -m pytest -x -k 'a or b' --of "$(printf %b 'c\nd')""#);
        // A recipe for several runtimes finds the one of the job.
        let steps = Steps { install: vec!["echo $ASSAY_RUNTIME".to_owned()], ..Steps::default() };
        let own = line(&leased("test", &origin, "1.0"), &steps, RUBY).unwrap();
        assert!(
            own.starts_with("export ASSAY_RUNTIME=ruby ASSAY_RUNTIME_VERSION=3.1.2 && "),
            "{own}"
        );
        // Characters that would end the line are never pasted.
        assert_eq!(line(&leased("test", &origins[0], "1\n0"), &steps, RUBY), None);
    }
}
