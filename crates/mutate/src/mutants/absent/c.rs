//! Finds lines of C and C++ that the preprocessor leaves out on this platform. Of the macros that
//! belong to the project, only those that nothing defines are evaluated.

use super::logic::{all, any, bare, not, split};
use super::{BuildPlatform, ExcludedLines};

/// Macros that compilers predefine, each with the system that it indicates.
const OF_SYSTEMS: [(&str, &str); 24] = [
    ("_WIN32", "windows"),
    ("_WIN64", "windows"),
    ("WIN32", "windows"),
    ("WIN64", "windows"),
    ("__WIN32__", "windows"),
    ("_WINDOWS", "windows"),
    ("_MSC_VER", "windows"),
    ("__MINGW32__", "windows"),
    ("__MINGW64__", "windows"),
    ("__CYGWIN__", "windows"),
    ("__BORLANDC__", "windows"),
    ("__APPLE__", "macos"),
    ("__MACH__", "macos"),
    ("__linux__", "linux"),
    ("__linux", "linux"),
    ("linux", "linux"),
    ("__gnu_linux__", "linux"),
    ("__FreeBSD__", "freebsd"),
    ("__NetBSD__", "netbsd"),
    ("__OpenBSD__", "openbsd"),
    ("__DragonFly__", "dragonfly"),
    ("__sun", "solaris"),
    ("__ANDROID__", "android"),
    ("__EMSCRIPTEN__", "emscripten"),
];
/// Macros that identify systems and compilers that are obsolete or cannot be used on this machine.
const NEVER: [&str; 14] = [
    "_AIX",
    "__hpux",
    "__VMS",
    "VMS",
    "__OS2__",
    "__DOS__",
    "MSDOS",
    "__MSDOS__",
    "__BEOS__",
    "__HAIKU__",
    "__wasm__",
    "ARDUINO",
    "__AVR__",
    "__WATCOMC__",
];

/// An `#if` whose `#endif` has not been reached yet.
struct OpenConditional {
    /// True if an enclosing branch is left out.
    outer: bool,
    /// True if one of the earlier branches was taken, or `None` if this is unknown.
    held: Option<bool>,
    /// The reason why the current branch is left out, if it is.
    why: Option<String>,
}

/// Returns the lines that are left out.
pub(super) fn of(text: &str, is_cpp: bool, here: &BuildPlatform) -> Vec<ExcludedLines> {
    let mut open: Vec<OpenConditional> = Vec::new();
    let mut found: Vec<ExcludedLines> = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        if let Some((word, rest)) = directive(line) {
            let value = |rest: &str| expression(strip(rest), is_cpp, here);
            match word {
                "if" | "ifdef" | "ifndef" => {
                    let holds = match word {
                        "if" => value(rest),
                        "ifdef" => defined(strip(rest), is_cpp, here),
                        _ => not(defined(strip(rest), is_cpp, here)),
                    };
                    let outer = open.iter().any(|own| own.outer || own.why.is_some());
                    let why = (holds == Some(false))
                        .then(|| format!("#{word} {}", super::short(strip(rest))));
                    open.push(OpenConditional { outer, held: holds, why });
                }
                "elif" | "else" => {
                    if let Some(own) = open.last_mut() {
                        let holds = if word == "else" { Some(true) } else { value(rest) };
                        let is_out = own.held == Some(true) || holds == Some(false);
                        own.why = is_out.then(|| {
                            format!("#{word} {}", super::short(strip(rest))).trim_end().to_owned()
                        });
                        own.held = any([own.held, holds]);
                    }
                }
                "endif" => drop(open.pop()),
                _ => {}
            }
            continue;
        }
        let Some(why) = open.iter().find_map(|own| own.why.clone()) else { continue };
        match found.last_mut().filter(|own| own.last + 1 == number && own.why == why) {
            Some(own) => own.last = number,
            None => found.push(ExcludedLines { first: number, last: number, why }),
        }
    }
    found
}

/// Splits a directive into its keyword and the rest.
fn directive(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    Some((&rest[..end], &rest[end..]))
}

/// Returns a line without its comment.
fn strip(text: &str) -> &str {
    let end = [text.find("//"), text.find("/*")].into_iter().flatten().min();
    text[..end.unwrap_or(text.len())].trim()
}

fn expression(text: &str, is_cpp: bool, here: &BuildPlatform) -> Option<bool> {
    let text = bare(text);
    let parts = split(text, "||");
    if parts.len() > 1 {
        return any(parts.into_iter().map(|own| expression(own, is_cpp, here)));
    }
    let parts = split(text, "&&");
    if parts.len() > 1 {
        return all(parts.into_iter().map(|own| expression(own, is_cpp, here)));
    }
    if let Some(own) = text.strip_prefix('!').filter(|own| !own.starts_with('=')) {
        return not(expression(own, is_cpp, here));
    }
    if let Some(own) = text.strip_prefix("defined") {
        return defined(bare(own), is_cpp, here);
    }
    match text.parse::<i64>() {
        Ok(number) => Some(number != 0),
        // An undefined macro evaluates to 0. The value of a defined macro is unknown.
        Err(_) => defined(text, is_cpp, here).filter(|own| !own),
    }
}

/// Returns whether a macro is defined, or `None` if this is unknown.
fn defined(name: &str, is_cpp: bool, here: &BuildPlatform) -> Option<bool> {
    let name = name.trim();
    if let Some((_, system)) = OF_SYSTEMS.iter().find(|(own, _)| *own == name) {
        return Some(here.system == *system);
    }
    match name {
        "__cplusplus" => Some(is_cpp),
        "__unix__" | "__unix" | "unix" => Some(here.system != "windows"),
        "__x86_64__" | "__x86_64" | "__amd64__" => Some(here.processor == "x86_64"),
        "__aarch64__" => Some(here.processor == "aarch64"),
        "__i386__" | "__i386" => Some(here.processor == "x86"),
        _ if NEVER.contains(&name) || here.undefined.contains(name) => Some(false),
        _ => None,
    }
}
