"""The pytest plugin, loaded by PYTEST_PLUGINS or `-p`. PYTEST_DONT_REWRITE

It only imports names: pytest parses each plugin to rewrite its assertions, which takes as long as a
dozen tests, but leaves modules alone that a plugin merely imports.
"""

from assay_tests_pytest import pytest_configure, pytest_unconfigure

__all__ = ["pytest_configure", "pytest_unconfigure"]
