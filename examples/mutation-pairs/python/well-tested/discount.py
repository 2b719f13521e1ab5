def discount(total, years):
    if years >= 2 and total > 100:
        rate = 10
    else:
        rate = 0
    return total * rate // 100
