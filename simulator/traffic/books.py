"""`Books`: the running sums of one iteration, table after table."""

from collections import Counter

import numpy as np

from simulator.arrays import IntArray
from simulator.seeds import generator
from simulator.sharding.plan import Tier
from simulator.traffic.draws import Counts, draw_counts
from simulator.traffic.placement import RECLAIMED, Part, Placement, Run
from simulator.traffic.sync import TouchedRows, dense_synchronisations
from simulator.traffic.synchronisation import Synchronisation
from simulator.traffic.tally import LENGTH_BYTES, Tally
from simulator.workload.workload import Batch

LOCAL = "local"
KINDS = (*(str(tier) for tier in Tier), RECLAIMED)


class Books:
    """Draws where the lookups of a batch land and counts what they cause."""

    def __init__(self, placement: Placement, batch: Batch) -> None:
        self._placement, self._batch = placement, batch
        pooled = placement.execution.dedup == "island"
        self.tallies = [Tally(readers, pooled=pooled) for readers in placement.readers]
        self.host_elements = np.zeros(placement.world_size, dtype=np.int64)  # read by each owner
        self._hits, self._local, self._distinct = Counter[str](), Counter[str](), Counter[str]()
        self._touched = TouchedRows(placement) if placement.execution.sync == "sparse" else None

    def add_table(self, index: int) -> None:
        """Draw the places of one table's lookups and add up the requests."""
        table, batch = self._placement.tables[index], self._batch
        places, *distinct, touched = (
            generator(batch.seed, purpose, batch.iteration, table.stream_key)
            for purpose in ("places", "distinct rows", "pooled rows", "touched rows")
        )
        by_run = draw_counts(places, Counts.of(batch, index), table.shares)
        for number, run in enumerate(table.runs):
            for part in run.parts:
                readers = self._placement.readers[part.readers]
                counts = draw_counts(places, by_run.at(readers.ranks, number), part.owners.shares)
                rows = self._ask(distinct, run, part, counts)
                self._count(run, part, counts.all, rows)
                if run.in_host_memory:
                    np.add.at(self.host_elements, readers.owners, rows * part.columns)
                if self._touched is not None:
                    self._touched.add(touched, run, part, counts.fresh)

    def _ask(self, rngs: list[np.random.Generator], run: Run, part: Part, counts: Counts) -> IntArray:
        """Turn lookups into requests; the rows that readers ask for, [readers, owners]."""
        tally = self.tallies[part.readers]
        if self._placement.execution.dedup == "none":
            tally.add(counts.all, part.columns, self._header_bytes(run, part))
            return counts.all
        occupancy = part.owners.occupancy
        rows = occupancy.draw(rngs[0], counts.fresh)
        tally.add(rows, part.columns, LENGTH_BYTES)
        if tally.pooled:
            most, least = tally.readers.pooled_sum(rows), tally.readers.pooled_max(rows)
            pooled_rows = occupancy.draw(rngs[1], tally.readers.pooled_sum(counts.fresh))
            tally.add_pooled(np.clip(pooled_rows, least, most), part.columns)
        return rows

    def _header_bytes(self, run: Run, part: Part) -> IntArray | int:
        """What goes with a list of ids that are not distinct: [readers, 1] if it depends on the reader."""
        if len(part.columns) > 1 and run.layout.split == "rows":
            return LENGTH_BYTES
        ranks = self._placement.readers[part.readers].ranks
        return LENGTH_BYTES * self._placement.samples[ranks][:, None]

    def _count(self, run: Run, part: Part, lookups: IntArray, rows: IntArray) -> None:
        readers = self._placement.readers[part.readers]
        self._hits[run.kind] += int(lookups.sum())
        self._distinct[run.kind] += int(rows.sum())
        if run.kind not in (Tier.REPLICATED, RECLAIMED) and lookups.shape == readers.owners.shape:
            self._local[run.kind] += int(lookups[readers.owners == readers.ranks[:, None]].sum())

    def lookups_by_tier(self) -> dict[str, int]:
        """Every lookup once: answered by the rank itself, or by the tier of its row."""
        return {LOCAL: self._local.total()} | {kind: self._hits[kind] - self._local[kind] for kind in KINDS}

    def hits_by_tier(self) -> dict[str, int]:
        """Every lookup once, by the tier of its row."""
        return {kind: self._hits[kind] for kind in KINDS}

    def distinct_by_tier(self) -> dict[str, int]:
        """Rows that ranks ask for, by tier."""
        return {kind: self._distinct[kind] for kind in KINDS}

    def synchronisations(self) -> tuple[Synchronisation, ...]:
        """What copies exchange at the end of this iteration, if it is one that synchronises."""
        if self._touched is not None:
            return self._touched.synchronisations()
        return dense_synchronisations(self._placement)
