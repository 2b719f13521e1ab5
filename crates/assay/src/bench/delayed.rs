//! Programs in which calls of a function can be delayed. Python and Ruby programs are used as they
//! are. A Go program is rebuilt with `go build -overlay`: the compiler reads changed copies of the
//! files concerned, in which each of the functions begins with a call that waits.

use super::executed::{Key, Tree};
use super::{Asker, Side};
use assay_harness::executed::{GO_WAIT, Language};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the side with a program in which calls of each of these functions can be delayed. A
/// function is identified by its index in `functions`. `None` if the program cannot be built.
pub(super) fn delayable(
    side: &Side,
    tree: &Tree,
    functions: &[&Key],
    asker: &mut Asker,
) -> Option<Side> {
    if tree.language != Language::Go {
        return Some(side.clone());
    }
    let directory = asker.directory().ok()?;
    let overlay = overlay(tree, functions, &directory)?;
    tree.built_again(side, &["-overlay", overlay.to_str()?], directory.join("delayed.test"))
}

/// Writes the changed copies of files, and the list of the files that they replace. Returns the
/// path of the list.
fn overlay(tree: &Tree, functions: &[&Key], directory: &Path) -> Option<PathBuf> {
    let mut lines: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (number, (file, name)) in functions.iter().enumerate() {
        let own = tree.files.get(file)?.iter().find(|own| own.name == *name)?;
        lines.entry(file).or_default().push((own.lines.0, number));
    }
    let mut replaced = Map::new();
    for (index, (file, lines)) in lines.iter().enumerate() {
        let path = tree.root.join(file);
        let text = fs::read_to_string(&path).ok()?;
        let package = text.lines().find(|line| line.starts_with("package "))?;
        let mut copy = |path: &Path, text: String, name: String| {
            let own = directory.join(name);
            fs::write(&own, text).ok()?;
            let own = Value::from(own.to_str()?);
            replaced.insert(path.to_str()?.to_owned(), own);
            Some(())
        };
        copy(&path, with_waits(&text, lines), format!("{index}.go"))?;
        let waits = path.with_file_name("assay_waits.go");
        copy(&waits, format!("{package}\n{GO_WAIT}"), format!("{index}-waits.go"))?;
    }
    let list = directory.join("overlay.json");
    fs::write(&list, serde_json::json!({ "Replace": replaced }).to_string()).ok()?;
    Some(list)
}

/// Inserts a call that waits at the start of each function. `functions` contains the line on which
/// each function begins, and the number to pass to the call.
fn with_waits(text: &str, functions: &[(usize, usize)]) -> String {
    let mut bodies: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let begins =
            |(first, _): &&(usize, usize)| *first == index + 1 && line.starts_with("func ");
        let begun = functions.iter().find(begins);
        if let Some((number, body)) = begun.and_then(|(_, n)| Some((*n, body(&text[start..])?))) {
            bodies.push((start + body, number));
        }
        start += line.len();
    }
    let mut changed = text.to_owned();
    for (place, number) in bodies.into_iter().rev() {
        changed.insert_str(place, &format!(" assayWait({number});"));
    }
    changed
}

/// Returns the position after the brace that opens the body of a Go function. Types in its
/// signature may contain braces as well.
fn body(text: &str) -> Option<usize> {
    let (mut depth, mut word, mut inner) = (0_usize, String::new(), 0_usize);
    for (index, c) in text.char_indices() {
        match c {
            '{' if inner > 0 || word == "interface" || word == "struct" => inner += 1,
            '{' if depth == 0 => return Some(index + 1),
            '}' => inner = inner.saturating_sub(1),
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match c {
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            ' ' => {}
            _ => word.clear(),
        }
        if c == ' ' && text[index + 1..].starts_with(|c: char| c.is_alphanumeric()) {
            word.clear();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_the_first_statement_of_a_function() {
        let text = "package m\n\nfunc One() int { return 1 }\n\nfunc (r *R) Two(a struct{ x int }, f func() interface {\n\tM()\n}) map[string]struct{} {\n\treturn nil\n}\n\nfunc Three[T interface{ ~int }](\n\ta T,\n) T {\n\treturn a\n}\n";
        let found = with_waits(text, &[(3, 0), (5, 1), (11, 2)]);
        assert_eq!(
            found,
            "package m\n\nfunc One() int { assayWait(0); return 1 }\n\nfunc (r *R) Two(a struct{ x int }, f func() interface {\n\tM()\n}) map[string]struct{} { assayWait(1);\n\treturn nil\n}\n\nfunc Three[T interface{ ~int }](\n\ta T,\n) T { assayWait(2);\n\treturn a\n}\n"
        );
        assert_eq!(with_waits(text, &[(1, 0)]), text, "no function begins there");
    }
}
