import { bench, run } from "mitata";
import { destr, safeDestr } from "../dist/index.mjs";

const object = JSON.stringify({ name: "destr", keywords: ["a", "b"], nested: { list: [1, 2, 3], text: "x".repeat(60) } });
const sentence = "a sentence without any JSON in it, ".repeat(4);
const broken = object.slice(0, -1);

bench("known value", () => destr("true"));
bench("number", () => destr("1234.5678"));
bench("quoted", () => destr('"SALAM"'));
bench("object", () => destr(object));
bench("sentence", () => destr(sentence));
bench("broken object", () => destr(broken));
bench("safe object", () => safeDestr(object));
bench("no string", () => destr(3.14));

await run();
