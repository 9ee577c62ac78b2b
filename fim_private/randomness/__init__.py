"""Random bits, and exact samplers on integers that use them: one distribution per file."""

from fim_private.randomness.source import Randomness, SecureRandomness, SeededRandomness

__all__ = ["Randomness", "SecureRandomness", "SeededRandomness"]
