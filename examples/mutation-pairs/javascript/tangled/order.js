import { Discount } from "./discount.js";
import { Shipping } from "./shipping.js";
import { ORDER } from "./state.js";

export function checkout(lines) {
  ORDER.lines = lines;
  ORDER.total = 0;
  for (const [count, each] of lines) {
    ORDER.total += count * each;
  }
  Discount.apply();
  Shipping.add();
  ORDER.log.push("order");
  return ORDER.total;
}
