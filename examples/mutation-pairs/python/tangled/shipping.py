from state import ORDER


def add_shipping():
    ORDER["log"].append("shipping")
    weight = sum(count for count, _ in ORDER["lines"])
    if weight <= 0:
        raise ValueError("nothing to ship")
    if weight > 20:
        ORDER["total"] += 15
    else:
        ORDER["total"] += 5
