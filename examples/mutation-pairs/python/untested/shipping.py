def shipping(weight):
    if weight <= 0:
        raise ValueError("nothing to ship")
    if weight > 20:
        return 15
    return 5
