import assert from "node:assert";
import test from "node:test";
import { discount } from "./discount.js";

test("old and new customers", () => {
  discount(200, 5);
  assert.notStrictEqual(discount(200, 1), null);
});
