"""Association rules from released counts: post-processing, which costs no privacy. Nothing here sees the data."""

from fim_private.rules.derivation import association_rules
from fim_private.rules.rule import AssociationRules, Rule

__all__ = ["AssociationRules", "Rule", "association_rules"]
