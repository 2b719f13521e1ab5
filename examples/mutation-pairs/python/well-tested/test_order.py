import unittest

from order import price


class OrderTest(unittest.TestCase):
    def test_the_discount_is_taken_off_the_total(self):
        self.assertEqual(price([(2, 10), (1, 5)], lambda total: total - 20, lambda weight: 0), 20)

    def test_shipping_goes_by_the_number_of_things(self):
        self.assertEqual(price([(2, 10), (1, 5)], lambda total: 0, lambda weight: 100 * weight), 325)
