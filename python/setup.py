"""Declares the parts that pyproject.toml can't: the optional accelerator, and the README as shown by registries."""

import os
import re
from pathlib import Path

from setuptools import Extension, setup

SOURCES = ["module", "recording", "probe", "steps", "monitor", "ticks", "allocations"]


def readme():
    """Returns the README with names of documents in place of relative links, which would lead nowhere on a registry."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    return re.sub(r"\[([^]]+)\]\(\.\./([^)]+)\)", r"\1 (`\2` in the repository)", text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    # With ASSAY_PURE=1 the package is pure Python, for any interpreter.
    ext_modules=[]
    if os.environ.get("ASSAY_PURE") == "1"
    else [
        Extension(
            "assay._speedups",
            sources=[f"csrc/{name}.c" for name in SOURCES],
            depends=["csrc/speedups.h"],
            # One unit for the optimizer would be better still, but needs a linker plugin that not everybody has.
            extra_compile_args=["-O2", "-std=c11", "-fvisibility=hidden"],
            optional=True,
        )
    ],
)
