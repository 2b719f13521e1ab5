import unittest

from order import price


class OrderTest(unittest.TestCase):
    def test_price(self):
        self.assertTrue(price([(2, 10)], lambda total: 0, lambda weight: 1))
