"""What a release will do and cost, fixed before the data is read."""

from fim_private.plan.make import make_plan, plan_again
from fim_private.plan.plan import Plan
from fim_private.plan.universe import Universe

__all__ = ["Plan", "Universe", "make_plan", "plan_again"]
