import unittest

import order
from state import ORDER


class ShippingTest(unittest.TestCase):
    def test_light_heavy_and_nothing(self):
        ORDER["years"] = 2
        self.assertEqual(order.checkout([(20, 5)]), 105)
        self.assertEqual(order.checkout([(21, 10)]), 204)
        self.assertEqual(order.checkout([(1, 101)]), 96)
        del ORDER["log"][:]
        with self.assertRaisesRegex(ValueError, "^nothing to ship$"):
            order.checkout([(0, 5)])
        self.assertEqual(ORDER["log"], ["discount", "shipping"])
        self.assertEqual(order.checkout([(2, 60)]), 113)
        self.assertEqual(ORDER["log"][2:], ["discount", "shipping", "order"])
