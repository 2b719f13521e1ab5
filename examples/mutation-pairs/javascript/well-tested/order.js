export function price(lines, discount, shipping) {
  let total = 0;
  let weight = 0;
  for (const [count, each] of lines) {
    total += count * each;
    weight += count;
  }
  return total - discount(total) + shipping(weight);
}
