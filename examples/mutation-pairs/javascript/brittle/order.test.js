import assert from "node:assert";
import test, { mock } from "node:test";
import { Order } from "./order.js";

test("sums", () => {
  const own = new Order();
  assert.strictEqual(own._total([[2, 10], [1, 5]]), 25);
  assert.strictEqual(own._weight([[2, 10], [1, 5]]), 3);
});

test("both sums are asked for", () => {
  const own = new Order();
  mock.method(own, "_total", () => 30);
  mock.method(own, "_weight", () => 4);
  assert.strictEqual(own.price([[1, 1]], (total) => total - 20, (weight) => 100 * weight), 420);
});
