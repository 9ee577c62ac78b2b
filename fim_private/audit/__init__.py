"""Check privacy by computation: compare exact output laws over neighbouring count vectors. Nothing is sampled."""
