"""Tests of verifiers/python/verify.py on toy rows with hidden messages and cut inner commitments.
What a message, a field or a functional must be is worked out here once more, from docs/protocol.md.
Cheating proofs are in adversaries.py. Run: python3 -m unittest test_hidden"""
import struct, unittest
from unittest import mock

import toy_prover
from adversaries import canonical, fractions, made_up, ONE
from left_out import without
from toy_case import ROWS, ROW_HASH, Case, V, header_of, honest, items_of, judge, signed_items
from toy_math import NoCode, Q, bits_of_poly, gauss

def levels_of(case, proof=None):
    r = V.Reader(case.toy.proof if proof is None else proof)
    levels = V.levels_of(case.items[0].ps, case.row[1], case.row[2], len(case.items))
    for level in levels: level.read(r)
    return levels, r.at
def offset(case, number, name):
    at = 0
    for level, field, length in case.toy.fields:
        if (level, field) == (number, name): return at, length
        at += length
    raise KeyError(name)
def put(case, number, name, position, data):
    at, length = offset(case, number, name)
    assert position + len(data) <= length
    at += position
    return case.toy.proof[:at] + data + case.toy.proof[at + len(data) :]
def with_word(case, number, name, index, value):
    """A proof with another 44-bit word in a field."""
    at, length = offset(case, number, name)
    old = int.from_bytes(case.toy.proof[at : at + length], "little")
    old += value - (old >> 44 * index & (1 << 44) - 1) << 44 * index
    return put(case, number, name, 0, old.to_bytes(length, "little"))
MESSAGES = {0: ("uA", "uB", "b", "u2"), 1: ("u1", "b", "u2")}
HIDDEN = {"a": (0,), "b": (0, 1), "c": (1,), "d": (0, 1, 2), "e": (0,)}
def messages(name): return [(n, m) for n in HIDDEN[name] for m in MESSAGES[min(n, 1)]]

class Proofs(unittest.TestCase):
    def test_honest_proofs_are_accepted(self):
        for name in ROWS: self.assertIsNone(honest(name).verdict(), name)
    def test_another_label_header_hash_or_item_is_refused(self):
        case, other = honest("a"), items_of([(k, m, s[1:41]) for k, m, s in signed_items(512, 2)])
        for header, row_hash, items in (
                (case.header[:-1] + b"!", ROW_HASH, case.items),
                (case.header, ROW_HASH[::-1], case.items), (case.header, ROW_HASH, other[1:])):
            self.assertIsNotNone(judge(case.toy.proof, header, case.row, row_hash, items))
    def test_start_label(self):
        self.assertEqual((V.START, toy_prover.START), ("falconry/proof/v3",) * 2)
        for label in ("falconry/proof/v2", "falconry/proof/v4"):
            V.START = toy_prover.START = label
            try:
                other = Case("a", count=1)
                self.assertIsNone(other.verdict())
                self.assertEqual(honest("a").verdict(), "proof: wrong seal")
            finally: V.START = toy_prover.START = "falconry/proof/v3"
            self.assertEqual(other.verdict(), "proof: wrong seal")
class Container(unittest.TestCase):
    """P 2.1, B 1."""
    def said(self, version):
        case = honest("a")
        header = header_of(case.list, ROW_HASH, version)
        case = Case("a", count=1) if version == 3 else case
        table, pairs = [ROWS["a"]], [(key, message) for key, message, _ in case.list]
        with mock.patch.object(V, "hash_of", lambda row: ROW_HASH):
            try: return V.verify(header + case.toy.proof, pairs, table)
            except V.Refused as refusal: return str(refusal)
    def test_version(self):
        self.assertTrue(self.said(3).startswith("valid proof; 1 of Falcon-512"), self.said(3))
        for version in (0, 1, 2, 4, 255): self.assertEqual(self.said(version), "version: unknown")
    def test_version_of_a_bundle(self):
        for version, rule in ((2, "header: bytes are missing"), (3, "version: unknown")):
            with self.assertRaises(V.Refused) as caught:
                V.read_header(V.Reader(b"FLRY" + bytes([V.BUNDLE, version])), [], [])
            self.assertEqual(str(caught.exception), rule)
class Table(unittest.TestCase):
    """P 3: what a reader of the table checks."""
    def refused(self, rows, rule):
        with self.assertRaises(V.Refused) as caught: V.read_levels(rows)
        self.assertEqual(str(caught.exception), "the table: " + rule)
    def test_18_integers(self):
        rows = ROWS["b"][2]
        for change in (lambda x: x[:13], lambda x: x[:17], lambda x: x + [0],
                       lambda x: [float(n) for n in x], lambda x: [*x[:17], False]):
            for number in range(2):
                changed = [change(x) if i == number else x for i, x in enumerate(rows)]
                self.refused(changed, "an ordinary level has 18 integers")
    def test_ranges(self):
        w, k, X, tX, ct = range(13, 18)
        both = ((w, 2, 6), (k, 6, 1000), (X, 1, 2**43 - 1), (tX, 0, 143))
        for number, rows in ((0, ROWS["a"][2]), (1, ROWS["c"][2])):
            def put(at, value):
                changed = [list(x) for x in rows]
                changed[number][at] = value
                return changed
            for at, lowest, highest in both:
                for value in (lowest, highest): V.read_levels(put(at, value))
                for value in (lowest - 1, highest + 1, 0, -1):
                    if lowest <= value <= highest or (at, value) == (k, 1001): continue
                    self.refused(put(at, value), "a range of w, k, X or tX")
        for value in (-1, 1, 2, 3, 4, 15, 16): self.refused(
            [[*ROWS["a"][2][0][:17], value], ROWS["a"][2][1]], "the range of ct")
        for value in (0, *range(4, 16)):
            V.read_levels([ROWS["b"][2][0], [*ROWS["b"][2][1][:17], value], ROWS["b"][2][2]])
        for value in (-1, 1, 2, 3, 16): self.refused(
            [ROWS["b"][2][0], [*ROWS["b"][2][1][:17], value], ROWS["b"][2][2]], "the range of ct")
    def test_open_level_has_none_of_them(self):
        for at in range(13, 17):
            changed = [list(x) for x in ROWS["c"][2]]
            changed[2][at] = {13: 2, 14: 6, 15: 1, 16: 1}[at]
            self.refused(changed, "a range of w, k, X or tX")
    def test_the_table_itself(self):
        names = [(row[0], row[1]) for row in V.load_table()]
        self.assertEqual(names, [(n, size) for n in V.BUCKETS for size in V.BUCKETS[n]])

class Sizes(unittest.TestCase):
    def test_polynomials(self):
        """|x| and m by P 3: 18 = ceil(35/2), 22 = 44/2, 13 = ceil(38/3), 15 = ceil(44/3)."""
        def shape(name): return [(x.v_t, x.m) for x in levels_of(honest(name))[0] if not x.tail]
        zero = (3 * 18 + 3 * 22, 120 + 5 * 3 + 9 * 6 + 3)
        one = 2 * 13 + 2 * 15
        self.assertEqual(shape("a"), [zero])
        # level 1: r = 5, ft = ceil(40/9) = 5, v_e = 2 polynomials
        self.assertEqual(shape("b"), [zero, (one, one + 5 * 5 + 9 * 15 + 2 + 2)])
        # level 2: r = 4, ft = ceil(36/9) = 4, v_e = 2, kappa1 = 2
        self.assertEqual(shape("c"), [(0, 5 * 3 + 9 * 6), (one, one + 5 * 4 + 9 * 10 + 2),
                                      (0, 4 * 4 + 9 * 10 + 2 + 4)])
    def test_fields(self):
        """The fields of fixed length in order, by hand; None for those in the Gaussian code."""
        zero = [1, 528, 528, 1, None, 8, 40, 528, 17, 528]
        def tail(pairs, t, first):
            second = [None, 8] * (not first) + [682, 352 * (pairs - 2), 32, None]
            return [1, 34 * 8 * t, None, 32, 1, None, 8] + second
        expected = {
            "a": [zero, tail(15, 4, False)],
            "b": [zero, [1, 528, 1, None, 8, None, 8, 528, 528], tail(15, 4, False)],
            "c": [[1, 352, 352, 1, None, 8, 40, 1040, 352], [1, 528, 1, None, 8, 528, 528],
                  [1, 2 * 39 * 8, 1, None, 8, None, 8, 682, 2 * 39 * 8], tail(6, 2, True)]}
        for name, levels in expected.items():
            case = honest(name)
            self.assertEqual(levels_of(case)[1], len(case.toy.proof))
            coded = [n for _, _, n in case.toy.fields]
            found = [n for level in levels for n in level]
            self.assertEqual(len(coded), len(found), name)
            self.assertEqual([a for a, b in zip(coded, found) if b], [b for b in found if b], name)
            # what the verifier itself takes, piece by piece, comes to the same
            gaussian = [a for a, b in zip(coded, found) if not b]
            self.assertEqual(sum(x or 0 for x in found) + sum(gaussian), len(case.toy.proof))

class Parser(unittest.TestCase):
    def refused(self, case, proof, rule):
        with self.assertRaises(V.Refused) as caught:
            levels, at = levels_of(case, proof)
            V.check(at == len(proof), "bytes: some are left over")
        self.assertEqual(str(caught.exception), rule)
    def test_p_below_q(self):
        for name in "abc":
            case = honest(name)
            for number, message in messages(name):
                for index in (0, 15, 16, 95):
                    rule = f"bytes: a value of p of {message} is not below q"
                    for value in (Q, 2**44 - 1):
                        proof = with_word(case, number, message, index, value)
                        self.refused(case, proof, rule)
                    levels, _ = levels_of(case, with_word(case, number, message, index, Q - 1))
                    self.assertEqual(levels[number].p[message][index], Q - 1)
    def test_b_32(self):
        case = honest("a")
        for index in range(3):
            for value in (Q, 2**44 - 1):
                self.refused(case, with_word(case, 0, "b_32", index, value),
                             "bytes: a value of b is not below q")
            levels, _ = levels_of(case, with_word(case, 0, "b_32", index, Q - 1))
            self.assertEqual(levels[0].b_32[index], Q - 1)
        at, _ = offset(case, 0, "b_32")
        last = case.toy.proof[at + 16]
        self.assertEqual(last >> 4, 0)
        for bit in range(4, 8):
            self.refused(case, put(case, 0, "b_32", 16, bytes([last | 1 << bit])),
                         "bytes: unused bits are not zero")
    def test_code_of_y_x(self):
        for name, number in (("a", 1), ("b", 1), ("b", 2), ("c", 2)):
            case = honest(name)
            self.refused(case, put(case, number, "y_x", 0, bytes(6)), "bytes: a state is too small")
            at, length = offset(case, number, "y_x")
            for position in (5, 11):
                byte = case.toy.proof[at + position] ^ 1
                changed = put(case, number, "y_x", position, bytes([byte]))
                with self.assertRaises(V.Refused): levels_of(case, changed)
            # an index of another row: neither the level's own code, nor that of y
            levels, _ = levels_of(case)
            self.assertEqual(len(levels[number].y_x), 272)
            limit = 2 ** (8 + levels[number - 1].row.tX // 8)
            self.assertTrue(all(-limit <= y < limit for y in levels[number].y_x))
    def test_code_of_y_x_has_no_other_bits(self):
        """A code of 272 values with three low bits each fills its bytes; so four values are read
        here, with five low bits in all."""
        indexes = [8, 16, 8, 8]
        code = gauss([3, -5, 1, 0], indexes)
        self.assertEqual(V.Reader(code).gauss(indexes), [3, -5, 1, 0])
        for bit in (5, 6, 7):
            with self.assertRaises(V.Refused):
                V.Reader(code[:-1] + bytes([code[-1] | 1 << bit])).gauss(indexes)
    def test_retry_and_counter(self):
        for name, levels in (("a", 2), ("b", 3), ("c", 4)):
            for number in range(levels):
                for field in ("retry", "counter"):
                    case = honest(name)
                    self.refused(case, put(case, number, field, 0, b"\x10"),
                                 f"bytes: {field} is above 15")
                    found = levels_of(case, put(case, number, field, 0, b"\x0f"))[0][number]
                    self.assertEqual(getattr(found, field), b"\x0f")
    def test_one_byte_too_many(self):
        """Behind every field. What is read then may be anything, but not all of it, or a proof."""
        for name in "abc":
            case, at = honest(name), 0
            for _, _, length in case.toy.fields:
                at += length
                proof = case.toy.proof[:at] + b"\0" + case.toy.proof[at:]
                self.assertIsNotNone(case.verdict(proof))
    def test_bytes_missing_or_left(self):
        for name in "abc":
            case = honest(name)
            proof = case.toy.proof
            self.refused(case, proof + b"\0", "bytes: some are left over")
            with self.assertRaises(V.Refused): levels_of(case, proof[:-1])
            for number, field, length in case.toy.fields:  # cut off within every field
                at, _ = offset(case, number, field)
                with self.assertRaises(V.Refused): levels_of(case, proof[: at + length - 1])
    def test_u_x_is_any_i32(self):
        case = honest("a")
        levels, _ = levels_of(case, put(case, 1, "UV_x", 0, struct.pack("<2i", -2**31, 2**31 - 1)))
        self.assertEqual((levels[1].U_x, levels[1].V_x), (-2**31, 2**31 - 1))

class Recorded(V.Transcript):
    def __init__(self):
        super().__init__()
        self.steps, self.seeds = [], []
    def absorb(self, label, data):
        super().absorb(label, data)
        self.steps.append((label, data))
    def seed(self, label):
        value = super().seed(label)
        self.steps.append(("->" + label, b""))
        self.seeds.append((label, value))
        return value
def replayed(levels):
    st = Recorded()
    for level in levels: V.replay(st, level)
    return st
class Order(unittest.TestCase):
    ZERO = ["retry", "uA", "->alpha", "uB", "->rho"]
    REST = ["counter", "->jl", "y", "->lift", "b", "->combine", "u2", "->amortise"]
    def test_labels(self):
        tail = ["retry", "t", *self.REST[:-2], "h", "->amortise"]
        for name, levels in (("a", 2), ("b", 3), ("c", 4)):
            st = replayed(levels_of(honest(name))[0])
            expected = self.ZERO + self.REST + (["retry", "u1"] + self.REST) * (levels - 2) + tail
            self.assertEqual([label for label, _ in st.steps], expected)
    def test_data(self):
        """What is absorbed, from the bytes of the proof."""
        for name in "abc":
            case = honest(name)
            fields, at = {}, 0
            for number, field, length in case.toy.fields:
                fields[number, field] = case.toy.proof[at : at + length]
                at += length
            levels, number = levels_of(case)[0], -1
            for label, data in replayed(levels).steps:
                if label == "retry": number += 1
                level = levels[number]
                if label in ("uA", "uB", "u1", "u2", "counter", "retry"):
                    self.assertEqual(data, fields[number, label])
                if label == "b":
                    self.assertEqual(data, fields[number, "b"] + fields.get((number, "b_32"), b""))
                if label == "y":
                    def numbers(x): return struct.pack("<%di" % len(x), *x)
                    expected = numbers(level.y) + fields[number, "UV"]
                    expected += fields.get((number, "w"), b"")
                    if number - 1 in HIDDEN[name]:
                        expected += numbers(level.y_x) + fields[number, "UV_x"]
                        self.assertEqual(len(data), 2192)
                    self.assertTrue(data == expected, (name, number))
    def test_every_later_seed_and_no_earlier_one(self):
        for name in "abc":
            case = honest(name)
            before = replayed(levels_of(case)[0]).seeds
            first = {"retry": None, "uA": "alpha", "uB": "rho", "u1": "jl", "counter": "jl",
                     "y": "lift", "UV": "lift", "w": "lift", "y_x": "lift", "U_x": "lift",
                     "V_x": "lift", "b": "combine", "b_32": "combine", "u2": "amortise"}
            changes = [(number, message) for number, message in messages(name)]
            changes += [(number, item) for number in HIDDEN[name]
                        for item in (["b_32"] if number == 0 else [])]
            changes += [(number + 1, item) for number in HIDDEN[name]
                        for item in ("y_x", "U_x", "V_x")]
            for number, item in changes:
                levels, _ = levels_of(case)
                level = levels[number]
                if item == "y_x": level.y_x[271] ^= 1
                elif item in ("U_x", "V_x"): setattr(level, item, getattr(level, item) ^ 1)
                else:  # in the bytes; b_32 stands at the end of those of b
                    at = 528 if item == "b_32" else 100
                    field = "b" if item == "b_32" else item
                    proof = put(case, number, item, at - 528 if item == "b_32" else at, bytes([
                        level.raw[field][at] ^ 1]))
                    levels, _ = levels_of(case, proof)
                after = replayed(levels).seeds
                starts = [i for i, (label, _) in enumerate(before)
                          if i == 0 or before[i - 1][0] == "amortise"]  # of the levels
                index = next(i for i in range(starts[number], len(before))
                             if before[i][0] == first[item])
                for i, (old, new) in enumerate(zip(before, after)):
                    self.assertEqual(old == new, i < index, (name, number, item, i))

def multiplied(a, b):
    """The slow way, mod q and X^64 + 1."""
    out = [0] * 64
    for i, x in enumerate(a):
        for j, y in enumerate(b) if x else ():
            if i + j < 64: out[i + j] += x * y
            else: out[i + j - 64] -= x * y
    return [x % Q for x in out]
def turned(power, a):  # X^power a
    for _ in range(power % 128): a = [-a[63], *a[:63]]
    return a
class Functionals(unittest.TestCase):
    def reference(self, level, seeds, jl, lift, zeroed=None):
        """F of one lift at the places of x, by P 8.5. `zeroed`: a scalar that is set to 0."""
        before, k = level.before, level.before.row.k
        count = 137 + 137 + 8 * k * (4 if before.number == 0 else 3) + before.lifts
        read = V.scalars(2 * count)
        word = V.expand(seeds["lift"], 4, level.number, [(lift, 0)], 400, read)[0]
        scalars = [list(word[2 * i : 2 * i + 2]) for i in range(count)]
        if zeroed is not None: scalars[zeroed] = [0, 0]
        out, position, at = [], before.row.f * before.row.n, 274
        # the place of part v number i: its row and column
        columns, part = level.row.n, before.row.f * -(-before.row.n // level.row.n)
        bits_b, bits_u = 44, 44 - before.row.cut
        for name in MESSAGES[min(before.number, 1)]:
            polynomials = before.lifts if name == "b" else before.row.kappa1
            d = -(-(bits_b if name == "b" else bits_u) // before.row.w)
            coefficients = []
            for row in range(k):
                sums = [0] * 64
                for j in range(8):
                    x, y = scalars[at + 8 * row + j]
                    term = turned(-4 * j, [x] + [0] * 31 + [y] + [0] * 31)
                    sums = [a + b for a, b in zip(sums, term)]
                coefficients.append(sums)
            at += 8 * k
            for col in range(d * polynomials):
                poly = part * columns + len(out)
                F = [0] * 64
                for j, row in enumerate(bits_of_poly(jl, level.number, poly)):
                    x = scalars[j][0] + scalars[137 + j][0]
                    y = scalars[j][1] + scalars[137 + j][1]
                    sigma = [row[0]] + [-row[64 - t] for t in range(1, 64)]
                    F = [f + x * a + y * b for f, a, b in zip(F, sigma, turned(32, sigma))]
                for row in range(k):
                    key = V.unpack(V.key_row(row, col + 1)[col])
                    F = [a + b for a, b in zip(F, multiplied(coefficients[row], key))]
                if name == "b":
                    digit, polynomial = divmod(col, polynomials)
                    x, y = scalars[count - before.lifts + polynomial]
                    F[0] += x << before.row.w * digit
                    F[32] += y << before.row.w * digit
                out.append([f % Q for f in F])
        return out
    def test_of_both_lifts_at_every_place_of_x(self):
        for name, number in (("a", 1), ("b", 2)):
            toy = honest(name).toy
            level = toy.levels[number]
            st, seeds = Recorded(), None
            st.absorb("falconry/proof/v3", ROW_HASH + struct.pack("<BHH", 9, 1, 1))
            st.absorb("header", honest(name).header)
            for each in toy.levels[: number + 1]: seeds = V.replay(st, each)
            start = level.first[level.before.row.f] * level.row.n
            # toy.last is of the last level, which this is
            for lift in range(2):
                mine = self.reference(level, seeds, seeds["jl"], lift)
                self.assertEqual(len(mine), level.before.v_t)
                theirs = [V.unpack(toy.last.F[lift][start + i]) for i in range(len(mine))]
                wrong = [i for i, (x, y) in enumerate(zip(mine, theirs)) if x != y]
                self.assertEqual(wrong, [], "places of x")  # not the lists: a diff takes minutes
            if name == "a":
                for zeroed in (0, 136, 137, 273, 274, 274 + 4 * 48 - 1, 274 + 4 * 48, 468):
                    other = self.reference(level, seeds, seeds["jl"], 1, zeroed)
                    self.assertTrue(mine != other, zeroed)

class Limits(unittest.TestCase):
    """What the whole verifier accepts and just so, and what no cheating proof can be made of."""
    def test_x_beyond_X(self):
        row = [512, 1, [list(x) for x in ROWS["a"][2]]]
        case, levels = honest("a"), levels_of(honest("a"))[0]
        norm = V.norm_of(levels[1].y_x, levels[1].U_x, levels[1].V_x)
        for X, rule in (((norm - 1) // 288, "proof: the projection of x at 1: too long"),
                        (-(-norm // 288), None)):
            row[2][0][15] = X
            self.assertEqual(case.verdict(row=row), rule)
    def test_digits_that_are_not_canonical(self):
        """Nothing asks for canonical digits: 2^w at digit 0 instead of one at digit 1."""
        def moved(count):
            def change(x, _):
                x = [list(p) for p in x]
                x[0][5] += 4
                x[count][5] -= 1
                return x
            return change
        case = Case("a", {(0, "x uA"): moved(1), (0, "x b"): moved(3)}, count=1)
        self.assertEqual((len(case.toy.met), case.verdict()), (2, None))
    def test_fractions_in_the_tail(self):
        """Even if no projection is asked, g of a row with fractions modulo q has no code."""
        hooks = {(0, "x uA"): fractions(ONE), (1, "projected"): canonical,
                 (1, "projected x"): canonical}
        with without((1, "P"), (1, "P_x")), self.assertRaises(NoCode): Case("a", hooks, count=1)
    def test_e_of_any_size(self):
        """With t' made up, e_a is as large as q. Its projection has no code."""
        with self.assertRaises(NoCode): Case("e", {(1, "t sent"): made_up}, count=1)
        with without((1, "P")), self.assertRaises(NoCode):
            Case("e", {(1, "t sent"): made_up}, count=1)
    def test_right_sides_of_d(self):
        """An open level and the tail do not send what D says. So a verifier that leaves a part of D
        out refuses what is honest, and a proof for it would have to break the combined constraint
        too: E6 in the level behind an open one, 9.4 itself in the tail. A hidden level says T(b):
        adversaries.py."""
        for name, number in (("a", 1), ("b", 1), ("b", 2), ("c", 2), ("e", 1)):
            for kind in ("P_x", "Q", "T_b"):
                with without((number, "right sides", kind)): said = honest(name).verdict()
                self.assertEqual(said, "proof: wrong seal", (name, number, kind))
    def test_right_sides_of_d_at_an_open_level(self):
        hooks = {(2, "retry"): lambda data, _: data}  # an honest prover that does not check itself
        for kind in ("P_x", "Q", "T_b"):
            part, e6 = (2, "right sides", kind), (3, "E6")
            for left_out, expected in (((part,), "proof: wrong seal"), ((part, e6), None)):
                with without(*left_out):
                    case = Case("c", hooks, count=1, start=2)
                    self.assertEqual(case.verdict(), expected, (kind, left_out))

if __name__ == "__main__": unittest.main()
