"""Random bits, and exact samplers on integers made from them: one distribution a file."""

from fim_private.randomness.source import Randomness, SecureRandomness, SeededRandomness

__all__ = ["Randomness", "SecureRandomness", "SeededRandomness"]
