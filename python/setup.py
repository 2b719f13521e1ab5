"""What pyproject.toml can't declare: the accelerator, without which the package is pure Python, and the text for registries."""

import os
import re
from pathlib import Path

from setuptools import Extension, setup

SOURCES = ["module", "recording", "probe", "steps", "monitor", "ticks", "allocations"]


def readme():
    """The README with the documents beside it named instead of linked, since such links lead nowhere on a registry."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    return re.sub(r"\[([^]]+)\]\(\.\./([^)]+)\)", r"\1 (`\2` in the repository)", text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    # Where the variable says so, the package is for whatever Python there is.
    ext_modules=[]
    if os.environ.get("ASSAY_PURE") == "1"
    else [
        Extension(
            "assay._speedups",
            sources=[f"csrc/{name}.c" for name in SOURCES],
            depends=["csrc/speedups.h"],
            # One unit for the optimiser would be better still, but needs a linker plugin that not everybody has.
            extra_compile_args=["-O2", "-std=c11", "-fvisibility=hidden"],
            optional=True,
        )
    ],
)
