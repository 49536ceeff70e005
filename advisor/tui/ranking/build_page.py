"""What the screens say of one build: the detail panel, the full record, one line (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from advisor.answers.build_words import machine_words, named_gpus_words, short_gpus_words
from advisor.answers.gpu_count_notes import uneven_notes
from advisor.answers.price_facts import buyer_lines, newer_words, prices_told
from advisor.answers.ranking.confidence import measure_line, sure_line
from advisor.answers.ranking.verdict import days_words
from advisor.answers.wording import (
    KIND_WORDS,
    PREDICTED_MARK,
    age_short,
    estimate_mark,
    experiment_line,
    price_day,
    price_day_words,
    reason_words,
    source_name,
    trust_words,
)
from advisor.costs.amounts import days_exact, days_rounded, usd_exact, usd_rounded
from advisor.tui.pages.evidence_lines import settings_lines, source_lines, verdict_line
from advisor.tui.widgets.lines import FAINT, HEADING, PLAIN, STRONG, WARNING, Line, wrapped
from bench_runner.typed_numbers import percent, plain

if TYPE_CHECKING:
    from advisor.ranking.rank import ExcludedRow, RankedRow, Ranking
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import BestTime, TrainingTime
    from advisor.tui.program.session import RankingSession
    from price_catalog.builds import Build
    from price_catalog.model import Quote, Source


def ranked_lines(
    ranking: Ranking,
    row: RankedRow,
    best: BestTime | None,
    lifetime_years: float,
    snapshot: Snapshot,
    width: int,
) -> list[Line]:
    """Everything known about one ranked build, wrapped to ``width`` cells."""
    build = row.build
    lines: list[Line] = [
        (f"{named_gpus_words(build)}, {machine_words(build)}", STRONG),
        (
            f"rank {row.rank}" + (" · ★ on the Pareto front" if row.on_pareto_front else ""),
            FAINT,
        ),
        (f"{usd_rounded(row.overall_cost_usd)} · {days_words(row)}", STRONG),
        *_uncertainty_lines(ranking, ranking.order[row.rank - 1]),
        ("", PLAIN),
        ("COST OF A RUN", HEADING),
        (experiment_line(row, lifetime_years), PLAIN),
        ("", PLAIN),
        (f"OVERALL COST  {usd_exact(row.overall_cost_usd)}", HEADING),
        *_price_lines(row.build, row.gpu_quote, row.host_quote),
        *_told_lines(row),
        ("", PLAIN),
        ("BEFORE YOU ORDER", HEADING),
        *((line, PLAIN) for line in buyer_lines(row)),
        ("", PLAIN),
        *_time_lines(row.time, best, snapshot),
        *_settling_lines(ranking, ranking.order[row.rank - 1]),
        ("", PLAIN),
        ("SETTINGS THAT REACH IT", HEADING),
        *settings_lines(row.time),
        *((note, FAINT) for note in uneven_notes(ranking.candidates.model, [row.build])),
        ("", PLAIN),
        *_parts_lines(row),
    ]
    return wrapped(lines, width)


def excluded_lines(
    ranking: Ranking, row: ExcludedRow, snapshot: Snapshot, width: int
) -> list[Line]:
    """Everything known about a build that is left out, the reason first."""
    build = row.build
    build_index = ranking.candidates.builds.index(build)
    best = ranking.candidates.times[build_index]
    lines: list[Line] = [
        (f"{named_gpus_words(build)}, {machine_words(build)}", STRONG),
        (f"left out: {reason_words(row.reason)}", WARNING),
        (row.detail, PLAIN),
    ]
    if row.reason == "too-slow" and build_index in ranking.uncertainty.perhaps_fast:
        lines.append(("its interval reaches below the limit: it may be fast enough", WARNING))
    lines.append(("", PLAIN))
    if row.overall_cost_usd is not None:
        lines += [(f"OVERALL COST  {usd_exact(row.overall_cost_usd)}", HEADING)]
        gpu, host = (
            ranking.candidates.gpu_quotes[build_index],
            ranking.candidates.host_quotes[build_index],
        )
        if gpu is not None and host is not None:
            lines += _price_lines(build, gpu, host)
        lines.append(("", PLAIN))
    if row.time is not None and row.time.training_days is not None:
        lines += [*_time_lines(row.time, best, snapshot), ("", PLAIN)]
        lines += [("SETTINGS THAT REACH IT", HEADING), *settings_lines(row.time), ("", PLAIN)]
    return wrapped(lines, width)


def _uncertainty_lines(ranking: Ranking, i: int) -> Iterable[Line]:
    """What the training times leave open about the place of one ranked build."""
    uncertainty = ranking.uncertainty
    if i == uncertainty.first:
        text = sure_line(ranking)
        if text is not None:
            yield text, PLAIN if uncertainty.is_sure else WARNING
    elif i in uncertainty.tied:
        yield "= too close to first place to call: the doubt is larger than the difference", WARNING
    limit = ranking.question.max_days
    if limit is not None and i != uncertainty.first and i in uncertainty.perhaps_slow:
        yield f"may take longer than {days_exact(limit)} days", WARNING


def _settling_lines(ranking: Ranking, i: int) -> Iterable[Line]:
    """What to measure to settle first place: said of that, and of the build to be measured."""
    wanted = ranking.uncertainty.wanted
    measure = measure_line(ranking)
    if measure is not None and i in (ranking.uncertainty.first, wanted and wanted.build):
        yield "", PLAIN
        yield "TO SETTLE FIRST PLACE", HEADING
        yield measure, PLAIN


def _price_lines(build: Build, gpu: Quote, host: Quote) -> Iterable[Line]:
    if build.host_owned:
        yield f"{build.host.name}: already yours, nothing to buy", STRONG
        return
    if build.host.gpu_id is not None:
        yield f"{build.host.name} with its GPUs {usd_exact(host.price_usd)}", PLAIN
        yield from _quote_lines(host)
        return
    if build.gpus_owned:
        yield f"{build.gpus_owned} × {build.gpu.name}: already yours, nothing to buy", PLAIN
    bought = build.gpu_count - build.gpus_owned
    each, all_usd = gpu.price_usd, gpu.price_usd * bought
    yield f"{bought} × {build.gpu.name} at {usd_exact(each)} = {usd_exact(all_usd)}", PLAIN
    yield from _quote_lines(gpu)
    yield f"{build.host.name} {usd_exact(host.price_usd)}", PLAIN
    yield from _quote_lines(host)


def _told_lines(row: RankedRow) -> Iterable[Line]:
    """The range that each price stands in, and newer quotes that do not count."""
    today = date.today()
    for told in prices_told(row, today):
        span = told.span
        if span is not None and span.quotes > 1:
            low, high = usd_exact(span.low_usd), usd_exact(span.high_usd)
            yield f"{told.item}: {span.quotes} quotes as good ask {low} to {high}", PLAIN
        newer = newer_words(told, today)
        if newer is not None:
            yield newer, WARNING


def _quote_lines(quote: Quote) -> Iterable[Line]:
    kind = KIND_WORDS.get(quote.kind, quote.kind)
    # The rounded prices name the paper twice otherwise.
    who = quote.label if quote.kind != "rounded" else "section 4.1"
    yield f"  {quote.quoted_on} · {kind} · {who}", FAINT
    if quote.note:
        yield f"  {quote.note}", FAINT


def _time_lines(time: TrainingTime, best: BestTime | None, snapshot: Snapshot) -> Iterable[Line]:
    low, high = time.training_days_low, time.training_days_high
    ends = dict.fromkeys(days_rounded(end) for end in (low, high) if end is not None)
    interval = f" ({'–'.join(ends)})" if len(ends) > 1 else ""
    about = PREDICTED_MARK if time.basis == "predicted" else ""
    yield f"TRAINING TIME  {about}{days_rounded(time.training_days or 0)} days{interval}", HEADING
    if time.comparison_factor is not None:
        within = f"{percent(time.comparison_factor - 1)}"
        yield f"compared with another estimate: within {within} either way", PLAIN
    yield verdict_line(time)
    yield from source_lines(time, _source(snapshot, time.source_id))
    naive = best.naive if best is not None else None
    if naive is not None and naive.training_days and time.training_days:
        times = naive.training_days / time.training_days
        yield f"naive settings: {days_exact(naive.training_days)} days ({plain(times, 2)}×)", PLAIN
    elif naive is None and best is not None and time.method != "naive":
        yield "naive settings: no time on record", PLAIN
    published = best.published if best is not None else None
    if published is not None and published.training_days is not None:
        who = source_name(_source(snapshot, published.source_id), published.source_id)
        others = published.training_days == time.measured_otherwise_days
        whose = "measured with other settings" if others else "published"
        yield (
            f"{whose}: {days_exact(published.training_days)} days ({who}) "
            f"{published.verdict_reason or ''}",
            WARNING if published.verdict == "implausible" else PLAIN,
        )


def _parts_lines(row: RankedRow) -> Iterable[Line]:
    host = row.build.host
    if not host.parts:
        return
    total = sum((part.price_usd for part in host.parts), Decimal(0))
    yield f"PARTS OF THE HOST  {usd_exact(total)}", HEADING
    for part in host.parts:
        yield f"{part.role}  {usd_exact(part.price_usd)}", PLAIN
        yield f"  {part.detail} · {part.priced_on}", FAINT
    if host.parts and total != row.host_quote.price_usd:
        yield f"the ranking counts {usd_exact(row.host_quote.price_usd)} for it", FAINT


def _source(snapshot: Snapshot, source_id: str) -> Source | None:
    return next((s for s in snapshot.sources if s.source_id == source_id), None)


def one_line(row: RankedRow, *, short: bool) -> str:
    """The selected build in one line, for the clipboard and below the picture; ``short`` where
    that is narrow."""
    build, time = row.build, row.time
    if short:
        return (
            f"{short_gpus_words(build)} · {usd_rounded(row.overall_cost_usd)} "
            f"({age_short(row, date.today())}) · {days_words(row)} · {machine_words(build)}"
        )
    return (
        f"{short_gpus_words(build)}, {machine_words(build)} · {usd_rounded(row.overall_cost_usd)} "
        f"({price_day_words(price_day(row), date.today())}) · {days_words(row)} · "
        f"{estimate_mark(time)}{usd_rounded(row.experiment_cost_usd)} a run · {trust_words(time)}"
    )


def excluded_line(row: ExcludedRow) -> str:
    """The same of a build that is left out, with the reason."""
    cost = "" if row.overall_cost_usd is None else f" · {usd_rounded(row.overall_cost_usd)}"
    return (
        f"{short_gpus_words(row.build)}, {machine_words(row.build)}{cost} · left out: {row.detail}"
    )


def selected_page(session: RankingSession) -> Callable[[int], Sequence[Line]]:
    """The selected build in full, for a width."""
    shown, snapshot, i = session.answer, session.snapshot, session.selected
    if shown is None or snapshot is None or i is None:
        return lambda width: []
    try:
        position = shown.ranking.order.index(i)
    except ValueError:
        order = shown.ranking.excluded_order
        place = next(n for n, (index, _) in enumerate(order) if index == i)
        return partial(excluded_lines, shown.ranking, shown.ranking.excluded_row(place), snapshot)
    row, best = shown.ranking.row(position), shown.view.candidates.times[i]
    starred = row._replace(on_pareto_front=i in shown.front)
    lifetime = shown.ranking.question.lifetime_years
    return partial(ranked_lines, shown.ranking, starred, best, lifetime, snapshot)


def point_line(session: RankingSession, i: int, *, short: bool = False) -> str:
    """One build in a line below the picture, ranked or left out."""
    assert session.answer is not None
    ranking = session.answer.ranking
    try:
        return one_line(ranking.row(ranking.order.index(i)), short=short)
    except ValueError:
        place = next(n for n, (at, _) in enumerate(ranking.excluded_order) if at == i)
        return excluded_line(ranking.excluded_row(place))


def selected_line(session: RankingSession) -> str | None:
    """The selected build in one line; None where none is selected."""
    if session.answer is None or session.selected is None:
        return None
    return point_line(session, session.selected)
