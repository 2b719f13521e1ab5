import unittest

from shipping import shipping


class ShippingTest(unittest.TestCase):
    def test_what_is_light(self):
        self.assertIsNotNone(shipping(1))

    def test_what_is_heavy(self):
        shipping(30)
