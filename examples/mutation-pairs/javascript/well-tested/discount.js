export function discount(total, years) {
  let rate = 0;
  if (years >= 2 && total > 100) {
    rate = 10;
  }
  return Math.floor((total * rate) / 100);
}
