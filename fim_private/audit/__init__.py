"""Privacy checked by computation: exact output laws, compared over neighbouring count vectors. Nothing is sampled."""
