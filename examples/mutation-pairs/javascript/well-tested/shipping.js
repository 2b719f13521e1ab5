export function shipping(weight) {
  if (weight <= 0) {
    throw new Error("nothing to ship");
  }
  if (weight > 20) {
    return 15;
  } else {
    return 5;
  }
}
