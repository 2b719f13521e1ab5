import assert from "node:assert";
import test from "node:test";
import { checkout } from "./order.js";
import { ORDER } from "./state.js";

test("light, heavy and nothing", () => {
  ORDER.years = 2;
  assert.strictEqual(checkout([[20, 5]]), 105);
  assert.strictEqual(checkout([[21, 10]]), 204);
  assert.strictEqual(checkout([[1, 101]]), 96);
  ORDER.log.length = 0;
  assert.throws(() => checkout([[0, 5]]), { message: "nothing to ship" });
  assert.deepStrictEqual(ORDER.log, ["discount", "shipping"]);
  assert.strictEqual(checkout([[2, 60]]), 113);
  assert.deepStrictEqual(ORDER.log.slice(2), ["discount", "shipping", "order"]);
});
