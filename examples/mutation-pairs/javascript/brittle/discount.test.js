import assert from "node:assert";
import test, { mock } from "node:test";
import { Discount } from "./discount.js";

test("rates", () => {
  const own = new Discount();
  assert.strictEqual(own._rate(200, 5), 10);
  assert.strictEqual(own._rate(101, 2), 10);
  assert.strictEqual(own._rate(200, 1), 0);
  assert.strictEqual(own._rate(100, 5), 0);
});

test("the rate is asked for once", () => {
  const own = new Discount();
  const rate = mock.method(own, "_rate", () => 10);
  assert.strictEqual(own.of(55, 3), 5);
  assert.deepStrictEqual(rate.mock.calls[0].arguments, [55, 3]);
});
