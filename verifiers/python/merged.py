#!/usr/bin/env python3
"""Verifier of merged proofs, and of all that verify.py verifies, with the same arguments: the
executable form of docs/merged.md, 1.1 to 1.7 ("M" below), written from this text alone. What is
not in it is what verify.py has of docs/protocol.md ("P").
    merged.py result.json task.json    exit 0: it holds, 1: it is refused, 2: a file cannot be read
"""
import json, pathlib, struct
from collections import namedtuple
import verify as V
from verify import Q, Level, check

# ---- M 1.1  Rows ---------------------------------------------------------------------------------
PartRow = namedtuple("PartRow", "ps bucket bounds hash levels")  # levels, MERGED_HASH by P'
def read_row(row):
    """The levels of a merged row, level 0 first, if all numbers are within their ranges."""
    (_, _, zero, bounds), most, others = row
    levels = V.read_levels([zero, *others])
    check(len(levels) > 2, "the table: level 1 of a merged row is the tail")
    right = [type(x) for x in (most, *bounds)] == [int] * 5 and 1 <= most < 2**16
    check(right, "the table: P' and the four bounds of a part")
    (inP, tP, XP, tXP), (zero, first) = bounds, levels[:2]
    wide = zero.outSq <= inP < 2**43 and zero.X <= XP < 2**43
    check(wide and 0 <= tP <= 143 and 0 <= tXP <= 143, "the table: a bound of a part")
    check(zero.w > 0 or XP == tXP == 0, "the table: a bound of x where nothing is hidden")
    check(first.inSq == first.tY == first.ct == 0, "the table: inSq, tY or ct of level 1")
    return [zero, *others]
def read_rows(rows):
    """The part rows by PART_HASH."""
    table = {}
    for row in rows:
        (n, bucket, _, bounds), most, _ = row
        (ps,), part_hash = [ps for ps in V.SETS.values() if ps.n == n], V.hash_of(row[0])
        levels = table.setdefault(part_hash, PartRow(ps, bucket, bounds, part_hash, {})).levels
        check(most not in levels, "the table: two merged rows of a part row have one P'")
        levels[most] = read_row(row), V.hash_of(row)
    return table
def load_rows():
    path = pathlib.Path(__file__).resolve().parents[2] / "vectors/mergedTable.json"
    return read_rows(json.loads(path.read_text("ascii")))

# ---- M 1.3  Blocks -------------------------------------------------------------------------------
class Block(Level):
    """Block ι of level 1: what this level proves of one part, as others do of the level before."""
    def __init__(self, level, index, part, bounds):
        self.level, self.index, self.number, self.before = level, index, 1, part
        self.behind_hidden, self.bounds = part.hidden, bounds if part.hidden else bounds[:2]
        self.segments = [level.most * j + index for j in range(part.row.f)]
        self.nu, self.first = level.nu, [level.first[segment] for segment in self.segments]
    def places(self):  # z_0, .., z_(f-1), v
        place, n, m = self.level.place, self.before.row.n, self.before.m
        z = [place(segment, i) for segment in self.segments for i in range(n)]
        return z + [place(len(self.level.lengths) - 1, m * self.index + i) for i in range(m)]
class MergedLevel(Level):
    """Level 1, with places for `most` parts; those of absent ones are padding (M 1.6)."""
    def __init__(self, row, most, parts, bounds):
        n, f, m = parts[0].row.n, parts[0].row.f, parts[0].m
        used = [(most * j + i, 0, n) for j in range(f) for i in range(len(parts))]
        used.append((most * f, 0, m * len(parts)))
        super().__init__(1, row, False, [n] * (most * f) + [m * most], used, parts[0])
        self.most, self.upsilons, self.numbers = most, len(parts), range(f * n + m)
        self.blocks = [Block(self, i, part, bounds) for i, part in enumerate(parts)]
    def polys(self): return self.numbers  # the same for all blocks

# ---- M 1.4, 1.5  Lifts and combination -----------------------------------------------------------
def s_times(x, y): return (x[0] * y[0] - x[1] * y[1]) % Q, (x[0] * y[1] + x[1] * y[0]) % Q
def combine_parts(level, seeds):
    """P 10 with χ_ι at E1 to E6 and υ_ι at the scalars of lifts, the last ones of stream 4."""
    own = 2 * len(V.s_values(level.blocks[0]))
    upsilon, level.omega = [w[own:] for w in level.omega], [w[:own] for w in level.omega]
    chi, level.scalars = V.short_elements(seeds, level, 8, range(len(level.blocks))), [[], []]
    for i, block in enumerate(level.blocks):
        block.chi, block.omega, block.beta = chi[i], level.omega, []
        for k, w in enumerate(level.omega):
            mine = upsilon[k][2 * i : 2 * i + 2]
            block.beta.append(V.times(level.beta[k], mine[0] + (mine[1] << 32 * V.LANE)))
            for scalar in zip(w[0::2], w[1::2]): level.scalars[k] += s_times(mine, scalar)
    V.combine_level(level, seeds)

# ---- M 1.7  The verifier -------------------------------------------------------------------------
MERGED = b"FLRY\x04"
def read_lists(r, row, count, statements):
    """M 1.2, P 13 step 1: items, header and codings of salts of every part."""
    lists, done = [], 0
    def hashes(kinds):
        check({9 + kind // 3 for kind in kinds} == {row.ps.logn}, "header: items of another set")
        check(len(kinds) <= row.bucket, "table: too many items for a part")
        return row.hash
    for _ in range(count):
        start = r.at
        N = int.from_bytes(r.data[start + 32 : start + 34], "big")
        items, codings = V.read_list(r, statements[done : done + N], hashes)
        lists.append((items, r.data[start : r.at], codings))
        done += N
    check(done == len(statements), "list: longer than the parts")
    return lists
def verify_merged(aggregate, pairs, _=None, table=None):
    """What is proved of the caller's own list of (public key, message)."""
    statements = [V.Statement(*V.decode_public_key(key), key, msg) for key, msg in pairs]
    r, table = V.Reader(aggregate), table or load_rows()
    check(r.take(len(MERGED)) == MERGED, "format: unknown")
    check(r.take(1) == b"\x01", "version: unknown")
    row, count = table.get(r.take(32)), int.from_bytes(r.take(2), "little")
    check(row, "table: made with another row of parameters")
    check(1 <= count <= max(row.levels), "header: no row for so many parts")
    most = min(size for size in row.levels if size >= count)
    rows, merged_hash = row.levels[most]
    lists = read_lists(r, row, count, statements)
    # all fields
    r.part = "bytes"
    parts = [V.levels_of(row.ps, row.bucket, rows, len(items))[0] for items, _, _ in lists]
    for part in parts: part.read(r)
    attempt = r.take(1)
    check(attempt[0] <= 15, "bytes: attempt is above 15")
    _, first, *others = V.read_levels(rows)
    levels = V.levels_from(MergedLevel(first, most, parts, row.bounds), others)
    for level in levels: level.read(r)
    check(r.at == len(aggregate), "bytes: some are left over")
    # M 1.2
    start = row.hash + merged_hash + attempt + struct.pack("<H", count)
    for part, (items, header, _) in zip(parts, lists):
        st = V.Transcript()
        sizes = struct.pack("<BHH", row.ps.logn, row.bucket, len(items))
        st.absorb("falconry/part/v1", row.hash + sizes)
        st.absorb("header", header)
        V.verify_level(st, part, V.combine_level_0, row.ps, items)
        start += st.st
    st = V.Transcript()
    st.absorb("falconry/merge/v1", start)
    V.verify_level(st, levels[0], combine_parts)
    for level in levels[1:]: V.verify_level(st, level, V.combine_level)
    V.finish_tail(st, levels[-1])
    codings = [coding for _, _, own in lists for coding in own]
    return (f"valid merged proof; {count} parts; {len(pairs)} of Falcon-{row.ps.n}, each with "
            f"|s1|^2 + |s2|^2 <= {row.ps.beta2}; salts: %d explicit, %d constant, %d derived; "
            f"{len(aggregate)} bytes" % tuple(codings.count(i) for i in range(3)))
def head(aggregate):
    """B 8: the number of all items, and their commitment as that of a series of the parts."""
    r, total, identity = V.Reader(aggregate), 0, b"falconry series v1"
    r.take(len(MERGED) + 33)
    for _ in range(int.from_bytes(r.take(2), "little")):
        commitment, count = r.take(32), int.from_bytes(r.take(2), "big")
        r.take(4)
        r.runs(count, "header", lambda kind: kind)
        r.take(1)
        def salt_run(coding): return coding, coding == V.CONSTANT and r.take(1)
        salts = r.runs(count, "saltCoding", salt_run)
        r.take(40 * sum(coding == V.EXPLICIT for coding, _ in salts))
        total, identity = total + count, identity + struct.pack(">I", count) + commitment
    return total, V.shake256(identity, 32)
V.FORMATS[MERGED], V.ELEMENTS[MERGED] = verify_merged, (verify_merged, head)
V.LISTS.append("merged.json")

if __name__ == "__main__": V.run(__doc__)
