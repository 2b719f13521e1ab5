import assert from "node:assert";
import test from "node:test";
import { price } from "./order.js";

test("it has a price", () => {
  assert.ok(price([[2, 10]], () => 0, () => 1));
});
