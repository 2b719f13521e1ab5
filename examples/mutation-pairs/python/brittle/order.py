def price(lines, discount, shipping):
    total = _total(lines)
    return total - discount(total) + shipping(_weight(lines))


def _total(lines):
    return sum(count * each for count, each in lines)


def _weight(lines):
    return sum(count for count, _ in lines)
