import assert from "node:assert";
import test from "node:test";
import { price } from "./order.js";

test("the discount is taken off the total", () => {
  const lines = [[2, 10], [1, 5]];
  assert.strictEqual(price(lines, (total) => total - 20, () => 0), 20);
});

test("shipping goes by the number of things", () => {
  const lines = [[2, 10], [1, 5]];
  assert.strictEqual(price(lines, () => 0, (weight) => 100 * weight), 325);
});
