"""The audit report's section on mistakes that exact laws at planned parameters do not show."""

from __future__ import annotations

from fim_private.report.document import Section, Table

NAMED_TESTS = (
    (
        "half the noise in the margin search, or none on its threshold",
        "tests/mechanisms/test_sparse_vector.py::test_too_little_noise_is_caught",
    ),
    (
        "slack without the factor k, or a threshold one too low",
        "tests/mechanisms/test_laws.py::test_a_threshold_is_the_least_that_bounds_the_slack",
    ),
    (
        "items first: no noise for tokens that nobody has, steps that are free, a test of the wrong itemsets",
        "tests/mechanisms/test_items_first.py::test_broken_twins_fail_the_same_check",
    ),
    (
        "items read from first counts: too little noise, too exact picks of those to leave out, a low threshold",
        "tests/mechanisms/test_item_reading.py::test_the_claim_holds_for_the_hardest_units_and_mistakes_are_caught",
    ),
    (
        "PrivBasis: several bases with the noise of one",
        "tests/mechanisms/test_privbasis.py::test_the_noise_of_one_basis_fails_the_same_check",
    ),
    (
        "PrivBasis: a wider range of the number of items than is paid for",
        "tests/mechanisms/test_privbasis.py::test_broken_twins_of_the_number_have_a_larger_range",
    ),
    (
        "a plan for add-remove used where units are exchanged",
        "tests/mechanisms/test_privacy.py::test_replace_needs_its_own_calibration",
    ),
    (
        "noise released with a pick that tells more than the pick",
        "tests/randomness/test_noisy_maximum.py::test_the_gap_costs_nothing",
    ),
    (
        "random words used for two draws",
        "tests/randomness/test_gaussian_vector.py::test_the_same_words_give_the_same_draws_however_they_arrive",
    ),
    (
        "a ledger charged after the noise was drawn",
        "tests/mining/test_mine.py::test_no_noise_is_drawn_before_the_charge",
    ),
    (
        "a ledger that caps failures of both kinds by one sum along each path, though each has a law of its own",
        "tests/accounting/test_privacy_filter.py::"
        "test_an_analyst_who_chooses_between_two_kinds_of_failures_gets_no_more_than_the_budget",
    ),
    (
        "a release that a ledger does not know of, where a process ends at a bad moment",
        "tests/ledger/test_store.py::test_a_process_killed_at_any_moment_has_charged_what_it_released",
    ),
    (
        "exact counts read outside the door",
        "tests/test_architecture.py::test_exact_counts_leave_through_the_door_only",
    ),
)
"""Mistakes that a law at planned parameters hides, or that are none of a law's, and the test that fails."""


def named_tests_section() -> Section:
    """Each mistake, and the test that fails."""
    return Section(
        anchor="named-tests",
        title="Mistakes that other tests catch",
        parts=(
            Table(
                name="named-tests",
                head=("mistake", "test that catches it", "file"),
                rows=tuple(
                    (mistake, name.removeprefix("test_").replace("_", " "), file)
                    for mistake, file, name in ((mistake, *test.split("::")) for mistake, test in NAMED_TESTS)
                ),
                caption="**Some mistakes no search over laws can show:** they hide in a law's slack, or are made "
                "outside the mechanisms. Each has a test that fails.",
            ),
        ),
    )
