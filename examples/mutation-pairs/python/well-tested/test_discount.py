import unittest

from discount import discount


class DiscountTest(unittest.TestCase):
    def test_a_tenth_for_large_orders_of_old_customers(self):
        self.assertEqual(discount(200, 5), 20)
        self.assertEqual(discount(101, 2), 10)

    def test_nothing_for_new_customers(self):
        self.assertEqual(discount(200, 1), 0)

    def test_nothing_for_small_orders(self):
        self.assertEqual(discount(100, 5), 0)
        self.assertEqual(discount(50, 5), 0)
