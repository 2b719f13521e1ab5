import assert from "node:assert";
import test from "node:test";
import { checkout } from "./order.js";
import { ORDER } from "./state.js";

test("with and without a discount", () => {
  ORDER.log.length = 0;
  ORDER.years = 2;
  assert.strictEqual(checkout([[1, 101]]), 96);
  assert.strictEqual(checkout([[21, 10]]), 204);
  assert.strictEqual(checkout([[20, 10]]), 185);
  ORDER.years = 1;
  assert.strictEqual(checkout([[2, 100]]), 205);
  ORDER.years = 3;
  assert.strictEqual(checkout([[1, 100]]), 105);
  assert.throws(() => checkout([[0, 5]]), { message: "nothing to ship" });
  assert.deepStrictEqual(ORDER.log.slice(-5), ["discount", "shipping", "order", "discount", "shipping"]);
});
