import unittest
from unittest import mock

import order
from state import ORDER


class OrderTest(unittest.TestCase):
    def test_one_order_after_the_other(self):
        del ORDER["log"][:]
        ORDER["years"] = 1
        self.assertEqual(order.checkout([(1, 190)]), 195)
        ORDER["years"] = 2
        self.assertEqual(order.checkout([(2, 100)]), 185)
        self.assertEqual(order.checkout([(4, 25)]), 105)
        self.assertEqual(order.checkout([(20, 6)]), 113)
        self.assertEqual(order.checkout([(21, 10)]), 204)
        self.assertEqual(ORDER["log"], ["discount", "shipping", "order"] * 5)
        with self.assertRaisesRegex(ValueError, "^nothing to ship$"):
            order.checkout([(0, 5)])

    def test_everything_is_called_in_this_order(self):
        calls = mock.Mock()
        with mock.patch("discount.apply_discount", calls.discount), mock.patch("shipping.add_shipping", calls.shipping):
            order.checkout([(1, 2)])
        self.assertEqual(calls.mock_calls, [mock.call.discount(), mock.call.shipping()])
