"""The accelerator, the one thing that pyproject.toml can't declare. Where it can't be built, the package is pure Python."""

from setuptools import Extension, setup

SOURCES = ["module", "recording", "probe", "steps", "monitor", "ticks", "allocations"]

setup(
    ext_modules=[
        Extension(
            "assay._speedups",
            sources=[f"csrc/{name}.c" for name in SOURCES],
            depends=["csrc/speedups.h"],
            # One unit for the optimiser would be better still, but needs a linker plugin that not everybody has.
            extra_compile_args=["-O2", "-std=c11", "-fvisibility=hidden"],
            optional=True,
        )
    ]
)
