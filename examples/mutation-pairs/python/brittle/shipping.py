def shipping(weight):
    if weight <= 0:
        raise ValueError("nothing to ship")
    return _fee(weight > 20)


def _fee(heavy):
    return 15 if heavy else 5
