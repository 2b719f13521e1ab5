import unittest
from unittest import mock

import discount


class DiscountTest(unittest.TestCase):
    def test_rates(self):
        self.assertEqual(discount._rate(200, 5), 10)
        self.assertEqual(discount._rate(101, 2), 10)
        self.assertEqual(discount._rate(200, 1), 0)
        self.assertEqual(discount._rate(100, 5), 0)

    def test_the_rate_is_asked_for_once(self):
        with mock.patch("discount._rate", return_value=10) as rate:
            self.assertEqual(discount.discount(55, 3), 5)
        self.assertEqual(rate.mock_calls, [mock.call(55, 3)])
