import assert from "node:assert";
import test, { mock } from "node:test";
import { Discount } from "./discount.js";
import { checkout } from "./order.js";
import { Shipping } from "./shipping.js";
import { ORDER } from "./state.js";

test("one order after the other", () => {
  ORDER.log.length = 0;
  ORDER.years = 1;
  assert.strictEqual(checkout([[1, 190]]), 195);
  ORDER.years = 2;
  assert.strictEqual(checkout([[2, 100]]), 185);
  assert.strictEqual(checkout([[4, 25]]), 105);
  assert.strictEqual(checkout([[20, 6]]), 113);
  assert.strictEqual(checkout([[21, 10]]), 204);
  assert.deepStrictEqual(ORDER.log.slice(0, 6), ["discount", "shipping", "order", "discount", "shipping", "order"]);
  assert.strictEqual(ORDER.log.length, 15);
  assert.throws(() => checkout([[0, 5]]), { message: "nothing to ship" });
});

test("everything is called in this order", () => {
  const calls = [];
  mock.method(Discount, "apply", () => calls.push("discount"));
  mock.method(Shipping, "add", () => calls.push("shipping"));
  checkout([[1, 2]]);
  mock.restoreAll();
  assert.deepStrictEqual(calls, ["discount", "shipping"]);
});
