def price(lines, discount, shipping):
    total = sum(count * each for count, each in lines)
    weight = sum(count for count, _ in lines)
    return total - discount(total) + shipping(weight)
