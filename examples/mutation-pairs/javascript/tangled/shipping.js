import { ORDER } from "./state.js";

export class Shipping {
  static add() {
    ORDER.log.push("shipping");
    let weight = 0;
    for (const [count] of ORDER.lines) {
      weight += count;
    }
    if (weight <= 0) {
      throw new Error("nothing to ship");
    }
    if (weight > 20) {
      ORDER.total += 15;
    } else {
      ORDER.total += 5;
    }
  }
}
