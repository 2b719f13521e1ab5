import discount
import shipping
from state import ORDER


def checkout(lines):
    ORDER["lines"] = lines
    ORDER["total"] = sum(count * each for count, each in lines)
    discount.apply_discount()
    shipping.add_shipping()
    ORDER["log"].append("order")
    return ORDER["total"]
