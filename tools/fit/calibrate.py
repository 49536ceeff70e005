"""How heavy the tails of single times are, from what the fitted evidence says of left-out cells.

Each cell is left out in turn, in closed form with the factors integrated out (Rasmussen and
Williams 2006, section 5.4.2). Nothing here sees more than the fit did, so that in cross-validation
what is held out sets no interval of its own.

A new GPU and somebody's new software have the widths of their kinds of effects, which a few groups
gave: two dozen GPUs, as many programs. Each of the two is left out in turn as well, group by group,
and the widths of its kinds are stretched or drawn in together as the times left out make likely.
Few groups say little: the stretch has the prior that the widths themselves have, around 1, so that
it moves no further than that many groups can show (empirical Bayes). To count how many times are
inside would say less still: a fifth of them may be of one GPU, and are inside or outside together.

Of models there are ninety, and their widths are known; what is stretched for a new one is how far
somebody else's code for it is from that for others. There a few lie far off and most lie near, so
that their likelihood says nothing of intervals, and those inside are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.distance import FARTHEST, WIDENING, chip_distance, model_distances, reach_of
from advisor.prediction.fitted import Reach, Tail
from advisor.prediction.intervals import FEWEST, MOST, half_of
from advisor.prediction.observed_times import REFERENCE, Key, Observation, cell
from advisor.prediction.physics.chip import gpu_type
from tools.fit.priors import SPREADS
from tools.fit.random_effects import KINDS, exchange_shares

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the intervals are made of beside the widths."""

    real_tail: Tail
    """Of other people's software, of the times that anybody would be told."""
    own_tail: Tail
    """Of our own stack's: what a prediction means."""
    new: Floats
    """Of each of KINDS: by what the width of an effect that the evidence lacks is multiplied."""


By = Callable[[Observation], str]
FEW: tuple[tuple[By, tuple[str, ...]], ...] = (
    (lambda o: gpu_type(o.chip), ("generation", "gpu")),
    (lambda o: o.stack, ("source", "source x method")),
)
"""What may be new and was measured of few groups, and the kinds of effects that then are new."""
MANY: tuple[tuple[bool, tuple[str, ...]], ...] = (
    (True, ("model",)),
    (True, ("image model",)),
)
"""The same of many groups, which are the models: whether by the times of our own stack, or by those
of other people's software, and the kinds of effects that then are new. Counted are those that have
one."""
FEWEST_OWN = 20
"""Times of our own stack from which on they have a tail of their own."""
STEADY = 1.0
"""So many groups of evenly many times the widths as fitted count for, beside those measured."""
_LIKELY = tuple(2.0 ** (i / 8) for i in range(-24, 17))
_STRETCHES = tuple(2.0 ** (i / 16) for i in range(-16, 17))


def calibrate(
    observations: Sequence[Observation],
    residuals: Floats,
    jacobian: Floats,
    covariance: Floats,
    extra: Floats,
    widths: tuple[Floats, Floats],
) -> Calibration:
    """The tails of times, and how far new effects lie.

    ``residuals`` are of the factors' priors; ``extra`` is by how much the variance of outliers was
    raised, which no interval promises; ``widths`` come with their degrees of freedom.
    """
    import numpy as np

    prior = np.array(SPREADS)
    inverse = np.linalg.inv(covariance + (jacobian * prior**2) @ jacobian.T)
    weighted = inverse @ residuals

    def jointly(rows: Sequence[int]) -> tuple[Floats, Floats]:
        """How far off these rows are that nothing of them is known for, and their covariance."""
        block: Floats = np.linalg.inv(inverse[np.ix_(rows, rows)])
        return block @ weighted[rows], block

    def without(rows: Sequence[int]) -> tuple[Floats, Floats]:
        """The same with the variance of each alone."""
        off, block = jointly(rows)
        return off, np.diag(block) - extra[rows]

    alone = np.empty(len(residuals))
    for rows in _groups(observations, cell):
        off, variance = without(rows)
        alone[rows] = off / np.sqrt(variance)
    told = np.array([o.method != "trial" for o in observations])  # of a search what it found
    own = told & np.array([o.harness == REFERENCE for o in observations])
    tail = fit_tail(alone[told & ~own])
    own_tail = fit_tail(alone[own]) if own.sum() >= FEWEST_OWN else fit_tail(alone[told])
    new = np.ones(len(KINDS))
    names = [kind.name for kind in KINDS]
    reached = [reach_of([(o.workload, o.chip)]) for o in observations]
    everywhere = Counter(each for reach in reached for each in reach)

    def widened(rows: Sequence[int]) -> Floats:
        held = set(rows)
        here = Counter(each for i in rows for each in reached[i])
        left = [o for i, o in enumerate(observations) if i not in held]
        reach = {each for each, number in everywhere.items() if number > here[each]}
        return widening([observations[i] for i in rows], left, reach)

    for key, kinds in FEW:
        left_out = [(rows, *jointly(rows)) for rows in _groups(observations, key)]
        new[[names.index(kind) for kind in kinds]] = likely_stretch(
            observations, left_out, kinds, widths[0]
        )
    groups = [
        (rows, *without(rows), widened(rows))
        for rows in _groups(observations, lambda o: o.workload.workload_id)
    ]
    for ours, kinds in MANY:
        theirs = [kind.key for kind in KINDS if kind.name in kinds]
        having = np.array([any(key(o) is not None for key in theirs) for o in observations])
        new[[names.index(kind) for kind in kinds]] = _stretch(
            observations,
            groups,
            kinds,
            widths,
            own_tail if ours else tail,
            exchange_shares(jacobian) ** 2,
            having & told & (own if ours else ~own),
        )
    return Calibration(tail, own_tail, new)


def _groups(
    observations: Sequence[Observation], key: Callable[[Observation], Key | str]
) -> list[list[int]]:
    groups: dict[Key | str, list[int]] = {}
    for i, o in enumerate(observations):
        groups.setdefault(key(o), []).append(i)
    return list(groups.values())


def widening(
    asked: Sequence[Observation],
    seen: Sequence[Observation],
    reach: Collection[Reach],
) -> Floats:
    """Variance that distance from what was seen adds, as in every prediction that is shipped.
    ``reach`` is where all that is (`distance.reach_of`)."""
    import numpy as np

    gpus = {gpu_type(o.chip) for o in seen}
    own = {gpu_type(o.chip) for o in seen if o.harness == REFERENCE}
    chips = {o.chip: chip_distance(reach, gpus, own, o.chip) for o in asked}
    far = model_distances(reach, [o.workload for o in asked])
    far = far + np.array([chips[o.chip] for o in asked])
    result: Floats = (WIDENING * np.minimum(far, FARTHEST)) ** 2
    return result


def likely_stretch(
    observations: Sequence[Observation],
    groups: Sequence[tuple[list[int], Floats, Floats]],
    kinds: Sequence[str],
    widths: Floats,
) -> float:
    """What the widths of these kinds are multiplied by as the groups that were left out have it:
    the mean of the stretch's logarithm after them, with the widths' own prior around 1."""
    import numpy as np

    logs = np.log(_LIKELY)
    stretched = np.array(_LIKELY) ** 2 - 1.0
    chosen = [(kind, width) for kind, width in zip(KINDS, widths, strict=False)]
    chosen = [(kind, width) for kind, width in chosen if kind.name in kinds]
    spread = chosen[0][0].spread
    keys = [[kind.key(o) for o in observations] for kind, _ in chosen]
    held_by = [Counter(of) for of in keys]
    likely = -(logs**2) / (2.0 * spread**2)
    for rows, off, covariance in groups:
        unseen = np.zeros_like(covariance)
        for (_, width), of, everywhere in zip(chosen, keys, held_by, strict=True):
            here = Counter(of[i] for i in rows)
            for key, number in here.items():
                if key is not None and number == everywhere[key]:
                    mine = np.array([of[i] == key for i in rows])
                    unseen += width**2 * np.outer(mine, mine)
        # In coordinates where the covariance is one and what is new is on the diagonal.
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        share, turn = np.linalg.eigh(root @ unseen @ root.T)
        variance = 1.0 + stretched[:, None] * np.clip(share, 0.0, 1.0 - 1e-9)
        squared = (turn.T @ root @ off) ** 2
        likely -= 0.5 * (np.log(variance) + squared / variance).sum(axis=1)
    weight = np.exp(likely - likely.max())
    return float(np.exp((weight * logs).sum() / weight.sum()))


def _stretch(
    observations: Sequence[Observation],
    groups: Sequence[tuple[list[int], Floats, Floats, Floats]],
    kinds: Sequence[str],
    widths: tuple[Floats, Floats],
    tail: Tail,
    exchange: Floats,
    counted: NDArray[np.bool_],
) -> float:
    """What the widths of these kinds are multiplied by so that 9 in 10 of the times that are
    ``counted`` are inside their intervals when their group is left out; nearer to 1 the fewer
    groups there are. ``exchange`` is what effects on the exchange count of each observation's
    variance."""
    import numpy as np

    keys = {kind.name: [kind.key(o) for o in observations] for kind in KINDS}
    held_by = {name: Counter(of) for name, of in keys.items()}
    off, known, far = [], [], []
    unseen: list[list[Floats]] = [[] for _ in KINDS]
    sizes = []
    for rows, residual, variance, widened in groups:
        told = [n for n, i in enumerate(rows) if counted[i]]
        if not told:
            continue
        left = variance[told].copy()
        for parts, kind, width in zip(unseen, KINDS, widths[0], strict=False):
            of, all_of = keys[kind.name], held_by[kind.name]
            here = Counter(of[i] for i in rows)
            mine = [of[rows[n]] for n in told]
            part = width**2 * np.array([k is not None and here[k] == all_of[k] for k in mine])
            if kind.of_exchange:
                part *= exchange[[rows[n] for n in told]]
            parts.append(part)
            left -= part
        sizes.append(len(told))
        off.append(np.abs(residual[told]))
        known.append(np.maximum(left, 0.0) * tail.scale**2)
        far.append(widened[told])
    if not sizes:
        return 1.0
    error = np.concatenate(off)
    every = [
        (kind.name in kinds, np.concatenate(variance), float(dof))
        for kind, variance, dof in zip(KINDS, unseen, widths[1], strict=False)
    ]
    steady = [(np.concatenate(known), tail.dof), (np.concatenate(far), MOST)]
    steady += [(variance, dof) for ours, variance, dof in every if not ours]

    def inside(stretch: float) -> float:
        moved = [(variance * stretch**2, dof) for ours, variance, dof in every if ours]
        return float((error <= half_width([*steady, *moved])).mean())

    stretch = next((s for s in _STRETCHES if inside(s) >= 0.9), _STRETCHES[-1])
    alike = sum(sizes) ** 2 / sum(n * n for n in sizes)
    return float(stretch ** (alike / (alike + STEADY)))


def half_width(variances: list[tuple[Floats, float]]) -> Floats:
    """Half of the 90 % interval of a sum of independent parts, each a variance with its degrees of
    freedom."""
    import numpy as np

    nothing = np.zeros(1)
    total = sum((variance for variance, _ in variances), nothing)
    return half_of(total, sum((variance**2 / dof for variance, dof in variances), nothing))


def fit_tail(standardised: Floats) -> Tail:
    """The Student's t that makes standardised left-out residuals likeliest (loads scipy)."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.stats import t

    if len(standardised) < 10:
        return Tail(scale=1.0, dof=FEWEST)

    def loss(x: Floats) -> float:
        # A weak prior keeps a dozen residuals from claiming any tail they like.
        dof, scale = np.exp(x)
        return float(
            -t.logpdf(standardised, dof, scale=scale).sum()
            + 0.5 * ((x[0] - np.log(6.0)) / 0.7) ** 2
        )

    bounds = ((np.log(FEWEST), np.log(MOST)), (np.log(0.5), np.log(2.0)))
    found = minimize(loss, np.log([6.0, 1.0]), bounds=bounds, method="L-BFGS-B")
    dof, scale = np.exp(found.x)
    return Tail(scale=float(scale), dof=float(dof))
