import test from "node:test";
import { shipping } from "./shipping.js";

test("light and heavy", () => {
  shipping(1);
  shipping(30);
});
