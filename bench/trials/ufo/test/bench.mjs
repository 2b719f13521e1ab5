import { Bench } from "tinybench";
import { encodePath, getQuery, joinURL, normalizeURL, parseURL, stringifyQuery, withQuery, withoutTrailingSlash } from "../dist/index.mjs";

const url = "https://user:password@example.com:8080/a/path/to/some/page?first=1&second=two&third=three%20words&list=a&list=b#section";
const query = { first: 1, second: "two", third: "three words", list: ["a", "b", "c"], last: true };

const bench = new Bench();
bench.add("parseURL", () => parseURL(url));
bench.add("getQuery", () => getQuery(url));
bench.add("stringifyQuery", () => stringifyQuery(query));
bench.add("withQuery", () => withQuery(url, { page: 2, q: "words and more" }));
bench.add("joinURL", () => joinURL("https://example.com/base/", "/one/", "two", "./three", "four/"));
bench.add("normalizeURL", () => normalizeURL(url));
bench.add("encodePath", () => encodePath("/a path/with spaces & signs/ünïcode?no"));
bench.add("withoutTrailingSlash", () => withoutTrailingSlash("/foo/bar/?query=true#hash", true));
await bench.run();
console.table(bench.table());
