"""The main job of the program: from transactions and a plan to a release."""

from fim_private.mining.mine import mine

__all__ = ["mine"]
