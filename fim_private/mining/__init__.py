"""The main job: from transactions and a plan to a release."""

from fim_private.mining.mine import mine

__all__ = ["mine"]
