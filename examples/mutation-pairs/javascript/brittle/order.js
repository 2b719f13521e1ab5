export class Order {
  price(lines, discount, shipping) {
    const total = this._total(lines);
    return total - discount(total) + shipping(this._weight(lines));
  }

  _total(lines) {
    let total = 0;
    for (const [count, each] of lines) {
      total += count * each;
    }
    return total;
  }

  _weight(lines) {
    let weight = 0;
    for (const [count] of lines) {
      weight += count;
    }
    return weight;
  }
}
