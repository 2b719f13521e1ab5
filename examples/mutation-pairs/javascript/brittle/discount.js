export class Discount {
  of(total, years) {
    return Math.floor((total * this._rate(total, years)) / 100);
  }

  _rate(total, years) {
    if (years >= 2 && total > 100) {
      return 10;
    } else {
      return 0;
    }
  }
}
