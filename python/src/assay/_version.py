"""The version of the package, read by the build too, so it imports nothing."""

VERSION = "0.1.0"
