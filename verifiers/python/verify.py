#!/usr/bin/env python3
"""Verifier of Falconry's aggregates: bundles and proofs, Falcon-512 and Falcon-1024.
The executable form of docs/protocol.md ("P" below, with its section) and docs/bundle-format.md
("B"), written from these texts alone, in their order and with their names. Every rule is a `check`
of its own, and begins with the word that vectors/README.md has for its kind.
    verify.py result.json task.json    exit 0: it holds, 1: it is refused, 2: a file cannot be read
    verify.py --vectors DIR            exit 0: all verdicts are right, 1: one is wrong, 2: as above
"""
import base64, bisect, hashlib, itertools, json, math, pathlib, re, struct, sys
from collections import namedtuple

class Refused(Exception): """Its text is the rule that the aggregate breaks."""
def check(condition, rule):
    if not condition: raise Refused(rule)

# ---- P 1  Notation -------------------------------------------------------------------------------
P, Q = 12289, 2**44 - 117
# padded and longest are the lengths of a padded and of the longest compressed signature (B 3.3)
ParameterSet = namedtuple("ParameterSet", "logn n K W beta2 padded longest")
SETS = {9: ParameterSet(9, 512, 8, 17, 34034726, 666, 752),
        10: ParameterSet(10, 1024, 16, 33, 70265242, 1280, 1462)}
def shake256(data, length): return hashlib.shake_256(data).digest(length)
def centred(x, modulus): return (x + modulus // 2) % modulus - modulus // 2
def sigma(a): return [a[0]] + [-x for x in reversed(a[1:])]  # on the list of all coefficients
def words(data, width, count):
    """The first `count` words of a bit string. Eight words are `width` bytes."""
    eights = [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]
    return [x >> width * i & (1 << width) - 1 for x in eights for i in range(8)][:count]
def pack44(polynomials):
    """pack_44 of lists of 64 coefficients in [0, q); each list is 352 whole bytes."""
    numbers = [sum(c << 44 * i for i, c in enumerate(p)) for p in polynomials]
    return b"".join(x.to_bytes(352, "little") for x in numbers)

# Arithmetic in R_q. An element is ONE Python integer: the value at X = 2^LANE of a polynomial with
# integer coefficients. Sums and products of polynomials are then sums and products of integers, X^k
# is a shift by k lanes, and X^64 = -1 is 2^(64 LANE) = -1. All this is exact as long as no
# coefficient reaches 2^95 in absolute value when it is reduced.
#   *Reduced* means: every coefficient is at least 0, below 2^44 + 2^22, and right modulo q.
#   times() takes reduced elements and gives a reduced one, since 64 (2^44 + 2^22)^2 < 2^95 - 2^58.
#   Sums of reduced elements may grow (up to 2^50 terms) until they are reduced again.
LANE = 96
COEFFICIENTS = struct.Struct("<" + "Q4x" * 64)  # 64 lanes of 8 bytes and 4 zero bytes
def every_lane(value): return sum(value << LANE * i for i in range(64))
EVERY_BIT, LOW44, HIGH52, MULTIPLE_OF_Q = (
    every_lane(x) for x in (2**LANE - 1, 2**44 - 1, 2**52 - 1, Q << 51))
def pack(coefficients):  # the reduced element with these 64 integer coefficients
    return int.from_bytes(COEFFICIENTS.pack(*[c % Q for c in coefficients]), "little")
def unpack(x):  # its 64 coefficients in [0, q)
    return [c % Q for c in COEFFICIENTS.unpack(reduce(x).to_bytes(8 * LANE, "little"))]
def fold(x): return (x & EVERY_BIT) - (x >> 64 * LANE)
def reduce(x):
    """The second fold takes away the 2^(64 LANE) + 1 that a borrow in the first one leaves; the
    multiple of q makes all coefficients positive, below 2^96."""
    x = fold(fold(x) + MULTIPLE_OF_Q)
    for _ in range(2):  # 2^44 = 117 mod q, in all lanes at once
        x = (x & LOW44) + 117 * (x >> 44 & HIGH52)
    return x
def times(x, y): return reduce(x * y)
def invert(x):
    """P 9.4 in one ring: x(X) x(-X) is a polynomial in X^2; X -> X^33 takes X^2 to -X^2, and so
    on to degree 1. The product of all the factors on the way is the inverse up to a number."""
    others = 1
    for power in (65, 33, 17, 9, 5, 3):
        image = [0] * 128
        for j, c in enumerate(unpack(x)): image[j * power % 128] = c
        other = pack([a - b for a, b in zip(image[:64], image[64:])])
        x, others = times(x, other), times(others, other)
    number = unpack(x)[0]
    check(number != 0, "proof: an element that has to be inverted is no unit")
    return times(others, pow(number, -1, Q))

# ---- Falcon, round 3: what the text takes from there ---------------------------------------------
# Polynomials mod p and X^n + 1 are integers too, with lanes of 40 bits: n (p - 1)^2 < 2^38.
LANES40 = {n: struct.Struct("<" + "Ix" * n) for n in (512, 1024)}
LANES32_8 = {n: struct.Struct("<" + "IB" * n) for n in (512, 1024)}
def pack40(a): return int.from_bytes(LANES40[len(a)].pack(*[x % P for x in a]), "little")
def product_mod_p(x, y, n):
    """The coefficients, centred, of the product of two packed polynomials."""
    halves = []
    for half in (x * y & (1 << 40 * n) - 1, x * y >> 40 * n):
        lanes = LANES32_8[n].unpack(half.to_bytes(5 * n, "little"))
        halves.append([low + (high << 32) for low, high in zip(lanes[::2], lanes[1::2])])
    return [(a - b + 6144) % P - 6144 for a, b in zip(*halves)]
def hash_to_point(data, n):
    point, length = [], 3 * n  # as a rule 2.14 n bytes suffice
    while len(point) < n:
        stream, length = struct.iter_unpack(">H", shake256(data, length)), 2 * length
        point = [w % P for w, in stream if w < 5 * P][:n]
    return point
def decode_public_key(key):
    """The parameter set and the coefficients of h: 14 bits each, most significant bit first."""
    check(key[:1] in (b"\x09", b"\x0a"), "key: first byte")
    ps = SETS[key[0]]
    check(len(key) == 1 + ps.n * 14 // 8, "key: length")
    fours = [int.from_bytes(key[at : at + 7], "big") for at in range(1, len(key), 7)]
    h = [x >> shift & 0x3FFF for x in fours for shift in (42, 28, 14, 0)]
    check(max(h) < P, "key: a coefficient is not below p")
    return ps, h

# ---- P 2.1, B 1, B 2  Container ------------------------------------------------------------------
Statement = namedtuple("Statement", "ps h key message")
Item = namedtuple("Item", "ps h point kind")
(BUNDLE, PROOF), (EXPLICIT, CONSTANT, DERIVED) = (1, 2), (0, 1, 2)
SERIES = b"FLRY\x03\x01"  # B 7, the start of a series
def statement_commitment(statements):
    parts = [b"falconry statement v1", struct.pack(">I", len(statements))]
    for s in statements:
        parts += [bytes([s.ps.logn]), s.key, struct.pack(">I", len(s.message)), s.message]
    return shake256(b"".join(parts), 32)
# B 1.2
def derived_salt(s): return shake256(b"falconry salt v1" + s.key + s.message, 40)
def constant_salt(version, s): return bytes([version, s.ps.logn]) + b"FALCON_DET" + bytes(28)
def coding_of(salt, s):
    if salt == constant_salt(salt[0], s): return CONSTANT
    return DERIVED if salt == derived_salt(s) else EXPLICIT

class Reader:
    def __init__(self, data): self.data, self.at, self.part = data, 0, "header"
    def take(self, length):
        check(self.at + length <= len(self.data), self.part + ": bytes are missing")
        self.at += length
        return self.data[self.at - length : self.at]
    def runs(self, count, neighbours, entry):
        """B 1: the value of every item. `entry` makes it of a run's number, and may read on."""
        values = []
        while len(values) < count:
            run = int.from_bytes(self.take(2), "big")
            value, length = entry(run >> 13), (run & 0x1FFF) + 1
            check(not values or values[-1] != value, neighbours + ": neighbouring runs are one")
            check(len(values) + length <= count, "header: a run goes past the last item")
            values += [value] * length
        return values
    def polynomials(self, count, width, limit, what):
        """P 11, pack_width: lists of 64 coefficients, and the bytes that they stood in."""
        raw = self.take(count * 8 * width)
        out = [words(raw[at : at + 8 * width], width, 64) for at in range(0, len(raw), 8 * width)]
        check(all(max(p) <= limit for p in out), f"bytes: a value of {what} is too large")
        return out, raw
    def rans(self, models, ends):
        """B 3.2: one value of every model, which is ([c(lowest value), .., 2^24], lowest value)."""
        x = [int.from_bytes(self.take(6), "big") for _ in range(2)]
        check(min(x) >= 2**32, "bytes: a state is too small")
        values = []
        for i, (start, lowest) in enumerate(models):
            state = x[i % 2]
            slot = state % 2**24
            k = bisect.bisect_right(start, slot) - 1  # the value that owns the slot
            state = (start[k + 1] - start[k]) * (state >> 24) + slot - start[k]
            while state < 2**32: state = state << 16 | int.from_bytes(self.take(2), "big")
            x[i % 2] = state
            values.append(k + lowest)
        check(x == ends, "bytes: the states do not end as they must")
        return values
    def gauss(self, indexes):
        """P 11.2: one value for every index t."""
        high = self.rans([GAUSS[t % 8] for t in indexes], [2**32, 2**32])
        low = iter(self.take((sum(t // 8 for t in indexes) + 7) // 8))
        values, pool, have = [], 0, 0
        for h, s in zip(high, (t // 8 for t in indexes)):
            while have < s: pool, have = pool | next(low) << have, have + 8
            values.append((h << s) + (pool & (1 << s) - 1))
            pool, have = pool >> s, have - s
        check(pool == 0, "bytes: unused bits are not zero")
        return values
def model(lowest, deviation, digest):
    """A model for `rans`: B 3.1, with f(-k) = f(k), or P 11.2, with f(-1 - h) = f(h). The texts
    have the SHA-256 of f(0), f(1), ..; its first bytes are compared."""
    bundle = lowest == -2047
    shift, slots, half = (0, 4095, 2**24) if bundle else (0.5, 512, 2**23)
    w = [math.exp(-((v + shift) ** 2) / (2 * deviation**2)) for v in range(2048 if bundle else 256)]
    total = 2 * sum(w) - (w[0] if bundle else 0)
    f = [1 + round((2**24 - slots) * x / total) for x in w[1:]]
    f.insert(0, half - sum(f) * (2 if bundle else 1))
    raw = b"".join(x.to_bytes(2, "big") if bundle else x.to_bytes(4, "little") for x in f)
    assert hashlib.sha256(raw).hexdigest().startswith(digest), "a table of frequencies is wrong"
    return [0, *itertools.accumulate(f[: lowest - 1 : -1] + f)], lowest
BUNDLE_MODELS = {9: model(-2047, 165.736617183, "c9e31c592bfb1db6"),
                 10: model(-2047, 168.388571447, "d401b61762144ba0")}
GAUSS = [model(-256, 8 * 2 ** (j / 8), digest) for j, digest in enumerate((
    "3fd7d79eaeba3e72", "68b3bb9b244191bd", "0495dd2b332abaec", "d2f746289e09689c",
    "b91a4a3b2e769b10", "3fcd6ae9bd676169", "2ef34d30ad74ddc9", "62dc4c3f8b75de32"))]
def read_header(r, statements, table):
    """B 1, P 2.1: the format, the items, and the coding of each salt."""
    check(r.data[:4] == b"FLRY", "magic: this is no aggregate")
    form, version = r.take(6)[4:]
    check(form in (BUNDLE, PROOF), "format: unknown")
    check(version == (3 if form == PROOF else 2), "version: unknown")
    def hashes(kinds):
        counts = [(ps, sum(9 + kind // 3 == ps.logn for kind in kinds)) for ps in SETS.values()]
        fits = all(N <= BUCKETS[ps.n][-1] for ps, N in counts)
        check(fits, "table: no row for so many items of a set")
        return b"".join(row_of(table, ps, N)[2] for ps, N in counts if N)
    return form, *read_list(r, statements, hashes if form == PROOF else None)
def read_list(r, statements, hashes):
    """P 13 step 1. `hashes` of the rows for items of these kinds, of which a proof has the tag."""
    commitment, count = r.take(32), int.from_bytes(r.take(2), "big")
    check(1 <= count <= 8192, "header: wrong number of items")
    tag = r.take(4 if hashes else 0)
    kinds = r.runs(count, "header", lambda kind: kind)
    check(set(kinds) <= ({0, 3} if hashes else {0, 1, 2, 3, 4, 5}), "header: unknown kind")
    own = shake256(hashes(kinds[:count]), 4) if hashes else b""
    check(tag == own, "table: made with other rows of parameters")
    for _ in {kind // 3 for kind in kinds}: check(r.take(1) == b"\0", "profile: unknown")
    def salt_run(coding):
        check(coding in (EXPLICIT, CONSTANT, DERIVED), "saltCoding: unknown")
        return coding, r.take(1)[0] if coding == CONSTANT else None
    codings = r.runs(count, "saltCoding", salt_run)
    written = [r.take(40) if coding == EXPLICIT else None for coding, _ in codings]
    check(count == len(statements), "list: of another length")
    check(commitment == statement_commitment(statements), "list: other statements")
    items = []
    for s, kind, (coding, version), salt in zip(statements, kinds, codings, written):
        check(9 + kind // 3 == s.ps.logn, "list: a kind names another parameter set than the key")
        if coding != EXPLICIT:
            salt = derived_salt(s) if coding == DERIVED else constant_salt(version, s)
        own = coding_of(salt, s)
        check(own == coding or own == DERIVED, "saltCoding: a salt is a constant one")
        check(own == coding, "derivedSalt: a derived salt is written out")
        items.append(Item(s.ps, s.h, hash_to_point(salt + s.message, s.ps.n), kind))
    return items, [coding for coding, _ in codings]
def verify_bundle(r, header, ps, items):
    """B 3, the section of one set: decodes all s2 and verifies every signature."""
    ends = struct.unpack(">2I", shake256(b"falconry bundle v2" + header, 8))
    values = r.rans([BUNDLE_MODELS[ps.logn]] * (ps.n * len(items)), [2**32 + x for x in ends])
    for i, item in enumerate(items):
        s2 = values[ps.n * i : ps.n * (i + 1)]
        # compressed: header, salt; sign, 7 low bits, the rest in unary closed by a one
        length = 41 + (sum(9 + (abs(v) >> 7) for v in s2) + 7) // 8
        limit = (ps.longest, ps.padded - 1, length)[item.kind % 3]
        check(length <= limit, f"signature: {i} of Falcon-{ps.n} does not fit its form")
        product = product_mod_p(pack40(item.h), pack40(s2), ps.n)
        s1 = [centred(c - x, P) for c, x in zip(item.point, product)]
        short_enough = sum(v * v for v in s1 + s2) <= ps.beta2
        check(short_enough, f"signature: {i} of Falcon-{ps.n} is not short")

# ---- P 3  Parameters -----------------------------------------------------------------------------
COMMON = [1, 2, 4, 8, 16, 32, 48, 64, *range(72, 129, 8), *range(144, 257, 16),
          *range(288, 513, 32), *range(576, 1025, 64), *range(1152, 1665, 128), 1722, 2048]
BUCKETS = {512: [*COMMON, 2560, 3072, 3584, 4096, 4864, 5632], 1024: [*COMMON, 2432, 2944]}
Ordinary = namedtuple("Ordinary", "n f b fu bu fg bg kappa kappa1 cut inSq outSq tY w k X tX ct")
Tail = namedtuple("Tail", "n kappa cut inSq outSq tY tE runs tG")
Message = namedtuple("Message", "name first digits count")  # P 6.4: x_M, its first place in x
def read_levels(values):
    """The levels of a row of the table; the last one is the tail."""
    *ordinary, tail = values
    for number, numbers in enumerate(ordinary):
        right = len(numbers) == 18 and all(type(x) is int for x in numbers)
        check(right, "the table: an ordinary level has 18 integers")
        w, k, X, tX, ct = numbers[13:]
        hidden = 2 <= w <= 6 <= k and 1 <= X < 2**43 and 0 <= tX <= 143
        check(hidden or w == k == X == tX == 0, "the table: a range of w, k, X or tX")
        check(ct == 0 or number > 0 and 4 <= ct <= 15, "the table: the range of ct")
    return [*(Ordinary(*numbers) for numbers in ordinary), Tail(*tail)]
def load_table():
    path = pathlib.Path(__file__).resolve().parent.parent.parent / "vectors/table.json"
    table = json.loads(path.read_text("ascii"))
    for _, _, levels in table: read_levels(levels)
    return table
def hash_of(row):
    return shake256(json.dumps(row, separators=(",", ":")).encode("ascii"), 32)

class Level:
    """Its shape (P 3), its fields (P 11), and later its c, phi_z, phi_e, b, D and a (those a_ab
    that are not zero, by (a, b)). bounds: inSq, tY and, after a hidden level, X, tX. merged.py has
    levels of several blocks; `chi` and `scalars` have the factors of their equations."""
    chi, scalars, upsilons = 1, None, 0
    def __init__(self, number, row, tail, lengths, used, before):
        """`used`: (part, first, end) of all ranges that are no padding."""
        self.number, self.row, self.tail, self.lengths, self.used = number, row, tail, lengths, used
        self.before, self.lifts, self.blocks = before, 2 if number else 3, [self]
        self.hidden = not tail and row.w > 0
        self.behind_hidden = before is not None and before.hidden
        self.bounds = row.inSq, row.tY, *(before.row[15:17] if self.behind_hidden else ())
        self.extended = row.kappa if tail or row.ct else 0  # polynomials of one e_a
        self.nu = [-(-length // row.n) for length in lengths]
        self.first = [0, *itertools.accumulate(self.nu)]  # the first row of every part
        self.r = sum(self.nu)
        self.pairs = [(a, b) for a in range(self.r) for b in range(a, self.r)]
        if not tail:  # v is x, v_t from place v_t = |x| on, v_g from v_g on, .. e_A.. from e on
            outer, self.v_t, self.messages = ["uA", "uB"] if number == 0 else ["u1"], 0, []
            for name in [*outer, "b", "u2"] if self.hidden else []:
                count, bits = (self.lifts, 44) if name == "b" else (row.kappa1, 44 - row.cut)
                self.messages.append(Message(name, self.v_t, -(-bits // row.w), count))
                self.v_t += self.messages[-1].digits * count
            self.ft = -(-(44 - row.ct) // row.bu) if row.ct else row.fu
            self.v_g = self.v_t + self.ft * self.r * row.kappa
            self.v_h = self.v_g + row.fg * len(self.pairs)
            self.v_e = self.v_h + row.fu * len(self.pairs)
            self.e = self.v_e + row.f * self.extended
            self.m = self.e + (row.kappa1 * (len(outer) + 1) if row.cut else 0)
    def place(self, part, i):  # its number, row * n + column; a part begins with a new row
        return self.first[part] * self.row.n + i
    def used_places(self):
        return [self.place(part, i) for part, start, end in self.used for i in range(start, end)]
    def places(self):  # of the block: z_0, .., v and, behind all rows, the e_a
        behind = self.r * self.row.n
        return self.used_places() + [*range(behind, behind + self.r * self.extended)]
    polys = places  # their numbers POLY
    def read_y(self, r):
        def read(index): return r.gauss([index] * 272), *struct.unpack("<2i", r.take(8))
        self.y, self.U, self.V = read(self.bounds[1])
        if self.behind_hidden: self.y_x, self.U_x, self.V_x = read(self.bounds[3])
    def read_u(self, r, name):  # or p in its place
        if self.hidden: return self.read_p(r, name)
        width, limit = 44 - self.row.cut, (Q - 1) >> self.row.cut
        self.u[name], self.raw[name] = r.polynomials(self.row.kappa1, width, limit, name)
    def read_p(self, r, name):
        self.raw[name] = r.take(88 * self.row.k)
        self.p[name] = words(self.raw[name], 44, 16 * self.row.k)
        check(max(self.p[name]) < Q, f"bytes: a value of p of {name} is not below q")
    def read_b(self, r, count):  # b or b_32
        raw = r.take((44 * count + 7) // 8)
        values = words(raw, 44, count)
        check(max(values) < Q, "bytes: a value of b is not below q")
        unused = int.from_bytes(raw, "little") >> 44 * count
        check(unused == 0, "bytes: unused bits are not zero")
        return values, raw
    def read(self, r):
        """P 11: the fields of the level. For every name, raw: the bytes that are absorbed, and u:
        the polynomials or p: the numbers in them."""
        row, first = self.row, self.number == 0
        self.u, self.p, self.raw = {}, {}, {}
        self.retry = r.take(1)
        check(self.retry[0] <= 15, "bytes: retry is above 15")
        if self.tail:
            width, limit = 44 - row.cut, (Q - 1) >> row.cut
            self.t, self.t_raw = r.polynomials((self.r - 1) * row.kappa, width, limit, "t")
            g = r.gauss([t for t in row.tG for _ in range(64)])
            check(all(abs(x) <= (Q - 1) // 2 for x in g), "bytes: a value of g is too large")
            self.g = [g[at : at + 64] for at in range(0, len(g), 64)]
            self.t_seal = r.take(32)
        else:
            for name in ("uA", "uB") if first else ("u1",): self.read_u(r, name)
        self.counter = r.take(1)
        check(self.counter[0] <= 15, "bytes: counter is above 15")
        for block in self.blocks: block.read_y(r)
        self.w = struct.unpack("<10i", r.take(40)) if first else ()
        if self.hidden:
            self.read_p(r, "b")
            if first:
                self.b_32, raw = self.read_b(r, 3)
                self.raw["b"] += raw
        else:
            self.b_sent, self.raw["b"] = self.read_b(r, 3 * 63 if first else 2 * 62)
        if self.tail:
            self.h, self.h_raw = r.polynomials(len(self.pairs) - 2, 44, Q - 1, "h")
            self.h_seal = r.take(32)
            indexes = [t for columns, t in row.runs for _ in range(64 * columns)]
            ze = r.gauss(indexes + [row.tE] * (64 * row.kappa))
            self.ze = [ze[at : at + 64] for at in range(0, len(ze), 64)]
        else:
            self.read_u(r, "u2")

def restored(polynomials, cut):  # P 6.2, 9.1: û or t̂
    return [pack([(x << cut) + (1 << cut >> 1) for x in p]) for p in polynomials]
def row_of(table, ps, N):  # N', the rows of its levels, and the hash of the row
    bucket = min(size for size in BUCKETS[ps.n] if size >= N)
    row, = [row for row in table if row[0] == ps.n and row[1] == bucket]
    return bucket, row[2], hash_of(row)
def levels_of(ps, bucket, rows, N):
    row, *others = read_levels(rows)
    lengths = [ps.W * bucket, 2 * bucket, ps.W * bucket]
    used = [(0, 0, ps.W * N), (1, 0, N), (1, bucket, bucket + N), (2, 0, ps.W * N)]
    return levels_from(Level(0, row, False, lengths, used, None), others)
def levels_from(level, rows):  # this one, and those behind it, of which the last is the tail
    levels = [level]
    for number, row in enumerate(rows, level.number + 1):
        before = levels[-1]
        lengths = [before.row.n] * before.row.f + [before.m]
        used = [(part, 0, length) for part, length in enumerate(lengths)]
        levels.append(Level(number, row, row is rows[-1], lengths, used, before))
    return levels

# ---- P 4  Hashing --------------------------------------------------------------------------------
class Transcript:
    def __init__(self): self.st = bytes(64)
    def query(self, kind, label, data, length):
        sized = b"" if data is None else struct.pack("<Q", len(data)) + data
        name = bytes([len(label)]) + label.encode("ascii")
        return shake256(bytes([kind]) + self.st + name + sized, length)
    def absorb(self, label, data): self.st = self.query(1, label, data, 64)
    def seed(self, label): return self.query(2, label, None, 32)
    def seal(self, label, data): return self.query(3, label, data, 32)
def replay(st, level):
    """Absorbs a level and returns its seeds. The two seals of the tail need a state each."""
    seeds = {}
    def step(label, data, *names):
        st.absorb(label, data)
        seeds.update((name, st.seed(name)) for name in names)
    step("retry", level.retry)
    if level.tail:
        level.t_state = st.st
        step("t", level.t_raw + pack44([[x % Q for x in p] for p in level.g]) + level.t_seal)
    elif level.number == 0:
        step("uA", level.raw["uA"], "alpha")
        step("uB", level.raw["uB"], "rho")
    else:
        step("u1", level.raw["u1"])
    step("counter", level.counter, "jl")
    numbers = [number for x in level.blocks for number in [*x.y, x.U, x.V, *(
        [*x.y_x, x.U_x, x.V_x] if x.behind_hidden else level.w)]]
    step("y", struct.pack("<%di" % len(numbers), *numbers), "lift")
    step("b", level.raw["b"], "combine")
    level.h_state = st.st
    last = ("h", level.h_raw + level.h_seal) if level.tail else ("u2", level.raw["u2"])
    step(*last, "amortise")
    return seeds

# ---- P 5  Expanded challenges --------------------------------------------------------------------
QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
def chacha8(key, nonces):
    """P 5.1: the blocks of these (word 12, word 13, word 14), one behind the other. Word w of all
    blocks is one integer with a lane of 64 bits for each block: the upper halves of the lanes take
    the carries of sums and what rotations push out, and are masked away."""
    out = b""
    for at in range(0, len(nonces), 2048):  # 2048 lanes fit a processor's cache
        some = nonces[at : at + 2048]
        ones = int.from_bytes(b"\1\0\0\0\0\0\0\0" * len(some), "little")
        mask = ones * 0xFFFFFFFF
        first = [word * ones for word in struct.unpack("<12I", b"expand 32-byte k" + key)]
        for values in (*zip(*some), [0] * len(some)):
            first.append(int.from_bytes(struct.pack("<%dQ" % len(some), *values), "little"))
        x = list(first)
        for a, b, c, d in QUARTERS * 4:
            for i, j, k, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[i] = (x[i] + x[j]) & mask
                y = x[k] ^ x[i]
                x[k] = (y << turn | y >> 32 - turn) & mask
        blocks = bytearray(64 * len(some))
        for w in range(16):
            lanes = ((x[w] + first[w]) & mask).to_bytes(8 * len(some), "little")
            for byte in range(4): blocks[4 * w + byte :: 64] = lanes[byte::8]
        out += blocks
    return out
def expand(key, kind, level, places, blocks, read):
    """A challenge from every stream (sub, index): `read` makes it of the first so many blocks, or
    answers None where these do not suffice."""
    def stream(place, count):
        return [(i, kind + 256 * level + 65536 * place[0], place[1]) for i in range(count)]
    data = chacha8(key, [nonce for place in places for nonce in stream(place, blocks)])
    values = []
    for i, place in enumerate(places):
        part = data[64 * blocks * i : 64 * blocks * (i + 1)]
        while (value := read(part)) is None:
            part = chacha8(key, stream(place, len(part) // 32))  # twice as many blocks
        values.append(value)
    return values
def words_below(limit, width, count):
    """Scalars, and the words of ρ (P 5.2)."""
    def read(stream):
        found = [x for x in words(stream, width, len(stream) * 8 // width) if x < limit]
        return found[:count] if len(found) >= count else None
    return read
def scalars(count): return words_below(Q, 44, count)
def short(stream): return [x - 4 for x in words(stream[:24], 3, 64)]
def with_signs(z0, magnitudes, accepted):
    """P 5.4; `magnitudes` of the positions from z0 on."""
    def read(stream):
        at = 0
        while at + 8 <= len(stream):
            signs, at, x = int.from_bytes(stream[at : at + 8], "little"), at + 8, [0] * 64
            for e, pos in enumerate(range(z0, 64)):
                while at < len(stream) and stream[at] & 63 > pos: at += 1
                if at == len(stream): return None
                k, at = stream[at] & 63, at + 1
                x[pos] = x[k]
                x[k] = -magnitudes[e] if signs >> e & 1 else magnitudes[e]
            if accepted(x): return x
    return read
COSINES = [round(2**30 * math.cos(math.pi * j / 64)) for j in range(128)]
def operator_norm_is_small(c):
    def part(k, d): return sum(x * COSINES[(k * t + d) % 128] for t, x in enumerate(c)) >> 10
    return all(part(k, 0) ** 2 + part(k, 96) ** 2 <= 376 << 40 for k in range(1, 64, 2))
ALPHA = with_signs(21, [1] * 30 + [2] * 13, lambda x: True)
AMORTISE = with_signs(22, [1] * 28 + [2] * 12 + [3] * 2, operator_norm_is_small)
def projections(level, jl, places, omega):
    """P 5.3: Σ_j ω_j σ(π_j[POLY]), j = 0..136, with the ω of each lift, for every POLY of `places`.
    Byte x of a group has a nibble for coefficient e and one for e + 16, where e = x or x + 16. But
    for a factor X^-e, a bit of the lower nibble adds ω_{j,0} + ω_{j,1} X^32, and one of the upper
    X^-16 times that, ω_{j,1} X^16 - ω_{j,0} X^48. table[g][byte] is what a byte of group g adds:
    the coefficients of 1, X^16, X^32, X^48 for all lifts, 64 bits each, in one integer."""
    lanes, table = struct.Struct("<%dQ" % (4 * len(omega))), [[0] for g in range(34)]
    for g, sums in enumerate(table):
        for upper, j in itertools.product((False, True), range(4 * g, 4 * g + 4)):
            pairs = [w[2 * j : 2 * j + 2] for w in omega]
            fours = [(0, y, 0, Q - x) if upper else (x, 0, y, 0) for x, y in pairs]
            new = int.from_bytes(lanes.pack(*itertools.chain(*fours)), "little")
            sums += [new + old for old in sums]
    row = pack(sigma([1] * 32 + [0] * 32))
    row136 = [unpack(times(row, w[272] + (w[273] << 32 * LANE))) + [0] * 64 for w in omega]
    for at in range(0, len(places), 120):
        data = chacha8(jl, [(17 * poly + i, 2 + 256 * level.number, 0)
                            for poly in places[at : at + 120] for i in range(17)])
        for start in range(0, len(data), 1088):
            block = data[start : start + 1088]
            sums = [list(x) for x in row136]  # for every lift, by exponents mod 128
            for x in range(32):
                total = sum([sums_g[byte] for sums_g, byte in zip(table, block[x::32])])
                e = x if x < 16 else x + 16
                for i, value in enumerate(lanes.unpack(total.to_bytes(lanes.size, "little"))):
                    sums[i // 4][(16 * (i % 4) - e) % 128] += value
            yield [pack([a - b for a, b in zip(x[:64], x[64:])]) for x in sums]
def combined(level, elements):  # Σ_k β_k times one element for each lift
    return reduce(sum(times(x, y) for x, y in zip(level.beta, elements)))

# ---- P 6  Commitments ----------------------------------------------------------------------------
KEY, KEY_ROWS = shake256(b"falconry commitment keys v2", 32), {}
def key_row(row, columns):
    """P 6.1: this row of M, at least so many columns of it. Two columns are eleven blocks."""
    have = KEY_ROWS.setdefault(row, [])
    blocks = range(len(have) // 2 * 11, (columns + 1) // 2 * 11)
    data = chacha8(KEY, [(i, 10, row) for i in blocks])
    have += [pack(words(data[at : at + 352], 44, 64)) for at in range(0, len(data), 352)]
    return have
def key_combination(coefficients, columns):
    """Σ_row coefficient M[row][column], for every column."""
    rows = [key_row(i, columns)[:columns] for i in range(len(coefficients))]
    return [reduce(sum(times(x, y) for x, y in zip(coefficients, keys))) for keys in zip(*rows)]

# ---- P 7.6, 8.4, 10.3, 11.1  What all levels have in common --------------------------------------
def short_elements(seeds, level, sub, indexes):  # P 10.2
    places = [(sub, i) for i in indexes]
    return [pack(x) for x in expand(seeds["combine"], 8, level.number, places, 1, short)]
def norm_of(y, U, V): return sum((2 * value - (U + V) % 2) ** 2 for value in y)
def lift_challenges(level, seeds):
    """P 11.1; β, θ, and ω: for every lift all scalars of stream 4, in the order of `s_values`."""
    for block in level.blocks:
        norm, (inSq, _, *of_x) = norm_of(block.y, block.U, block.V), block.bounds
        check(norm <= 288 * inSq, f"proof: projection {level.number} is too long")
        if of_x:
            norm = norm_of(block.y_x, block.U_x, block.V_x)
            check(norm <= 288 * of_x[0], f"proof: the projection of x at {level.number}: too long")
    count = 2 * (len(s_values(level.blocks[0])) + level.upsilons)
    number, places = level.number, [(k, 0) for k in range(level.lifts)]
    level.beta = short_elements(seeds, level, 1, range(level.lifts))
    level.omega = expand(seeds["lift"], 4, number, places, -(-44 * count // 512), scalars(count))
    level.theta = expand(seeds["lift"], 5, number, places, 1, scalars(10))  # for level 0
def with_centre(y, U, V):
    """P 5.3: (y_j, y*_j), j = 0..136."""
    upper = [value + (U + V) // 2 for value in y[0::2]]
    return [*zip(upper, (value + (V - U) // 2 for value in y[1::2])), (U, V)]
def s_values(level):
    """P 8.5: the right sides of all equations in S_q, (a, b) for a + b i, in their order."""
    values = with_centre(level.y, level.U, level.V)
    if level.behind_hidden:
        before = level.before
        values += with_centre(level.y_x, level.U_x, level.V_x)  # (P_x)
        for message in before.messages:  # (Q)
            p = before.p[message.name]
            values += [(p[i + j], p[i + j + 8]) for i in range(0, len(p), 16) for j in range(8)]
        values += before.D  # (T_b)
    return values
def lift_right_side(level, functionals):
    """D, and Σ_k β_k b^(k+1) at an open level. `functionals`: p w_j + C_j of level 0."""
    values, total, level.D = [x for block in level.blocks for x in s_values(block)], 0, []
    for k, (beta, w) in enumerate(zip(level.beta, level.scalars or level.omega)):
        b0 = sum(x * a - y * b for x, y, (a, b) in zip(w[0::2], w[1::2], values))
        b32 = sum(x * b + y * a for x, y, (a, b) in zip(w[0::2], w[1::2], values))
        if level.number == 0:
            b0 += sum(theta * x for theta, x in zip(level.theta[k], functionals))
            if level.hidden: b32 = level.b_32[k]
        level.D.append((b0 % Q, b32 % Q))
        if level.hidden: continue
        if level.number == 0:
            b = [b0] + level.b_sent[63 * k : 63 * k + 63]
        else:
            sent = level.b_sent[62 * k : 62 * k + 62]
            b = [b0] + sent[:31] + [b32] + sent[31:]
        total += times(beta, pack(b))
    return total
def gain(level, place, value):
    """φ gains a reduced value at a place; of φ, only Σ_a c_a φ_a is ever needed. The places of all
    e_a are behind all rows."""
    (row, column), sums = divmod(place, level.row.n), level.phi_z
    if row >= level.r:
        (row, column), sums = divmod(place - level.r * level.row.n, level.extended), level.phi_e
    sums[column] = reduce(sums[column] + level.c[row] * value)

# ---- P 7, 10.1  Level 0 --------------------------------------------------------------------------
def combine_level_0(level, seeds, ps, items):
    """φ_z, a_ab and b of level 0: N1 and the lifts."""
    n, K, W, lift = ps.n, ps.K, ps.W, seeds["lift"]
    tau = expand(lift, 11, 0, [(0, t) for t in range(W)], 1, short)
    projected = projections(level, seeds["jl"], range(W * len(items)), level.omega)
    C, sum_alpha = [0] * 10, 0
    for i, item in enumerate(items):
        # P 7.3: C_j and the coefficients of ρ_i^(j) and ρ'_i^(j)
        rho = expand(seeds["rho"], 3, 0, [(j, i) for j in range(10)], n // 27,
                     words_below(5 * P, 16, n))
        sigma_h = pack40(sigma(item.h))
        rho_prime = [product_mod_p(pack40(x), sigma_h, n) for x in rho]
        rho, point = [[centred(x, P) for x in a] for a in rho], [centred(x, P) for x in item.point]
        C = [sum_j + sum(x * y for x, y in zip(a, point)) for sum_j, a in zip(C, rho)]
        # P 7.6, and N1 at W
        alpha = expand(seeds["alpha"], 1, 0, [(0, i)], 4, ALPHA)[0]
        psi = expand(lift, 6, 0, [(k, i) for k in range(3)], 1, scalars(1))
        eta = expand(lift, 7, 0, [(k, i) for k in range(3)], 6, scalars(64))
        sum_alpha += pack(alpha)
        at_w = reduce(combined(level, (x for x, in psi)) - pack(alpha))
        at_y = combined(level, map(pack, eta))
        at_s = times(combined(level, (pack(sigma(x)) for x in eta)), pack(sigma(alpha)))
        gain(level, level.place(1, i), at_w)
        gain(level, level.place(1, level.lengths[1] // 2 + i), times(at_w, 2**13))
        for t in range(W):
            value = combined(level, next(projected)) - times(at_s, pack(sigma(tau[t])))
            if t < 2 * K:
                parts = [pack(sigma(a[t % K :: K])) for a in (rho if t < K else rho_prime)]
                for beta, theta in zip(level.beta, level.theta):
                    value += times(beta, reduce(sum(x * y for x, y in zip(theta, parts))))
            gain(level, level.place(0, W * i + t), reduce(value))
            gain(level, level.place(2, W * i + t), times(at_y, pack(tau[t])))
    functionals = [P * w + c for w, c in zip(level.w, C)]
    check(max(map(abs, functionals)) <= (Q - 1) // 2, "proof: a functional is too large")
    level.a = {(a, level.first[2] + a): 1 for a in range(level.nu[0])}  # first[2] = ν_S + ν_W
    level.b = reduce(lift_right_side(level, functionals) + times(reduce(sum_alpha), ps.beta2))

# ---- P 8, 9.3, 10.1  The levels after it ---------------------------------------------------------
def at_digits(v, first, step, digits, bits, value):
    """φ, a list of places, gains `value` at what Σ_j 2^(bits j) digit j stands for. Digit j has the
    place first + step j."""
    for j in range(digits): v[first + step * j] += times(value, pow(2, bits * j, Q))
def at_message(v, before, message, i, value):  # at polynomial i of a message
    at_digits(v, message.first + i, message.count, message.digits, before.row.w, value)
def outer_equations(level, before, seeds, v):
    """E1 and E2: φ at the places v of part v gains its share; b."""
    row, kappa1, b = before.row, before.row.kappa1, 0
    # u by u: name, and the places of v that it commits to
    of_y = before.v_t + before.ft * row.kappa * before.first[2]  # v_t(Y) of level 0
    outer = [("u1", before.v_t, before.v_h), ("u2", before.v_h, before.v_e)]
    if before.number == 0: outer[:1] = [("uA", before.v_t, of_y), ("uB", of_y, before.v_h)]
    both = short_elements(seeds, level, 2, range(kappa1 * (len(outer) - 1)))
    both += short_elements(seeds, level, 3, range(kappa1))
    messages = {message.name: message for message in before.messages}
    for number, (name, start, end) in enumerate(outer):
        coefficients = both[kappa1 * number : kappa1 * (number + 1)]
        for i, value in enumerate(key_combination(coefficients, end - start)): v[start + i] += value
        # the û of zeros is what is left on the right of a hidden one
        sent = [[0] * 64] * kappa1 if before.hidden else before.u[name]
        for i, (x, u) in enumerate(zip(coefficients, restored(sent, row.cut))):
            b += times(x, u)
            if row.cut: v[before.e + number * kappa1 + i] += x
            if before.hidden: at_message(v, before, messages[name], i, reduce(-(x << row.cut)))
    return b
def inner_equations(level, before, seeds, v):
    """E3 to E6: φ at the places v of part v gains its share, and a is made; φ at z, and b."""
    row, c, kappa, pairs = before.row, before.c, before.row.kappa, len(before.pairs)
    (e4,), (e6,) = (short_elements(seeds, level, sub, [0]) for sub in (5, 6))
    e3, b = short_elements(seeds, level, 4, range(kappa)), times(e6, before.b)
    for a, i in itertools.product(range(before.r), range(kappa)):
        first = before.v_t + a * before.ft * kappa + i
        at_digits(v, first, kappa, before.ft, row.bu, reduce(times(c[a], e3[i]) << row.ct))
    if row.ct:  # E3 and E5 at v_e; the t̂ of zeros is the constant of E3
        for i, (x, y) in enumerate(zip(e3, before.phi_e)):
            at_digits(v, before.v_e + i, kappa, row.f, row.b, reduce(-x - y))
        constant, = restored([[0] * 64], row.ct)
        b -= times(times(reduce(sum(e3)), reduce(sum(c))), constant)
    for index, (a, a2) in enumerate(before.pairs):
        at_h = times(c[a], c[a2])
        at_g = times(e4, at_h) * (1 if a == a2 else 2) + times(e6, before.a.get((a, a2), 0))
        at_h += e6 if a == a2 else 0
        at_digits(v, before.v_g + index, pairs, row.fg, row.bg, reduce(at_g))
        at_digits(v, before.v_h + index, pairs, row.fu, row.bu, reduce(at_h))
    if before.hidden:  # E6 at x_b
        message, = [message for message in before.messages if message.name == "b"]
        for i, x in enumerate(before.beta):
            at_message(v, before, message, i, reduce(-times(e6, x)))
    level.a, at_zz = {}, times(e4, level.chi)  # E4 at z
    for i in range(row.f):
        for k in range(i, row.f):
            value = times(at_zz, (-1 if i == k else -2) * pow(2, row.b * (i + k), Q) % Q)
            for a in range(level.nu[0]):
                level.a[level.first[i] + a, level.first[k] + a] = value
    return [reduce(-x - y) for x, y in zip(key_combination(e3, row.n), before.phi_z)], b
def message_equations(level, before, v):
    """(Q) and (T_b): φ at the places v of part v gains its share."""
    at = 2 * 2 * 137
    for message in before.messages:
        coefficients = []
        for _ in range(before.row.k):
            both = [[0] * 64 for _ in level.omega]
            for terms, w in zip(both, level.omega):
                for j in range(8):  # (ω_0 + ω_1 X^32) X^-4j; X^-4j = -X^(64-4j)
                    terms[-4 * j % 64] = -w[at + 2 * j] if j else w[at]
                    terms[32 - 4 * j] = w[at + 2 * j + 1]
            coefficients.append(combined(level, map(pack, both)))
            at += 16
        keys = key_combination(coefficients, message.digits * message.count)
        for i, value in enumerate(keys): v[message.first + i] += value
    message, = [message for message in before.messages if message.name == "b"]
    for i in range(before.lifts):
        values = [w[at + 2 * i] + (w[at + 2 * i + 1] << 32 * LANE) for w in level.omega]
        at_message(v, before, message, i, combined(level, values))
def equations(level, before, seeds):
    """E1 to E6, (Q), (T_b): φ at z_0, .., v of the level before, a list; b. Makes a."""
    row, v = before.row, [0] * before.m
    b = outer_equations(level, before, seeds, v)
    at_z, more = inner_equations(level, before, seeds, v)
    at_z, v = ([times(reduce(x), level.chi) for x in part] for part in (at_z, v))
    if before.hidden: message_equations(level, before, v)
    phi = [times(x, pow(2, row.b * i, Q)) for i in range(row.f) for x in at_z] + v
    return phi, times(reduce(b + more), level.chi)
def combine_level(level, seeds):
    """φ_z, φ_e, a_ab and b: the equations, and the lifts, with the same bits for all blocks."""
    before, polys, forms, a, b = level.before, level.polys(), [], {}, 0
    first = before.row.f * before.row.n  # where v begins, and x with it
    both = [[(x + y) % Q for x, y in zip(w[:274], w[274:548])] for w in level.omega]  # ω + ω^x
    for start, end, omega in ((0, first, level.omega), (first, first + before.v_t, both),
                              (first + before.v_t, len(polys), level.omega)):
        if start < end: forms += projections(level, seeds["jl"], polys[start:end], omega)
    for block in level.blocks:
        phi, right = equations(block, block.before, seeds)
        a, b, phi = {**a, **block.a}, b + right, phi + [0] * (len(forms) - len(phi))
        for place, value, lifts in zip(block.places(), phi, forms):
            gain(level, place, reduce(value + combined(block, lifts)))
    level.a, level.b = a, reduce(b + lift_right_side(level, []))

# ---- P 9.4  What the verifier recovers -----------------------------------------------------------
def finish_tail(st, level):
    row, c, last = level.row, level.c, level.r - 1
    check(sum(x * x for p in level.ze for x in p) <= row.outSq, "proof: z, e are too long")
    ze, g, h = ([pack(p) for p in polynomials] for polynomials in (level.ze, level.g, level.h))
    z, e, t_hat = ze[: row.n], ze[row.n :], restored(level.t, row.cut)
    c_last2, c_first2 = times(c[last], c[last]), times(c[0], c[0])
    difference = reduce(c_last2 - c_first2)
    check(any(unpack(difference)), "proof: the first and the last challenge have one square")
    rest = [e[i] + sum(times(x, y) for x, y in zip(key_row(i, row.n), z)) for i in range(row.kappa)]
    for i, x in enumerate(t_hat): rest[i % row.kappa] -= times(c[i // row.kappa], x)
    t_last = [times(invert(c[last]), reduce(x)) for x in rest]
    rest_g, s = sum(times(x, x) for x in z), level.b
    rest_h = sum(times(x, y) for x, y in zip(level.phi_z + level.phi_e, ze))
    for index, (a, b) in enumerate(level.pairs[:-1]):
        product = times(c[a], c[b])
        rest_g -= times(product, g[index]) * (1 if a == b else 2)
        s -= times(level.a.get((a, b), 0), g[index])
        if index > 0:
            rest_h -= times(product, h[index - 1])
            s -= h[index - 1] if a == b else 0
    g_last = times(invert(c_last2), reduce(rest_g))
    h_last = times(invert(difference), reduce(rest_h - times(c_first2, reduce(s))))
    for state, label, elements, seal in ((level.t_state, "t", t_last + [g_last], level.t_seal),
                                         (level.h_state, "h", [h_last], level.h_seal)):
        st.st = state
        check(st.seal(label, pack44([unpack(x) for x in elements])) == seal, "proof: wrong seal")

# ---- P 13  The verifier --------------------------------------------------------------------------
START = "falconry/proof/v3"  # P 4
def verify_section(r, header, row, ps, items):
    levels = levels_of(ps, row[0], row[1], len(items))
    for level in levels: level.read(r)
    st = Transcript()
    st.absorb(START, row[2] + struct.pack("<BHH", ps.logn, row[0], len(items)))
    st.absorb("header", header)
    verify_level(st, levels[0], combine_level_0, ps, items)
    for level in levels[1:]: verify_level(st, level, combine_level)
    finish_tail(st, levels[-1])
def verify_level(st, level, combine, *more):
    seeds, places = replay(st, level), [(0, a) for a in range(level.r)]
    level.c = [pack(x) for x in expand(seeds["amortise"], 9, level.number, places, 4, AMORTISE)]
    level.phi_z, level.phi_e = [0] * level.row.n, [0] * level.extended
    lift_challenges(level, seeds)
    padding = sorted(set(range(level.r * level.row.n)) - set(level.used_places()))  # P 10.3
    for place, value in zip(padding, short_elements(seeds, level, 7, padding)):
        gain(level, place, value)
    combine(level, seeds, *more)
def verify(aggregate, pairs, table):
    """What is proved of the caller's own list of (public key, message)."""
    statements = [Statement(*decode_public_key(key), key, message) for key, message in pairs]
    r = Reader(aggregate)
    form, items, codings = read_header(r, statements, table)
    r.part = "bytes"
    header, text = aggregate[: r.at], "valid proof" if form == PROOF else "valid bundle"
    for ps in SETS.values():
        mine = [item for item in items if item.ps is ps]
        if mine:
            text += f"; {len(mine)} of Falcon-{ps.n}, each with |s1|^2 + |s2|^2 <= {ps.beta2}"
            if form == PROOF:
                verify_section(r, header, row_of(table, ps, len(mine)), ps, mine)
            else:
                verify_bundle(r, header, ps, mine)
    check(r.at == len(aggregate), "bytes: some are left over")
    return text + "; salts: %d explicit, %d constant, %d derived; %d bytes; statements %s" % (
        *(codings.count(i) for i in range(3)), len(aggregate), header[6:38].hex())
def head(element): return int.from_bytes(element[38:40], "big"), element[6:38]
def verify_series(aggregate, pairs, table):
    """B 7: every element is an aggregate of the next statements."""
    r, done, texts, identity = Reader(aggregate), 0, [], b"falconry series v1"
    r.take(len(SERIES))
    while length := int.from_bytes(r.take(4), "big"):
        check(len(texts) < 4096, "header: a series of too many elements")
        element = r.take(length)
        verify_element, head_of = ELEMENTS.get(element[:5], (verify, head))
        count, commitment = head_of(element)
        texts.append(verify_element(element, pairs[done : done + count], table))
        identity += struct.pack(">I", count) + commitment
        done += count
    check(texts, "header: a series of no elements")
    check(r.at == len(aggregate), "header: bytes behind a series")
    check(done == len(pairs), "list: longer than the series")
    start = f"valid series; {len(texts)} elements, {done} statements; identity "
    return "\n".join([start + shake256(identity, 32).hex(), *texts])
FORMATS, ELEMENTS = {SERIES: verify_series}, {}  # by 6 or 5 bytes; merged.py has one more
LISTS = ["series.json"]  # files of --vectors with good and bad cases
def judge(aggregate, pairs):
    table = load_table()
    try:
        known = FORMATS.get(aggregate[:6]) or FORMATS.get(aggregate[:5], verify)
        return True, known(aggregate, pairs, table)
    except Refused as refusal:
        return False, str(refusal)
    except Exception as error:  # no bytes are known to come here
        return False, f"stumbled: {type(error).__name__}: {error}"
def from_hex(text):
    check(re.fullmatch("(0x)?([0-9a-fA-F]{2})*", text), "this is no hex")
    return bytes.fromhex(text.removeprefix("0x"))
def read_task(task):
    """The statements of a task file; its signatures are not looked at."""
    check(isinstance(task, list), "the task file is no array")
    return [(from_hex(item["public_key"]), from_hex(item["digest"])) for item in task]
def run_vectors(folder):
    """The files of vectors/, whose README.md has their format."""
    def load(name): return json.loads((pathlib.Path(folder) / name).read_text())
    items, good, wrong = load("items.json"), {}, 0
    cases = [(True, case) for case in load("good.json")]
    cases += [(False, case) for case in load("bad.json")]
    for wanted, case in cases + [(case["valid"], case) for name in LISTS for case in load(name)]:
        if edit := case.get("edit"):
            base, at, put = good[edit["of"]], edit["at"], from_hex(edit["put"])
            aggregate = base[:at] + put + base[at + edit["remove"] :]
        else:
            aggregate = base64.b64decode(case["aggregate"])
        if wanted: good[case["name"]] = aggregate
        valid, text = judge(aggregate, read_task([items[i] for i in case["items"]]))
        word = text.split(":")[0]
        right = valid == wanted and word == case.get("reason", word) != "stumbled"
        print("ok" if right else "WRONG", case["name"], "-", text.splitlines()[0], flush=True)
        wrong += not right
    return 1 if wrong else 0
def main(first, second):
    if first == "--vectors": return run_vectors(second)
    result, task = (json.loads(pathlib.Path(path).read_text()) for path in (first, second))
    valid, text = judge(from_hex(result["aggregate"]), read_task(task))
    print(text if valid else "refused: " + text, file=sys.stdout if valid else sys.stderr)
    return 0 if valid else 1

def run(usage):
    if len(sys.argv) != 3: sys.exit(print(usage, file=sys.stderr) or 2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except Exception as problem:
        print(f"cannot be read: {type(problem).__name__}: {problem}", file=sys.stderr)
        sys.exit(2)

if __name__ == "__main__": run(__doc__)
