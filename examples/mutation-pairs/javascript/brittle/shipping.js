export class Shipping {
  of(weight) {
    if (weight <= 0) {
      throw new Error("nothing to ship");
    }
    return this._fee(weight > 20);
  }

  _fee(heavy) {
    if (heavy) {
      return 15;
    } else {
      return 5;
    }
  }
}
