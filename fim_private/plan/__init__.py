"""What a release will do and cost, fixed before the data is read."""

from fim_private.plan.plan import Plan
from fim_private.plan.planner import make_plan, plan_again, plan_for
from fim_private.plan.question import Question, QuestionArguments, spelled_out
from fim_private.plan.universe import Universe

__all__ = ["Plan", "Question", "QuestionArguments", "Universe", "make_plan", "plan_again", "plan_for", "spelled_out"]
