"""A slow prover of version 3 for toy rows, for the tests of the second verifier. It takes its
functionals from the verifier itself, so it shows that the verifier's equations hold for an honest
witness and fit together, and no more. `faults` changes what is sent."""
import math, pathlib, struct, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "verifiers/python"))
import verify as V
from verify import P, Q, centred, pack, reduce, times, unpack

ZERO = [0] * 64
def bits(values, width):
    number = sum(x << width * i for i, x in enumerate(values))
    return number.to_bytes((width * len(values) + 7) // 8, "little")
def flat(polynomials): return [x for p in polynomials for x in p]
def ints(x): return [centred(c, Q) for c in unpack(x)]
def square(polynomials): return sum(x * x for p in polynomials for x in p)
def digits(polynomial, f, b):
    out, x = [], list(polynomial)
    for _ in range(f - 1):
        out.append([(c + (1 << b - 1)) % (1 << b) - (1 << b - 1) for c in x])
        x = [(c - d) >> b for c, d in zip(x, out[-1])]
    return out + [x]
def by_digit(polynomials, f, b):
    """For every digit, the polynomials of it."""
    return [p for column in zip(*[digits(p, f, b) for p in polynomials]) for p in column]
def key_times(k, vector):
    packed = [pack(p) for p in vector]
    return [reduce(sum(times(x, y) for x, y in zip(V.key_row(i, len(packed)), packed)))
            for i in range(k)]
def inner(x, y): return reduce(sum(times(a, b) for a, b in zip(x, y)))
def quarters_of(k, vector):
    return [unpack(u)[4 * c] for u in key_times(k, vector) for c in range(16)]
def gauss(values, indexes):
    """P 11.2, the other way round."""
    x, found, low, at = [2**32, 2**32], [], 0, 0
    for i in reversed(range(len(values))):
        start, lowest = V.GAUSS[indexes[i] % 8]
        h = values[i] >> indexes[i] // 8
        assert -256 <= h <= 255, f"no code for {values[i]} with {indexes[i]}"
        c, f = start[h - lowest], start[h - lowest + 1] - start[h - lowest]
        state = x[i % 2]
        while state >= f << 24:
            found.append((state & 0xFFFF).to_bytes(2, "big"))
            state >>= 16
        x[i % 2] = (state // f << 24) + state % f + c
    for value, t in zip(values, indexes):
        low |= (value & (1 << t // 8) - 1) << at
        at += t // 8
    head = b"".join(state.to_bytes(6, "big") for state in x)
    return head + b"".join(reversed(found)) + low.to_bytes((at + 7) // 8, "little")
def bits_of_poly(jl, number, poly):
    """P 5.3, word for word: 137 lists of 64 bits."""
    data = V.chacha8(jl, [(17 * poly + i, 2 + 256 * number, 0) for i in range(17)])
    rows = []
    for j in range(136):
        g, bit, row = j // 4, j % 4, [0] * 64
        for c in range(16):
            first, second = data[32 * g + c], data[32 * g + 16 + c]
            row[c], row[16 + c] = first >> bit & 1, first >> 4 + bit & 1
            row[32 + c], row[48 + c] = second >> bit & 1, second >> 4 + bit & 1
        rows.append(row)
    return rows + [[1] * 32 + [0] * 32]
def projected(jl, number, polynomials):
    """y_j, y*_j, j = 0..136, of {POLY: polynomial}."""
    y, star = [0] * 137, [0] * 137
    for poly, s in polynomials.items():
        turned = s[32:] + [-x for x in s[:32]]
        for j, row in enumerate(bits_of_poly(jl, number, poly)):
            y[j] += sum(x for bit, x in zip(row, s) if bit)
            star[j] += sum(x for bit, x in zip(row, turned) if bit)
    return y, star
def sent_of(y, star):
    u, v = y[136], star[136]
    pairs = zip(y[:136], star[:136])
    return [x for a, b in pairs for x in (a - (u + v) // 2, b - (v - u) // 2)], u, v
def decode_signature(signature, n):
    """s2 of a compressed signature; its salt."""
    stream = "".join(f"{x:08b}" for x in signature[41:])
    s2, at = [], 0
    while len(s2) < n:
        sign, low = stream[at] == "1", int(stream[at + 1 : at + 8], 2)
        end = stream.index("1", at + 8)
        value = low + 128 * (end - at - 8)
        s2.append(-value if sign else value)
        at = end + 1
    return s2, signature[1:41]

class Toy:
    """One proof. `signed`: (V.Item, s2) each."""
    def __init__(self, row, signed, header, table_hash, faults=None):
        self.faults, self.signed, self.out = faults or {}, signed, []
        self.fields, self.met = [], 0  # (level, name, length); how many faults were met
        self.ps = signed[0][0].ps
        bucket, rows = row[1], row[2]
        self.levels = V.levels_of(self.ps, bucket, rows, len(signed))
        self.st = V.Transcript()
        start = table_hash + struct.pack("<BHH", self.ps.logn, bucket, len(signed))
        self.st.absorb(f"falconry/proof/v{V.version_of(rows)}", start)
        self.st.absorb("header", header)
        parts = None
        for level in self.levels: parts = self.run(level, parts)
        self.proof = b"".join(self.out)
    def fault(self, number, name, value):
        if (number, name) in self.faults:
            value, self.met = self.faults[number, name](value), self.met + 1
        return value
    def put(self, level, name, data):
        data = self.fault(level.number, name, data)
        self.fields.append((level.number, name, len(data)))
        self.out.append(data)
        return data
    def witness(self, level):
        """P 7.1 without Y: rows of S and W."""
        S, W = [], [list(ZERO) for _ in range(level.lengths[1])]
        ps = self.ps
        for i, (item, s2) in enumerate(self.signed):
            h_s2 = V.product_mod_p(V.pack40(item.h), V.pack40(s2), ps.n)
            s1 = [centred(c - x, P) for c, x in zip(item.point, h_s2)]
            rest = ps.beta2 - sum(x * x for x in s1 + s2)
            epsilon = [math.isqrt(rest // 56)] * 56
            rest -= 56 * epsilon[0] ** 2
            for _ in range(8):
                epsilon.append(math.isqrt(rest))
                rest -= epsilon[-1] ** 2
            assert rest == 0
            epsilon = [-x if s2[j] % 2 else x for j, x in enumerate(epsilon)]
            mine = [a[k :: ps.K] for a in (s1, s2) for k in range(ps.K)] + [epsilon]
            S += mine
            packed = [pack(x) for x in mine]
            w = ints(inner(packed, [pack(V.sigma(x)) for x in mine]))
            w[0] = centred(w[0] - ps.beta2, Q)
            W[i], W[level.lengths[1] // 2 + i] = digits(w, 2, 13)
        return [S, W, []]
    def run(self, level, parts):
        row, st, number, seeds, r = level.row, self.st, level.number, {}, level.r
        def step(label, data, *names):
            st.absorb(label, data)
            seeds.update((name, st.seed(name)) for name in names)
        if number == 0: parts = self.witness(level)
        n, x, e_outer = row.n, [], []
        level.retry = self.put(level, "retry", b"\0")
        step("retry", level.retry)
        s = [list(ZERO) for _ in range(r * n)]
        def fill(part):
            for i, p in enumerate(parts[part]): s[level.place(part, i)] = p
        def inner_commitments(rows):
            for a in rows:
                t = [unpack(y) for y in key_times(row.kappa, s[a * n : a * n + n])]
                cut = row.cut if level.tail else row.ct
                if level.tail and a < r - 1:
                    t_sent = [[y >> cut for y in p] for p in t]
                elif cut and not level.tail:
                    t = [[centred(y, Q) for y in p] for p in t]
                    t_sent = [[y >> cut for y in p] for p in t]
                else:
                    t_sent, cut = [[centred(y, Q) for y in p] for p in t], 0
                self.t.append(t_sent)
                self.t_full.append(t)
                self.e_rows.append([[(y << cut) + (1 << cut >> 1) - z for y, z in zip(p, full)]
                                    if cut else list(ZERO) for p, full in zip(t_sent, t)])
        self.t, self.t_full, self.e_rows = [], [], []
        level.u, level.p, level.raw = {}, {}, {}
        def outer(name, vector):
            u = key_times(row.kappa1, vector)
            if level.hidden:
                full = [ints(y) for y in u]
                u = [[y >> row.cut for y in p] for p in full]
                hide(name, u)
            else:
                full = [unpack(y) for y in u]
                u = level.u[name] = [[y >> row.cut for y in p] for p in full]
                level.raw[name] = self.put(level, name, bits(flat(u), 44 - row.cut))
            if row.cut:
                e_outer.extend([(y << row.cut) + (1 << row.cut - 1) - z for y, z in zip(p, q)]
                               for p, q in zip(u, full))
        def hide(name, polynomials):
            message, = [m for m in level.messages if m.name == name]
            mine = by_digit(polynomials, message.digits, row.w)
            mine = self.fault(number, "x " + name, mine)
            x.extend(mine)
            p = quarters_of(row.k, mine)
            level.raw[name] = self.put(level, name, bits(p, 44))
            level.p[name] = V.words(level.raw[name], 44, 16 * row.k)
        def digits_of_t(rows):
            return [p for a in rows for p in by_digit(self.t[a], level.ft, row.bu)]
        def garbage():
            rows = [[pack(p) for p in s[a * n : a * n + n]] for a in range(r)]
            self.g = [inner(rows[a], rows[b]) for a, b in level.pairs]
            if not level.tail: self.v_g = by_digit([ints(y) for y in self.g], row.fg, row.bg)
        for part in range(len(parts)): fill(part)
        if number == 0:
            sw = range(level.first[2])
            inner_commitments(sw)
            outer("uA", v_t := digits_of_t(sw))
            step("uA", level.raw["uA"], "alpha")
            for i in range(len(self.signed)):
                alpha = pack(V.expand(seeds["alpha"], 1, 0, [(0, i)], 4, V.ALPHA)[0])
                for y in parts[0][self.ps.W * i : self.ps.W * (i + 1)]:
                    parts[2].append(ints(times(alpha, pack(V.sigma(y)))))
            fill(2)
            inner_commitments(range(level.first[2], r))
            garbage()
            mine = digits_of_t(range(level.first[2], r))
            v_t = v_t + mine
            outer("uB", mine + self.v_g)
            step("uB", level.raw["uB"], "rho")
        else:
            inner_commitments(range(r))
            garbage()
            if level.tail:
                level.t = flat(self.t[:-1])
                level.t_raw = self.put(level, "t", bits(flat(level.t), 44 - row.cut))
                level.g = [ints(y) for y in self.g[:-1]]
                g_code = gauss(flat(level.g), [t for t in row.tG for _ in range(64)])
                self.put(level, "g", g_code)
                hidden = V.pack44([[y % Q for y in p] for p in self.t_full[-1]])
                level.t_seal = st.seal("t", hidden + V.pack44([unpack(self.g[-1])]))
                self.put(level, "seal of t", level.t_seal)
                step("t", level.t_raw + V.pack44([[y % Q for y in p] for p in level.g])
                     + level.t_seal)
            else:
                v_t = digits_of_t(range(r))
                outer("u1", v_t + self.v_g)
                step("u1", level.raw["u1"])
        if level.extended: s += flat(self.fault(number, "e values", self.e_rows))
        self.s, self.seeds = s, seeds
        # projections; the first counter must do
        level.counter = self.put(level, "counter", b"\0")
        step("counter", level.counter, "jl")
        places = level.used_places() if number else range(self.ps.W * len(self.signed))
        extended = range(r * n, r * n + r * level.extended)
        y = projected(seeds["jl"], number, {place: s[place] for place in [*places, *extended]})
        level.y, level.U, level.V = sent_of(*y)
        level.y, level.U, level.V = self.fault(number, "y values", (level.y, level.U, level.V))
        self.put(level, "y", gauss(level.y, [row.tY] * 272))
        self.put(level, "UV", struct.pack("<2i", level.U, level.V))
        level.w = self.functionals(seeds) if number == 0 else ()
        if number == 0: self.put(level, "w", struct.pack("<10i", *level.w))
        before = level.before
        if level.behind_hidden:
            start = before.row.f * before.row.n
            at_x = places[start : start + before.v_t]
            y = projected(seeds["jl"], number, {place: s[place] for place in at_x})
            level.y_x, level.U_x, level.V_x = sent_of(*y)
            sent = self.fault(number, "y_x values", (level.y_x, level.U_x, level.V_x))
            level.y_x, level.U_x, level.V_x = sent
            self.put(level, "y_x", gauss(level.y_x, [before.row.tX] * 272))
            self.put(level, "UV_x", struct.pack("<2i", level.U_x, level.V_x))
        numbers = [*level.y, level.U, level.V, *level.w]
        if level.behind_hidden: numbers += [*level.y_x, level.U_x, level.V_x]
        step("y", struct.pack("<%di" % len(numbers), *numbers), "lift")
        # the lifts, each as a difference of two combinations
        seeds["combine"] = bytes(32)
        level.b_sent, level.b_32 = [0] * 189, [0] * 3
        fixed = self.combine(level, seeds, [0] * level.lifts)
        self.F = []
        for k in range(level.lifts):
            phi = self.combine(level, seeds, [int(i == k) for i in range(level.lifts)])
            self.F.append({place: reduce(phi[place] - fixed[place]) for place in phi})
        b = [ints(reduce(sum(times(F[place], pack(s[place])) for place in F))) for F in self.F]
        b = self.fault(number, "b values", b)
        if number == 0: level.b_32 = self.fault(0, "b_32 values", [p[32] % Q for p in b])
        V.lift_right_side(level, self.held)
        known = (0, 32) if number or level.hidden else (0,)  # an open level 0 has no b_32
        self.honest = all(p[j] % Q == D[j // 32] for p, D in zip(b, level.D) for j in known)
        assert self.honest or self.faults, f"level {number}: the lifts are not what D says"
        if level.hidden:
            hide("b", b)
            if number == 0:
                level.raw["b"] += self.put(level, "b_32", bits(level.b_32, 44))
        else:
            left_out = (0, 32) if number else (0,)
            level.b_sent = [c % Q for p in b for j, c in enumerate(p) if j not in left_out]
            level.raw["b"] = self.put(level, "b", bits(level.b_sent, 44))
        step("b", level.raw["b"], "combine")
        phi = self.combine(level, seeds, None)
        # h over extended rows
        kappa = level.extended
        rows = [[pack(p) for p in s[a * n : a * n + n]]
                + [pack(p) for p in s[r * n + a * kappa : r * n + a * kappa + kappa]]
                for a in range(r)]
        phi_rows = [[phi.get(place, 0) for place in [*range(a * n, a * n + n),
                     *range(r * n + a * kappa, r * n + a * kappa + kappa)]] for a in range(r)]
        h = [inner(phi_rows[a], rows[a]) if a == c else
             reduce(inner(phi_rows[a], rows[c]) + inner(phi_rows[c], rows[a]))
             for a, c in level.pairs]
        left = sum(times(level.a.get(pair, 0), g) for pair, g in zip(level.pairs, self.g))
        left += sum(x for (a, c), x in zip(level.pairs, h) if a == c)
        right = level.b
        if level.hidden: right += sum(times(beta, pack(p)) for beta, p in zip(level.beta, b))
        self.holds = unpack(left) == unpack(right)
        assert self.holds or self.faults, f"level {number}: the combined constraint does not hold"
        if level.tail:
            level.h = [ints(y) for y in h[1:-1]]
            level.h_raw = self.put(level, "h", bits([y % Q for y in flat(level.h)], 44))
            level.h_seal = st.seal("h", V.pack44([unpack(h[-1])]))
            self.put(level, "seal of h", level.h_seal)
            step("h", level.h_raw + level.h_seal, "amortise")
        else:
            v_h = by_digit([ints(y) for y in h], row.fu, row.bu)
            outer("u2", v_h)
            step("u2", level.raw["u2"], "amortise")
        c = V.expand(seeds["amortise"], 9, number, [(0, a) for a in range(r)], 4, V.AMORTISE)
        level.c = [pack(y) for y in c]
        def amortised(rows):
            return [reduce(sum(times(x, y[i]) for x, y in zip(level.c, rows)))
                    for i in range(n + kappa)]
        sums = amortised(phi_rows)
        level.phi_z, level.phi_e = sums[:n], sums[n:]
        ze = [ints(y) for y in amortised(rows)]
        if level.tail:
            indexes = [t for columns, t in row.runs for _ in range(64 * columns)]
            self.put(level, "ze", gauss(flat(ze), indexes + [row.tE] * (64 * row.kappa)))
            self.check_norm(level, square(ze), row.outSq, "z, e")
            return None
        z = [digits(p, row.f, row.b) for p in ze[:n]]
        z = [[p[j] for p in z] for j in range(row.f)]
        v_e = by_digit(ze[n:], row.f, row.b) if kappa else []
        if level.hidden: self.check_norm(level, square(x), row.X, "x")
        v = x + v_t + self.v_g + v_h + v_e + e_outer
        assert len(v) == level.m and len(x) == level.v_t, (len(v), level.m)
        self.check_norm(level, square(flat(z) + v), row.outSq, "the output")
        return [*z, v]
    def check_norm(self, level, norm, bound, what):
        assert norm <= bound or self.faults, f"level {level.number}: {what}, {norm} > {bound}"
    def functionals(self, seeds):
        ps, w, self.held = self.ps, [], []
        for j in range(10):
            total = C = 0
            for i, (item, s2) in enumerate(self.signed):
                read = V.words_below(5 * P, 16, ps.n)
                rho = [centred(y, P) for y in V.expand(seeds["rho"], 3, 0, [(j, i)], 20, read)[0]]
                h = V.pack40(V.sigma(item.h))
                rho2 = V.product_mod_p(V.pack40(rho), h, ps.n)
                h_s2 = V.product_mod_p(V.pack40(item.h), V.pack40(s2), ps.n)
                s1 = [centred(c - y, P) for c, y in zip(item.point, h_s2)]
                total += sum(a * b for a, b in zip(rho + rho2, s1 + s2))
                C += sum(a * centred(b, P) for a, b in zip(rho, item.point))
            assert (total - C) % P == 0
            w.append((total - C) // P)
            self.held.append(total)
        return w
    def combine(self, level, seeds, beta):
        """φ by places, of the verifier's own combination."""
        phi, original = {}, V.gain
        def gain(_, place, value): phi[place] = reduce(phi.get(place, 0) + value)
        V.lift_challenges(level, seeds)
        if beta is not None: level.beta = beta
        level.c = None
        V.gain = gain
        try:
            if beta is None:
                padding = sorted(set(range(level.r * level.row.n)) - set(level.used_places()))
                for place, value in zip(padding, V.short_elements(seeds, level, 7, padding)):
                    gain(level, place, value)
            if level.number == 0:
                V.combine_level_0(level, seeds, self.ps, [item for item, _ in self.signed])
            else:
                V.combine_level(level, level.before, seeds)
        finally:
            V.gain = original
        return phi
