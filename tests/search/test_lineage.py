"""Lineages: every formula of a round leads back to one that was sampled, by changes that explain its tokens."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from symseed import Dataset, Library, RegressionSettings, RegressionTask, SearchSpace
from symseed.completion import CompletionSettings
from symseed.language import Expression, Population
from symseed.scoring import Scored
from symseed.search import Budget, Change, EvolutionSettings, Lineage, Part, Search, SearchSettings, Seeds
from symseed.search.elite import Front
from symseed.search.lineage import Family, Origin
from symseed.search.variation import VariationSettings

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "exp"], 1)
SPACE = SearchSpace(LIBRARY)
CROSSED = (Change.CROSSED, Change.CROSSED_AND_MUTATED)


def task() -> RegressionTask:
    x = np.random.default_rng(0).uniform(0.0, 2.0, 20)
    return RegressionTask(LIBRARY, Dataset.of(x, np.exp(np.sin(x * x)) + x * x), RegressionSettings(solved_nmse=0.0))


def lineages(settings: SearchSettings, expressions: int = 900) -> list[list[tuple[Part, Population, list[Lineage]]]]:
    """The populations of each round, with the part that made each and the lineage of every row."""
    rounds: list[list[tuple[Part, Population, list[Lineage]]]] = [[]]

    def watch(scored: Scored, part: Part) -> None:
        found = [search.learner.lineage(place) for place in range(len(scored))]
        rounds[-1].append((part, scored.population, found))

    search = Search(SPACE, task(), settings, budget=Budget(expressions), watch=watch)
    for _ in search:
        rounds.append([])
    return [one for one in rounds if one]


def tokens(formula: Expression) -> Counter[str]:
    return Counter(token.name for token in formula.tokens)


def settings(**evolution: int) -> SearchSettings:
    return SearchSettings(batch=50, evolution=EvolutionSettings(6, **evolution))  # type: ignore[arg-type]


@pytest.mark.parametrize("chosen", [settings(), settings(elitism=3), settings(avoid_seen=2)], ids=["", "elite", "new"])
def test_a_lineage_begins_with_a_sample_and_ends_with_the_formula(chosen: SearchSettings) -> None:
    for populations in lineages(chosen):
        sampled = {str(one) for one in populations[0][1]}
        for _, population, found in populations:
            for formula, lineage in zip(population, found, strict=True):
                assert lineage[-1].formula.ids == formula.ids
                assert lineage[0].change is Change.SAMPLED
                assert str(lineage[0].formula) in sampled
                assert Change.SAMPLED not in [one.change for one in lineage[1:]]


def test_each_ancestor_is_of_an_earlier_generation_and_was_crossed_within_it() -> None:
    for populations in lineages(settings()):
        known = [{one.ids for one in population} for _, population, _ in populations]
        for generation, (_, _, found) in enumerate(populations):
            for lineage in found:
                place = 0
                for ancestor in lineage:
                    place = next(at for at in range(place, generation + 1) if ancestor.formula.ids in known[at])
                    assert all(any(mate.ids in one for one in known[:generation]) for mate in ancestor.others)
                assert [bool(one.others) for one in lineage] == [one.change in CROSSED for one in lineage]


def test_the_tokens_of_a_crossed_formula_are_those_of_both_parents() -> None:
    chosen = SearchSettings(batch=50, evolution=EvolutionSettings(6, VariationSettings(crossover=1.0, mutation=0.0)))
    seen = 0
    for populations in lineages(chosen):
        for _, _, found in populations:
            for lineage in found:
                for before, after in itertools.pairwise(lineage):
                    assert after.change is Change.CROSSED
                    assert tokens(after.formula) <= tokens(before.formula) + tokens(after.others[0])
                    seen += 1
    assert seen > 100


def test_without_crossover_formulas_are_only_mutated() -> None:
    chosen = SearchSettings(batch=50, evolution=EvolutionSettings(6, VariationSettings(crossover=0.0, mutation=1.0)))
    found = [
        one.change for populations in lineages(chosen) for _, _, all_ in populations for line in all_ for one in line
    ]
    assert set(found) == {Change.SAMPLED, Change.MUTATED}


def test_completions_are_made_from_a_row_of_the_population_before_them() -> None:
    chosen = SearchSettings(batch=50, evolution=EvolutionSettings(3), completion=CompletionSettings(generations=True))
    count = 0
    for populations in lineages(chosen, 3_000):
        for (_, before, _), (part, _, found) in itertools.pairwise(populations):
            if part is Part.COMPLETION:
                rows = {one.ids for one in before}
                for lineage in found:
                    assert lineage[-1].change is Change.COMPLETED
                    assert lineage[-2].formula.ids in rows
                    count += 1
    assert count > 20


def test_seeds_that_are_random_or_kept_are_named_so() -> None:
    random = lineages(SearchSettings(batch=50, policy=None, seeds=Seeds.RANDOM, evolution=EvolutionSettings(2)))
    assert {line[0].change for populations in random for _, _, found in populations for line in found} == {Change.DRAWN}
    first, *later = lineages(
        SearchSettings(batch=50, policy=None, seeds=Seeds.CONTINUE, evolution=EvolutionSettings(2))
    )
    assert {line[0].change for _, _, found in first for line in found} == {Change.DRAWN}
    assert {line[0].change for rest in later for _, _, found in rest for line in found} == {Change.KEPT}


def test_a_front_keeps_the_lineage_of_what_it_keeps() -> None:
    front = Front(30)
    search = Search(
        SPACE,
        task(),
        settings(),
        budget=Budget(900),
        watch=lambda scored, part: front.add(scored, part, search.learner.lineage),
    )
    list(search)
    assert front.population is not None
    for formula, lineage in zip(front.population, front.lineages, strict=True):
        assert lineage[-1].formula.ids == formula.ids
        assert front.lineage_of(formula) == lineage
    again = Front(30)
    assert front.scored is not None
    again.restore(front.scored, front.parts, front.lineages)
    assert again.lineages == front.lineages


def test_an_odd_row_has_no_mate_and_undone_changes_are_not_told() -> None:
    rows = Population.from_expressions([Expression.parse(text, LIBRARY) for text in ("x1", "sin(x1)", "exp(x1)")])
    family = Family()
    family.begin(rows, Change.SAMPLED)
    family.follow(rows, Origin.of(np.array([0, 1, 2]), np.array([3, 1, 2], dtype=np.uint8)))
    assert [family.lineage(place)[-1].change for place in range(3)] == [Change.SAMPLED] * 3
