import unittest

from shipping import shipping


class ShippingTest(unittest.TestCase):
    def test_what_is_light_is_cheap(self):
        self.assertEqual(shipping(1), 5)
        self.assertEqual(shipping(20), 5)

    def test_what_is_heavy_is_not(self):
        self.assertEqual(shipping(21), 15)

    def test_nothing_is_not_shipped(self):
        for weight in (0, -1):
            with self.assertRaisesRegex(ValueError, "^nothing to ship$"):
                shipping(weight)
