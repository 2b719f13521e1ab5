import assert from "node:assert";
import test from "node:test";
import { shipping } from "./shipping.js";

test("what is light is cheap, what is heavy is not", () => {
  assert.strictEqual(shipping(1), 5);
  assert.strictEqual(shipping(20), 5);
  assert.strictEqual(shipping(21), 15);
});

test("nothing is not shipped", () => {
  assert.throws(() => shipping(0), { message: "nothing to ship" });
  assert.throws(() => shipping(-1), { message: "nothing to ship" });
});
