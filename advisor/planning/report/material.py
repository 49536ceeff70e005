"""What every section of a report is made from."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.cost_book import CostBook, Costs
from advisor.planning.report.number_ledger import NumberLedger
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A plan, what explains it and what it costs; sections enter their numbers in its ledger."""

    loaded: Loaded
    plan: Plan
    explanation: Explanation
    ledger: NumberLedger
    book: CostBook
    costs: Costs

    @property
    def cheapest(self) -> bool:
        """Whether nothing that was compared costs less: not where plans are compared by anything
        but what is paid, as the value that machines keep or the odds of an award."""
        problem = self.loaded.problem
        return (
            self.plan.proven
            and problem.objective == "cheapest"
            and problem.rules.lifetime_years is None
            and all(each.odds == 1 for each in problem.allocations)
        )


def material_of(loaded: Loaded, plan: Plan, explanation: Explanation) -> Material:
    """With an empty ledger, in which the costs come first."""
    ledger = NumberLedger()
    book = CostBook(loaded, ledger)
    return Material(
        loaded=loaded,
        plan=plan,
        explanation=explanation,
        ledger=ledger,
        book=book,
        costs=book.costs(plan),
    )
