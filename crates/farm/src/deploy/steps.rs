//! The steps that set up a farm on a machine, in the order of their dependencies.

use super::host::{FileAttributes, Host};
use super::unit::{Service, unit};
use super::{DeployError, StepResult};
use std::path::Path;

/// The desired state of a farm.
#[derive(Clone, Debug)]
pub struct Farm<'a> {
    /// Directory of the farm, which contains `bin`, `etc` and `data`. Absolute, and not the root.
    pub directory: &'a str,
    /// The user that runs the server, created if necessary.
    pub user: &'a str,
    /// The address to listen on.
    pub listen: &'a str,
    /// The database with the store; empty for a file in the directory.
    pub store: &'a str,
    /// A local directory with the programs.
    pub programs: &'a Path,
    /// The server's environment variables.
    pub environment: Vec<(String, String)>,
    /// Additional steps that the user specified: name and command.
    pub own: Vec<(String, String)>,
    /// The directory of systemd units.
    pub units: &'a str,
}

/// The programs that are copied.
pub const PROGRAMS: [&str; 2] = ["assay-farm", "assay"];

/// Runs all steps and reports the result of each through `told`.
///
/// # Errors
/// If a step fails. The steps before it have been done, and are not repeated the next time.
pub fn set_up(
    host: &Host,
    farm: &Farm<'_>,
    told: &mut dyn FnMut(&str, &StepResult),
) -> Result<(), DeployError> {
    let Farm { directory, user, .. } = *farm;
    is_of_our_kind(host)?;
    told(&format!("user {user}"), &host.step(USER, &[user, directory])?);
    // The server's user can change its data, but neither its program nor its settings, if root sets
    // it up.
    let facts = host.run(WHO, &[user], None)?;
    let mut facts = facts.split_whitespace();
    let mut fact = || facts.next().unwrap_or(user).to_owned();
    let (group, root, root_group) = (fact(), fact(), fact());
    let at = |name: &str| format!("{directory}/{name}");
    let came = host.step(DIRECTORIES, &[directory, user, &group, &root, &root_group])?;
    told("directories", &came);

    let mut restarts = false;
    for program in PROGRAMS {
        let path = at(&format!("bin/{program}"));
        let wanted = FileAttributes { path: &path, mode: "755", owner: &root, group: &root_group };
        let came = host.copy(wanted, &farm.programs.join(program))?;
        restarts |= came == StepResult::Changed;
        told(&format!("program {program}"), &came);
    }
    let path = at("etc/environment");
    let wanted = FileAttributes { path: &path, mode: "640", owner: &root, group: &group };
    let came = host.put_text(wanted, &environment(&farm.environment))?;
    restarts |= came == StepResult::Changed;
    told("environment", &came);
    for (name, command) in &farm.own {
        let came = host.step(OWN, &[directory, user, name, command])?;
        restarts |= came == StepResult::Changed;
        told(&format!("step {name}"), &came);
    }
    told("database", &host.step(&as_user(DATABASE), &[directory, user, farm.store])?);
    told("first token", &host.step(&as_user(TOKEN), &[directory, user, farm.store])?);

    let path = format!("{}/assay-farm.service", farm.units);
    let wanted = FileAttributes { path: &path, mode: "644", owner: &root, group: &root_group };
    let service = Service { directory, user, listen: farm.listen, store: farm.store };
    let came = host.put_text(wanted, &unit(&service))?;
    restarts |= came == StepResult::Changed;
    told("systemd unit", &came);
    let is_new = if restarts { "yes" } else { "no" };
    told("service", &host.step(SERVICE, &[farm.units, is_new])?);
    Ok(())
}

/// Checks that a machine has the architecture of this program. Programs for another architecture
/// would only fail later, with a less helpful message.
fn is_of_our_kind(host: &Host) -> Result<(), DeployError> {
    let printed = host.run("uname -sm", &[], None)?;
    let here = format!("Linux {}", std::env::consts::ARCH);
    match printed.trim() == here {
        true => Ok(()),
        false => Err(DeployError::OtherKind {
            host: host.name().to_owned(),
            there: printed.trim().to_owned(),
            here,
        }),
    }
}

/// Returns the environment in a form that systemd and a shell both read. Names and values were
/// checked before: they contain no line breaks.
fn environment(all: &[(String, String)]) -> String {
    let escaped = |value: &str| {
        let special = ['\\', '"', '$', '`'];
        value
            .chars()
            .flat_map(|c| special.contains(&c).then_some('\\').into_iter().chain([c]))
            .collect::<String>()
    };
    let lines = all.iter().map(|(name, value)| format!("{name}=\"{}\"\n", escaped(value)));
    "# Written by `assay farm setup`.\n".to_owned() + &lines.collect::<String>()
}

/// Returns the script preceded by a function `as_user` that runs a command as the server's user, in
/// the server's environment: `as_user DIRECTORY USER COMMAND…`.
fn as_user(script: &str) -> String {
    r#"
as_user() {
    set -a
    . "$1/etc/environment"
    set +a
    if [ "$(id -un)" = "$2" ]; then
        shift 2
        "$@"
    else
        user=$2
        shift 2
        setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "$@"
    fi
}
"#
    .to_owned()
        + script
}

/// Creates the user if necessary. `$1`: the user, `$2`: the directory.
const USER: &str = r#"
if ! id -u "$1" >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] || fail "there is no user $1, and only root can make one: use --sudo, or --user $(id -un)"
    useradd --system --user-group --home-dir "$2" --no-create-home --shell /usr/sbin/nologin "$1"
    changed=changed
elif [ "$(id -u)" != 0 ] && [ "$(id -un)" != "$1" ]; then
    fail "only root can set up a farm for another user, $1: use --sudo, or --user $(id -un)"
fi
came
"#;

/// Prints the group of the server's user, and the user and group that own what the server may not
/// change.
const WHO: &str = r#"echo "$(id -gn "$1") $(id -un) $(id -gn)""#;

/// Creates the directories. `$1`: the farm's directory, `$2` and `$3`: user and group that own its
/// data, `$4` and `$5`: those that own the rest.
const DIRECTORIES: &str = r#"
directory() {
    [ -d "$1" ] || { mkdir -p "$1"; changed=changed; }
    own "$@"
}
directory "$1" 755 "$4" "$5"
directory "$1/bin" 755 "$4" "$5"
directory "$1/etc" 750 "$4" "$3"
directory "$1/etc/steps" 750 "$4" "$3"
directory "$1/data" 700 "$2" "$3"
came
"#;

/// Runs a step of the user: once, and again if its command has changed. `$1`: the directory, `$2`:
/// the user, `$3`: the step's name, `$4`: its command.
const OWN: &str = r#"
done="$1/etc/steps/$3"
if [ -f "$done" ] && [ "$(cat "$done")" = "$4" ]; then came; exit; fi
cd "$1"
set -a
. "$1/etc/environment"
set +a
FARM_DIRECTORY="$1" FARM_USER="$2" sh -eu -c "$4" >&2 </dev/null || fail "the step $3 failed with status $?"
printf '%s\n' "$4" > "$done"
changed=changed
came
"#;

/// Upgrades the store. `$1`: the directory, `$2`: the user, `$3`: the store.
const DATABASE: &str = r#"
said=$(as_user "$1" "$2" "$1/bin/assay-farm" upgrade --data "$1/data" ${3:+--store "$3"} --json)
case "$said" in
    *'"is_changed":true'*) changed=changed ;;
    *'"is_changed":false'*) ;;
    *) fail "the database was not brought up to date: $said" ;;
esac
came
"#;

/// Creates a token of scope `admin` and writes it to a file, unless the store has one. A server
/// that was started before has created one as well; if its owner removed the file, none is created
/// again. `$1`: the directory, `$2`: the user, `$3`: the store.
const TOKEN: &str = r#"
token="$1/data/admin-token"
if ! as_user "$1" "$2" "$1/bin/assay-farm" token list --data "$1/data" ${3:+--store "$3"} --json | grep -q '"admin"'; then
    umask 077
    trap 'rm -f "$token.new"' EXIT
    as_user "$1" "$2" "$1/bin/assay-farm" token add admin --scope admin --data "$1/data" ${3:+--store "$3"} > "$token.new"
    [ -s "$token.new" ] || fail "no token was made"
    own "$token.new" 600 "$2" "$(id -gn "$2")"
    mv "$token.new" "$token"
    changed=changed
fi
came
"#;

/// Starts the server, or restarts it if anything has changed. `$1`: the directory of units, `$2`:
/// `yes` if anything has changed.
const SERVICE: &str = r#"
if [ "$1" != /etc/systemd/system ] || ! [ -d /run/systemd/system ]; then
    echo "left out: systemd does not run here; start bin/assay-farm serve by other means"
    exit
fi
systemctl is-enabled --quiet assay-farm || { systemctl daemon-reload; systemctl enable --quiet assay-farm; changed=changed; }
if [ "$2" = yes ] || ! systemctl is-active --quiet assay-farm; then
    systemctl daemon-reload
    # It is there when it answers.
    systemctl restart assay-farm || fail "the server does not start: $(journalctl --unit assay-farm --lines 3 --output cat --no-pager 2>/dev/null)"
    changed=changed
fi
came
"#;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_reads_the_environment_as_it_was_given() {
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("environment");
        let value = r#"a "b" $HOME `x` \ 'c' %"#;
        std::fs::write(&file, environment(&[("ONE".to_owned(), value.to_owned())])).unwrap();
        let line = format!(". {}; printf %s \"$ONE\"", file.display());
        let printed = Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(String::from_utf8(printed.stdout).unwrap(), value);
    }

    #[test]
    fn a_step_of_ones_own_is_done_once_and_again_when_it_is_another() {
        let room = tempfile::tempdir().unwrap();
        let directory = room.path().to_str().unwrap();
        std::fs::create_dir_all(room.path().join("etc/steps")).unwrap();
        std::fs::write(room.path().join("etc/environment"), "INLINE=inline\n").unwrap();
        let host = Host::here(false);
        let step = |command: &str| host.step(OWN, &[directory, "me", "inline", command]);
        let command = "mkdir \"$INLINE\"; echo \"$FARM_USER it's done\"";
        assert_eq!(step(command).unwrap(), StepResult::Changed);
        assert!(room.path().join("inline").is_dir());
        assert_eq!(step(command).unwrap(), StepResult::AsItWas);
        // A step that fails is tried again.
        assert!(
            step("echo no >&2; false")
                .unwrap_err()
                .to_string()
                .contains("no\nthe step inline failed with status 1")
        );
        assert!(step("false").is_err());
        assert_eq!(step("rmdir inline").unwrap(), StepResult::Changed);
        assert!(!room.path().join("inline").exists());
    }
}
