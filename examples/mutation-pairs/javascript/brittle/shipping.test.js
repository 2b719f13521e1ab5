import assert from "node:assert";
import test, { mock } from "node:test";
import { Shipping } from "./shipping.js";

test("fees", () => {
  const own = new Shipping();
  assert.strictEqual(own._fee(true), 15);
  assert.strictEqual(own._fee(false), 5);
});

test("the fee is asked for", () => {
  const own = new Shipping();
  const fee = mock.method(own, "_fee", () => 7);
  assert.strictEqual(own.of(20), 7);
  assert.strictEqual(own.of(21), 7);
  assert.deepStrictEqual(fee.mock.calls.map((call) => call.arguments), [[false], [true]]);
});

test("nothing is not shipped", () => {
  const own = new Shipping();
  assert.throws(() => own.of(0), { message: "nothing to ship" });
  assert.throws(() => own.of(-1), { message: "nothing to ship" });
  assert.strictEqual(own.of(1), 5);
});
