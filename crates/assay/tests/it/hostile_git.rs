//! The configuration of a repository can name programs in many ways, and git runs them on almost
//! any command. Inspecting someone's checkout with `assay` must not run them: no verb that calls
//! git runs any of them.

use crate::room::{Room, finish};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

/// Settings whose value is a program; these programs leave a trace.
const PROGRAMS: [&str; 31] = [
    "core.fsmonitor",
    "core.pager",
    "core.sshCommand",
    "core.askPass",
    "core.editor",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.own.command",
    "diff.own.textconv",
    "diff.guitool",
    "filter.own.clean",
    "filter.own.smudge",
    "filter.own.process",
    "filter.dotted.name.clean",
    "filter.UPPER.clean",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "interactive.diffFilter",
    "merge.own.driver",
    "pager.log",
    "pager.status",
    "pager.diff",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "sequence.editor",
    "trailer.own.command",
    "uploadpack.packObjectsHook",
    "web.browser",
];
/// Settings that make git run such programs, or more of its own.
const SWITCHES: [(&str, &str); 12] = [
    ("alias.diff", "!touch ran-alias"),
    ("alias.log", "!touch ran-alias"),
    ("alias.status", "!touch ran-alias"),
    ("core.attributesFile", "attributes"),
    ("diff.own.cachetextconv", "true"),
    ("diff.submodule", "diff"),
    ("filter.own.required", "true"),
    ("include.path", "more"),
    ("log.showSignature", "true"),
    ("protocol.ext.allow", "always"),
    ("status.submoduleSummary", "true"),
    ("submodule.recurse", "true"),
];
const HOOKS: [&str; 5] = [
    "post-index-change",
    "reference-transaction",
    "post-checkout",
    "fsmonitor-watchman",
    "pre-auto-gc",
];

/// Returns a repository with two commits and a change, whose configuration is hostile.
fn repository() -> Room {
    let room = Room::new();
    let program = "def f(a):\n    return a + 1\n";
    room.write("m.py", program);
    room.write("b.mixed", "1\n");
    room.write("t.py", "import unittest, m\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(m.f(1), 2)\n");
    room.write(".gitignore", "state/\ncache/\nran-*\nrun-*\n*.assay\n");
    room.write(
        ".gitattributes",
        "*.py filter=own diff=own merge=own\n*.mixed filter=dotted.name\n",
    );
    let git = |words: &str| {
        let who =
            "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
        finish(room.shell(&format!("{who} git {words}"))).ends(0);
    };
    git("init -q -b main");
    git("add .");
    git("commit -q -m first");
    git("commit -q --allow-empty -m second");
    let config = room.path(".git/config");
    let mut text = fs::read_to_string(&config).unwrap();
    let mut set = |name: &str, value: &str| {
        let (section, key) = name.rsplit_once('.').unwrap();
        let section = match section.split_once('.') {
            Some((first, rest)) => format!("{first} \"{rest}\""),
            None => section.to_owned(),
        };
        text += &format!("[{section}]\n\t{key} = {value:?}\n");
    };
    let note = |name: &str| {
        let path = room.path(&format!("run-{name}"));
        let witness = room.path(&format!("ran-{name}"));
        fs::write(&path, format!("#!/bin/sh\ntouch '{}'\ncat\n", witness.display())).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    PROGRAMS.iter().for_each(|name| set(name, &note(name)));
    SWITCHES.iter().for_each(|(name, value)| set(name, value));
    set("remote.origin.url", &format!("ext::{}", note("remote.url")));
    set("core.hooksPath", &room.path("hooks").display().to_string());
    fs::write(&config, text).unwrap();
    room.write(
        ".git/more",
        &format!("[filter \"more\"]\n\tclean = {:?}\n", note("filter.more.clean")),
    );
    room.write("attributes", "*.more filter=more\n");
    fs::create_dir(room.path("hooks")).unwrap();
    for hook in HOOKS {
        fs::rename(note(hook), room.path("hooks").join(hook)).unwrap();
    }
    // The same size as in the commit, so that git has to read the files.
    room.write("m.py", &program.replace('1', "2"));
    room.write("b.mixed", "2\n");
    room
}

/// Returns the programs named by the repository that ran.
fn ran(room: &Room) -> Vec<String> {
    let entries = fs::read_dir(room.path("")).unwrap().flatten();
    let names = entries.map(|own| own.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("ran-")).collect()
}

#[test]
fn no_program_of_a_repository_runs_under_any_verb() {
    let room = repository();
    // Plain git does run them, so the settings are effective.
    let _status = finish(room.shell("git diff HEAD > diff.txt 2>&1; true"));
    assert!(!ran(&room).is_empty(), "git itself runs none of them here");
    for name in ran(&room) {
        fs::remove_file(room.path(&name)).unwrap();
    }
    let verbs: [&[&str]; 10] = [
        &["run", "--runs", "3", "--save", "r.assay", "true"],
        &["tests", "--changed=HEAD", "--no-save", "--", "python3", "-m", "unittest", "t"],
        &["history", "add", "r.assay"],
        &["history", "log"],
        &["history", "trend"],
        &["gate", "r.assay", "--branch", "main"],
        &["bisect", "HEAD~1..HEAD", "--time", "3s", "--build", "true", "--", "true"],
        &["tests", "--changed", "--no-save", "--", "python3", "-m", "unittest", "t"],
        &["check", "--base", "HEAD~1", "--explain"],
        &["check", "--install-hook"],
    ];
    for words in verbs {
        let mut command = room.assay(words);
        command.env("XDG_CACHE_HOME", room.path("cache"));
        let ended = finish(command);
        assert!(!ended.stderr.contains("Usage:"), "{words:?}: {ended:?}");
        assert_eq!(ran(&room), Vec::<String>::new(), "{words:?}: {ended:?}");
    }
}
