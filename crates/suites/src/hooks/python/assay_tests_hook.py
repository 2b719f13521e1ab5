"""The plugin of pytest, by PYTEST_PLUGINS or `-p`. PYTEST_DONT_REWRITE

It is no more than names: pytest takes each plugin apart to rewrite its assertions, which takes as long as a dozen tests; a module that it only
imports is left alone.
"""

from assay_tests_pytest import pytest_configure, pytest_unconfigure

__all__ = ["pytest_configure", "pytest_unconfigure"]
