import assert from "node:assert";
import test from "node:test";
import { discount } from "./discount.js";

test("a tenth for large orders of old customers", () => {
  assert.strictEqual(discount(200, 5), 20);
  assert.strictEqual(discount(101, 2), 10);
});

test("nothing for new customers, and for small orders", () => {
  assert.strictEqual(discount(200, 1), 0);
  assert.strictEqual(discount(100, 5), 0);
});
