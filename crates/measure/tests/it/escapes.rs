//! Escape attempts of a command in the sandbox, one per test; all must fail.
//!
//! Without bubblewrap, the tests report that they were skipped.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a test may fail, and says what it skips"
)]

use assay_measure::sandbox::{Limits, Policy, Sandbox, SandboxError, SandboxedCommand};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The system's Python: one below a home directory can't be read inside.
const PYTHON: &str = "/usr/bin/python3";

struct Place {
    sandbox: Sandbox,
    room: assay_measure::room::Room,
    policy: Policy,
}

impl Place {
    /// Creates a writable project, and a secret next to it that must stay invisible.
    fn new() -> Option<Self> {
        let sandbox = match Sandbox::find() {
            Ok(sandbox) => sandbox,
            Err(error @ (SandboxError::NoProgram { .. } | SandboxError::Refused { .. })) => {
                println!("skipped: {error}");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let room = assay_measure::room::Room::temporary().unwrap();
        let project = room.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(project.join("file"), "as it was").unwrap();
        sandbox.hand_over(room.path()).unwrap();
        fs::write(room.path().join("secret"), "a token").unwrap();
        fs::set_permissions(room.path().join("secret"), fs::Permissions::from_mode(0o644)).unwrap();
        let policy = Policy {
            directory: project.clone(),
            writes: vec![project],
            limits: Limits {
                memory: Some(256 << 20),
                processes: Some(64),
                temporary: Some(8 << 20),
                file: Some(16 << 20),
                ..Limits::default()
            },
            ..Policy::default()
        };
        Some(Self { sandbox, room, policy })
    }

    fn enter(&self, argv: &[&str]) -> SandboxedCommand {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        self.sandbox.enter(&self.policy, &argv).unwrap()
    }

    fn run(&self, argv: &[&str]) -> Output {
        let entered = self.enter(argv);
        command(&entered).output().unwrap()
    }

    fn sh(&self, line: &str) -> Output {
        self.run(&["sh", "-c", line])
    }

    /// Runs lines of Python, which must end with `got out` or an error, and returns their output.
    fn python(&self, lines: &str) -> Option<String> {
        if !Path::new(PYTHON).exists() {
            println!("skipped: there is no {PYTHON}");
            return None;
        }
        Some(said(&self.run(&[PYTHON, "-c", lines])))
    }

    fn project(&self, name: &str) -> PathBuf {
        self.policy.directory.join(name)
    }
}

fn command(entered: &SandboxedCommand) -> Command {
    let mut command = Command::new(&entered.argv[0]);
    command.args(&entered.argv[1..]).stdin(Stdio::null());
    command
}

fn said(ran: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&ran.stdout) + &text(&ran.stderr)
}

#[test]
fn status_output_and_written_files_come_out() {
    let Some(mut place) = Place::new() else { return };
    place.policy.environment = vec![("GREETING".into(), "hello  there".into())];
    let ran = place.sh("echo \"$GREETING\"; pwd; cat file; echo new > made; exit 7");
    assert_eq!(ran.status.code(), Some(7), "{}", said(&ran));
    let directory = place.policy.directory.display().to_string();
    assert_eq!(said(&ran), format!("hello  there\n{directory}\nas it was"));
    assert_eq!(fs::read_to_string(place.project("made")).unwrap(), "new\n");
    place.sandbox.check(&place.policy, &[PathBuf::from("/bin/sh")]).unwrap();
}

#[test]
fn nothing_outside_can_be_written() {
    let Some(place) = Place::new() else { return };
    for path in ["/usr/bin/x", "/etc/x", "/x", "/lib/x", "/opt/x"] {
        let ran = place.sh(&format!("echo x > {path}"));
        assert!(!ran.status.success() || !Path::new(path).exists(), "{path}");
    }
    let beside = place.room.path().join("beside");
    place.sh(&format!("echo x > {}", beside.display()));
    place.sh(&format!("ln -s {} link; echo x > link", beside.display()));
    assert!(!beside.exists());
    // `/tmp` is private.
    let name = format!("assay-sandbox-test-{}", std::process::id());
    let ran = place.sh(&format!("echo x > /tmp/{name} && cat /tmp/{name}"));
    assert_eq!(said(&ran), "x\n");
    assert!(!std::env::temp_dir().join(name).exists());
}

#[test]
fn what_is_beside_and_what_is_hidden_can_not_be_read() {
    let Some(mut place) = Place::new() else { return };
    let secret = place.room.path().join("secret");
    let ran = place.sh(&format!("cat {}", secret.display()));
    assert!(!ran.status.success() && !said(&ran).contains("a token"), "{}", said(&ran));
    fs::create_dir(place.project("keys")).unwrap();
    fs::write(place.project("keys/private"), "a key").unwrap();
    place.policy.hides = vec![place.project("keys"), place.project("file")];
    let ran = place.sh("ls keys; cat file; echo x > keys/x; echo end");
    assert!(!said(&ran).contains("private") && !said(&ran).contains("as it was"), "{}", said(&ran));
    assert_eq!(fs::read_to_string(place.project("keys/private")).unwrap(), "a key");
    assert!(!place.project("keys/x").exists());
    // The files of the user who runs it can't be read either.
    let ran = place.sh("cat /root/.bash_history /home/*/.ssh/* /etc/shadow");
    assert!(!ran.status.success());
    assert!(ran.stdout.is_empty());
}

#[test]
fn variables_and_descriptors_stay_outside() {
    let Some(place) = Place::new() else { return };
    let entered = place.enter(&["sh", "-c", "env; cat /proc/[0-9]*/environ; ls -l /proc/self/fd"]);
    let secret = fs::File::open(place.room.path().join("secret")).unwrap();
    // The process that started this one might have left the secret open.
    let mut command = command(&entered);
    command.env("TOKEN", "a token").stdin(secret.try_clone().unwrap());
    let ran = command.output().unwrap();
    assert!(!said(&ran).contains("TOKEN"), "{}", said(&ran));
    let links = said(&ran).matches(" -> ").count();
    // Three standard descriptors, and the directory being listed.
    assert_eq!(links, 4, "{}", said(&ran));
}

#[test]
fn no_network_is_there_not_even_loopback() {
    let Some(place) = Place::new() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let lines = format!(
        "import socket\ntry:\n socket.create_connection(('127.0.0.1', {port}), 5)\n print('got out')\nexcept OSError as e: print('refused')\n\
         try:\n socket.create_connection(('192.0.2.1', 80), 5)\n print('got out')\nexcept OSError as e: print('unreachable')\n"
    );
    let Some(said) = place.python(&lines) else { return };
    assert_eq!(said, "refused\nunreachable\n");
}

#[test]
fn sockets_without_a_file_are_of_another_network() {
    let Some(place) = Place::new() else { return };
    let name = format!("assay-sandbox-{}", std::process::id());
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    let lines = format!(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n s.connect('\\0{name}')\n print('got out')\nexcept OSError: print('refused')"
    );
    let Some(said) = place.python(&lines) else { return };
    assert_eq!(said, "refused\n");
}

#[test]
fn processes_of_others_are_not_there() {
    let Some(place) = Place::new() else { return };
    let own = std::process::id();
    let ran = place.sh(&format!(
        "kill -0 {own} && echo got out; cat /proc/{own}/environ && echo got out; ls /proc | grep -c '^[0-9]'"
    ));
    assert!(!said(&ran).contains("got out"), "{}", said(&ran));
    let seen: u32 = String::from_utf8_lossy(&ran.stdout).trim().parse().unwrap();
    assert!(seen < 10, "{seen} processes");
    // All visible processes are its own; killing them kills no others.
    place.sh("kill -9 -1");
    // None can be traced.
    let lines = format!("import ctypes\nprint(ctypes.CDLL(None).ptrace(16, {own}, 0, 0))");
    let Some(said) = place.python(&lines) else { return };
    assert_eq!(said, "-1\n");
}

#[test]
fn no_rights_are_had_nor_got() {
    let Some(place) = Place::new() else { return };
    let ran = place.sh("grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs)' /proc/self/status");
    let lines = said(&ran);
    for line in ["CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"] {
        assert!(lines.contains(line), "{lines}");
    }
    // Setuid programs run as nobody.
    for line in [
        "su -c id",
        "mount -t tmpfs none /mnt",
        "chroot / id",
        "mknod d b 8 0",
        "unshare -Ur id",
        "hostname x",
    ] {
        let ran = place.sh(line);
        assert!(!ran.status.success(), "{line}: {}", said(&ran));
    }
    let ran = place.sh("cp /bin/sh own && chmod u+s own && ./own -c 'id -u'");
    assert!(!said(&ran).starts_with("0\n"), "{}", said(&ran));
}

#[test]
fn the_system_is_not_set() {
    let Some(place) = Place::new() else { return };
    for path in [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/vm/drop_caches",
        "/proc/sysrq-trigger",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/cgroup.procs",
        "/dev/mem",
        "/new",
        "/dev/new",
        "/dev/sda",
        "/dev/vda",
    ] {
        let ran = place.sh(&format!("echo 1 > {path}"));
        assert!(!ran.status.success(), "{path}");
    }
}

#[test]
fn processes_are_limited() {
    let Some(place) = Place::new() else { return };
    let entered = place.enter(&[
        "sh",
        "-c",
        "i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i + 1)); done 2>/dev/null; ls /proc | grep -c '^[0-9]'",
    ]);
    let ran = command(&entered).output().unwrap();
    let seen = String::from_utf8_lossy(&ran.stdout).trim().parse::<u32>().unwrap_or(0);
    assert!(seen <= 70, "{seen} processes");
    assert!(entered.exceeded().processes || !place.sandbox.has_groups());
    assert!(!entered.exceeded().memory);
}

#[test]
fn memory_is_limited_for_all_processes_together() {
    let Some(place) = Place::new() else { return };
    if !Path::new(PYTHON).exists() {
        return;
    }
    let lines = "import os, time\nfor i in range(8):\n if os.fork() == 0:\n  x = b'x' * (100 << 20)\n  time.sleep(60)\nos.wait()\nos.wait()\nprint('ended')";
    let entered = place.enter(&[PYTHON, "-c", lines]);
    let began = Instant::now();
    let ran = command(&entered).output().unwrap();
    match place.sandbox.has_groups() {
        // 800 MiB do not fit into 256 MiB: some processes are killed long before they wake up.
        true => {
            assert!(entered.exceeded().memory, "{}", said(&ran));
            assert!(began.elapsed() < Duration::from_secs(50));
        }
        false => println!("skipped: there are no control groups"),
    }
}

#[test]
fn files_and_temporary_directories_are_limited() {
    let Some(place) = Place::new() else { return };
    let ran = place.sh("head -c 30000000 /dev/zero > large; head -c 30000000 /dev/zero > /tmp/large; stat -c %s /tmp/large; head -c 30000000 /dev/zero > /dev/shm/large; stat -c %s /dev/shm/large");
    let sizes: Vec<u64> =
        String::from_utf8_lossy(&ran.stdout).lines().filter_map(|line| line.parse().ok()).collect();
    assert!(sizes.len() == 2 && sizes.iter().all(|size| *size <= 8 << 20), "{}", said(&ran));
    assert!(fs::metadata(place.project("large")).unwrap().len() <= 16 << 20);
}

#[test]
fn limits_are_set_by_the_system_s_program_not_by_one_of_its_own() {
    let Some(mut place) = Place::new() else { return };
    let own = place.project("bin");
    place.sh(
        "mkdir bin && printf '#!/bin/sh\necho got out\n' > bin/prlimit && chmod 755 bin/prlimit",
    );
    let path = format!("{}:/usr/bin:/bin", own.display());
    place.policy.environment = vec![("PATH".into(), path.into())];
    let ran = place.sh("prlimit; ulimit -f");
    // The program runs once, by its own name, and not for setting the limits.
    assert_eq!(said(&ran).matches("got out").count(), 1, "{}", said(&ran));
    assert!(
        said(&ran).lines().any(|line| line.parse() == Ok((16_u64 << 20) / 512)),
        "{}",
        said(&ran)
    );
}

#[test]
fn the_terminal_can_not_be_typed_into() {
    let Some(place) = Place::new() else { return };
    // TIOCSTI on the controlling terminal: there is none.
    let lines = "import fcntl\ntry:\n fcntl.ioctl(open('/dev/tty', 'w'), 0x5412, b'x')\n print('got out')\nexcept OSError: print('refused')";
    let Some(said) = place.python(lines) else { return };
    assert_eq!(said, "refused\n");
}

#[test]
fn all_ends_with_who_started_it() {
    let Some(place) = Place::new() else { return };
    let entered = place.enter(&["sh", "-c", "setsid sleep 987654 & echo started; sleep 987654"]);
    let mut child = command(&entered).stdout(Stdio::piped()).spawn().unwrap();
    let mut started = [0; 8];
    child.stdout.as_mut().unwrap().read_exact(&mut started).unwrap();
    let running = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter(|entry| {
            fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == b"sleep\0987654\0")
        })
        .count()
    };
    let until = |count: usize| {
        let last = Instant::now() + Duration::from_secs(60);
        while running() != count && Instant::now() < last {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(running(), count);
    };
    until(2);
    child.kill().unwrap();
    child.wait().unwrap();
    until(0);
}

#[test]
fn what_can_not_be_read_is_named() {
    let Some(mut place) = Place::new() else { return };
    let home = place.room.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    place.policy.reads = vec![home.clone()];
    match (place.sandbox.check(&place.policy, &[]), place.sandbox.user()) {
        (Err(SandboxError::Unreadable { path, .. }), Some(_)) => assert_eq!(path, home),
        (Ok(()), None) => {}
        other => panic!("{other:?}"),
    }
}
