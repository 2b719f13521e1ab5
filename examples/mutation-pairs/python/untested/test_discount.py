import unittest

from discount import discount


class DiscountTest(unittest.TestCase):
    def test_old_customers(self):
        discount(200, 5)

    def test_new_customers(self):
        self.assertIsNotNone(discount(200, 1))
