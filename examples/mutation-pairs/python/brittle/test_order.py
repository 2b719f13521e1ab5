import unittest
from unittest import mock

import order


class OrderTest(unittest.TestCase):
    def test_sums(self):
        self.assertEqual(order._total([(2, 10), (1, 5)]), 25)
        self.assertEqual(order._weight([(2, 10), (1, 5)]), 3)

    def test_both_are_asked_for(self):
        with mock.patch("order._total", return_value=30), mock.patch("order._weight", return_value=4):
            self.assertEqual(order.price([(1, 1)], lambda total: total - 20, lambda weight: 100 * weight), 420)
