import unittest
from unittest import mock

import shipping


class ShippingTest(unittest.TestCase):
    def test_fees(self):
        self.assertEqual(shipping._fee(True), 15)
        self.assertEqual(shipping._fee(False), 5)

    def test_the_fee_is_asked_for(self):
        with mock.patch("shipping._fee", return_value=7) as fee:
            self.assertEqual(shipping.shipping(20), 7)
            self.assertEqual(shipping.shipping(21), 7)
        self.assertEqual(fee.mock_calls, [mock.call(False), mock.call(True)])

    def test_nothing_is_not_shipped(self):
        for weight in (0, -1):
            with self.assertRaisesRegex(ValueError, "^nothing to ship$"):
                shipping.shipping(weight)
        self.assertEqual(shipping.shipping(1), 5)
