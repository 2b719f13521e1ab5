import unittest

import order
from state import ORDER


class DiscountTest(unittest.TestCase):
    def test_with_and_without(self):
        del ORDER["log"][:]
        ORDER["years"] = 2
        self.assertEqual(order.checkout([(1, 101)]), 96)
        self.assertEqual(order.checkout([(21, 10)]), 204)
        self.assertEqual(order.checkout([(20, 10)]), 185)
        ORDER["years"] = 1
        self.assertEqual(order.checkout([(2, 100)]), 205)
        ORDER["years"] = 3
        self.assertEqual(order.checkout([(1, 100)]), 105)
        with self.assertRaisesRegex(ValueError, "^nothing to ship$"):
            order.checkout([(0, 5)])
        self.assertEqual(ORDER["log"][-5:], ["discount", "shipping", "order", "discount", "shipping"])
