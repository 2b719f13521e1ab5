from state import ORDER


def apply_discount():
    ORDER["log"].append("discount")
    if ORDER["years"] >= 2 and ORDER["total"] > 100:
        rate = 10
    else:
        rate = 0
    ORDER["total"] -= ORDER["total"] * rate // 100
