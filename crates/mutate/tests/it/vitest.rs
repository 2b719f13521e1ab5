//! Vitest tests run repeatedly by one process, with vitest as installed by `make runtimes`.

use crate::project::{Project, is_there};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;

const SOURCE: &str = "\
import { count } from './count';

export function largest(a: number, b: number): number {
  if (a > b) return a;
  return b;
}

export const shout = (text: string) => text + '!';

export function first(a?: string, b?: string, c?: string) {
  return a ?? b ?? c;
}

export function until(most: number) {
  let n = 0;
  while (n < most) {
    n++;
  }
  return n;
}

class Named { constructor(public name: string) {} }
export class Greeter extends Named {
  private sign = '.';
  constructor(name: string) {
    super(name + '?');
    count.made++;
  }
  greet() { return this.name + this.sign; }
}

const table = build();
function build() { return [1, 2, 3]; }
export const total = () => table.reduce((a, b) => a + b, 0);

export function unused(x: number) { return x + 1; }

export function later(x: number) {
  if (x > 5) Promise.reject(new Error('later'));
  return x;
}
";
const TESTS: &str = "\
import { describe, expect, it } from 'vitest';
import { Greeter, first, largest, later, total, until } from './source';

it('finds the largest', () => {
  expect(largest(1, 2)).toBe(2);
  expect(largest(3, 2)).toBe(3);
});
describe('others', () => {
  it('takes the first', () => expect([first('a'), first(undefined, 'b'), first()]).toEqual(['a', 'b', undefined]));
  it('counts', () => expect(until(3)).toBe(3));
  it('adds', () => expect(total()).toBe(6));
  it('greets', () => expect(new Greeter('a').greet()).toBe('a?.'));
  it('goes on', () => expect(later(1)).toBe(1));
});
";
/// A test that leaves state in its process, and one that depends on a fresh module.
const OTHERS: &str = "\
import { expect, it } from 'vitest';
import { count } from './count';
import { shout } from './source';

it('shouts', () => {
  (globalThis as any).left = shout('a');
  expect(shout('a')).toContain('a');
});
it('is loaded anew', () => expect(count.made).toBe(0));
";

fn fates(result: &Value) -> BTreeMap<String, String> {
    let all = result["mutants"].as_array().unwrap().iter().map(|own| {
        let place = format!("{}:{}", own["begin"]["line"], own["begin"]["column"]);
        let key = format!("{place} {} {}", own["operator"], own["replacement"]);
        (key, own["fate"].as_str().unwrap().to_owned())
    });
    all.collect()
}

#[test]
fn one_process_finds_the_same_as_processes_of_their_own() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/runtimes/vitest");
    if !is_there("node", "--version") || !modules.join("node_modules/vitest").is_dir() {
        println!("skipped: there is no vitest (make runtimes)");
        return;
    }
    let project = Project::new(&[
        ("package.json", r#"{"name":"p","scripts":{"test":"vitest run"}}"#),
        ("source.ts", SOURCE),
        ("count.ts", "export const count = { made: 0 };\n"),
        ("source.test.ts", TESTS),
        ("others.test.ts", OTHERS),
    ]);
    symlink(modules.join("node_modules"), project.top().join("node_modules")).unwrap();
    let command = ["node_modules/.bin/vitest", "run"];
    let (one, status) = project.tried_by(&["--jobs", "1"], &command);
    assert_eq!(status, Some(0), "{one}");
    assert_eq!(one["notes"], serde_json::json!([]));
    let one = fates(&one);
    let parts = ["--jobs", "1", "--separate-builds", "--budget", "10"];
    let each = fates(&project.tried_by(&parts, &command).0);
    let missed = |fate: &str| ["survived", "uncovered", "implied"].contains(&fate);
    // In separate processes, the other test files pass even if one cannot be loaded.
    let is_read = |own: &str| !["pending", "unviable"].contains(&own);
    let tried = each.iter().filter(|(own, fate)| is_read(fate) && is_read(&one[*own]));
    for (mutant, other) in tried {
        let fate = &one[mutant];
        let is_same = fate == other || missed(fate) && missed(other);
        assert!(is_same, "{mutant}: {fate}, and {other} in a process of its own\n{one:#?}");
    }
    let of = |line: &str| -> Vec<&str> {
        let own = one.iter().filter(|(mutant, _)| mutant.starts_with(&format!("{line}:")));
        own.map(|(_, fate)| fate.as_str()).collect()
    };
    assert!(of("11").contains(&"unviable"), "{one:#?}");
    assert!(of("8").contains(&"survived"), "{one:#?}");
    assert!(of("34").iter().all(|fate| *fate == "killed"), "{one:#?}");
    assert!(of("36").iter().all(|fate| *fate == "uncovered"), "{one:#?}");
    assert!(of("17").contains(&"timed_out"), "{one:#?}");
    // An error that no test catches fails the command.
    assert!(of("39").contains(&"killed"), "{one:#?}");
}
