"""Read transactions, restrict them to public items, and bound what each unit adds.

    files -> columns -> sources -> formats -> reading -> restriction, bounding

Each folder imports only those to its left.
"""
