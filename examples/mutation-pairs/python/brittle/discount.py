def discount(total, years):
    return total * _rate(total, years) // 100


def _rate(total, years):
    if years >= 2 and total > 100:
        return 10
    return 0
