import { ORDER } from "./state.js";

export class Discount {
  static apply() {
    ORDER.log.push("discount");
    let rate = 0;
    if (ORDER.years >= 2 && ORDER.total > 100) {
      rate = 10;
    }
    ORDER.total -= Math.floor((ORDER.total * rate) / 100);
  }
}
