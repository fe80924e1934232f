"""A slow prover for toy rows with hidden messages and cut inner commitments, for the tests of the
second verifier. It takes its functionals from the verifier itself, so it shows that the verifier's
equations hold for an honest witness and fit together, and no more.

`hooks` make it cheat. They are {(level, name): function}, and each is called as function(value,
prover of the level) and answers with the value to take in place of this one:
    a field's name          the bytes that are sent
    "s", "g", "h"           the rows; what these are named after in P 6.2
    "t sent"                t'_a, or the centred t_a with ct = 0, of every row
    "e values"              the e_a of every row
    "e of M"                the e of the outer value of a message M
    "x M"                   the digits of a message M, before p is made of them
    "projected", ".. x"     {POLY: polynomial} of the two projections
    "y values", "y_x ..     (y', U, V) of them
    "omega"                 nothing; the scalars of the level are known
    "b_32 values", "b ..    what is taken for lifts
    "late"                  nothing; all is known, c too. If t, g, h or b of the prover are changed
                            now, the digits of the messages are those of the new ones; p is not.
"""
import math, struct

from toy_math import (Q, V, ZERO, bits, by_digit, centred, digits, flat, gauss, inner, ints,
                      key_times, pack, projected, quarters_of, reduce, sent_of, square, times,
                      unpack)
from verify import P

START = "falconry/proof/v3"
class Toy:
    """One proof. `signed`: (V.Item, s2) each. With `base`, an honest proof of the same, everything
    before level `start` is taken from it."""
    def __init__(self, row, signed, header, row_hash, hooks=None, base=None, start=0):
        self.hooks, self.signed, self.ps = hooks or {}, signed, signed[0][0].ps
        self.met, self.st, self.saved = set(), V.Transcript(), []  # hooks; state before each level
        self.fields, self.out = [], []  # (level, name, length); bytes
        self.levels = V.levels_of(self.ps, row[1], row[2], len(signed))
        if start:
            self.saved = base.saved[: start + 1]
            self.st.st, parts, count = self.saved.pop()
            self.fields, self.out = base.fields[:count], base.out[:count]
            self.levels[:start] = base.levels[:start]
            self.levels[start].before = self.levels[start - 1]
        else:
            opened = row_hash + struct.pack("<BHH", self.ps.logn, row[1], len(signed))
            self.st.absorb(START, opened)
            self.st.absorb("header", header)
            parts = None
        for level in self.levels[start:]:
            self.saved.append((self.st.st, parts, len(self.out)))
            self.last = LevelProver(self, level, parts)
            parts = self.last.run()
        self.proof = b"".join(self.out)
    def replace(self, number, name, data):
        """Other bytes of the same length in a field that is already written."""
        index, = [i for i, (n, field, _) in enumerate(self.fields) if (n, field) == (number, name)]
        assert len(data) == len(self.out[index])
        self.out[index] = data

class LevelProver:
    def __init__(self, toy, level, parts):
        self.toy, self.level, self.number, self.row = toy, level, level.number, level.row
        self.n, self.r, self.st, self.seeds = level.row.n, level.r, toy.st, {}
        self.parts = self.witness() if level.number == 0 else parts
        self.s = [list(ZERO) for _ in range(self.r * self.n)]  # the e_a behind all rows
        self.t, self.t_full, self.e_rows = [], [], []  # of every row
        self.g, self.h, self.b = [], [], []
        self.x, self.e_outer, self.projections = {}, {}, {}  # two by names of messages; by places
        level.u, level.p, level.raw = {}, {}, {}
    def hook(self, name, value):
        key = self.number, name
        if key not in self.toy.hooks: return value
        self.toy.met.add(key)
        return self.toy.hooks[key](value, self)
    def put(self, name, data):
        data = self.hook(name, data)
        self.toy.fields.append((self.number, name, len(data)))
        self.toy.out.append(data)
        return data
    def step(self, label, data, *names):
        self.st.absorb(label, data)
        self.seeds.update((name, self.st.seed(name)) for name in names)
    def run(self):
        self.level.retry = self.put("retry", b"\0")
        self.step("retry", self.level.retry)
        self.commit()
        self.project()
        self.lift()
        return self.amortise()

    # P 7.1, 6.2, 9.1: the witness and the inner commitments
    def witness(self):
        """S, W and an empty Y."""
        ps, S, W = self.toy.ps, [], [list(ZERO) for _ in range(self.level.lengths[1])]
        for i, (item, s2) in enumerate(self.toy.signed):
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
            W[i], W[self.level.lengths[1] // 2 + i] = digits(w, 2, 13)
        return [S, W, []]
    def fill(self, part):
        for i, p in enumerate(self.parts[part]): self.s[self.level.place(part, i)] = p
    def inner_commitments(self, rows):
        row, level, n = self.row, self.level, self.n
        for a in rows:
            t = [unpack(y) for y in key_times(row.kappa, self.s[a * n : a * n + n])]
            if level.tail:
                cut = row.cut if a < self.r - 1 else 0
            else:
                t, cut = [[centred(y, Q) for y in p] for p in t], row.ct
            self.t.append([[y >> cut for y in p] for p in t])
            self.t_full.append((t, cut))
    def rests(self):
        """The e_a of every row."""
        self.t = self.hook("t sent", self.t)
        for t, (full, cut) in zip(self.t, self.t_full):
            self.e_rows.append([[(y << cut) + (1 << cut >> 1) - z for y, z in zip(p, q)]
                                if cut else list(ZERO) for p, q in zip(t, full)])
        self.e_rows = self.hook("e values", self.e_rows)
        if self.level.extended: self.s += flat(self.e_rows)
    def garbage(self):
        rows = [[pack(p) for p in self.s[a * self.n : a * self.n + self.n]] for a in range(self.r)]
        self.g = self.hook("g", [inner(rows[a], rows[b]) for a, b in self.level.pairs])

    # P 6.2, 6.4: outer values and messages
    def v_t(self, name=None):
        first = self.level.first[2] if self.number == 0 else None
        rows = {"uA": self.t[:first], "uB": self.t[first:]}.get(name, self.t)
        return [p for t in rows for p in by_digit(t, self.level.ft, self.row.bu)]
    def v_g(self): return by_digit([ints(y) for y in self.g], self.row.fg, self.row.bg)
    def v_h(self): return by_digit([ints(y) for y in self.h], self.row.fu, self.row.bu)
    def message(self, name):
        """The polynomials of a message, or of an open level's u'; e_outer is made."""
        if name == "b": return self.b
        vector = self.v_h() if name == "u2" else self.v_t(name)
        if name in ("uB", "u1"): vector = vector + self.v_g()
        u, cut = key_times(self.row.kappa1, vector), self.row.cut
        full = [ints(y) if self.level.hidden else unpack(y) for y in u]
        u = [[y >> cut for y in p] for p in full]
        e = [[(y << cut) + (1 << cut >> 1) - z for y, z in zip(p, q)] for p, q in zip(u, full)]
        self.e_outer[name] = self.hook("e of " + name, e) if cut else []
        return u
    def digits_of(self, name):
        message, = [m for m in self.level.messages if m.name == name]
        return self.hook("x " + name, by_digit(self.message(name), message.digits, self.row.w))
    def send(self, name):
        level, row = self.level, self.row
        if level.hidden:
            self.x[name] = self.digits_of(name)
            level.raw[name] = self.put(name, bits(quarters_of(row.k, self.x[name]), 44))
            level.p[name] = V.words(level.raw[name], 44, 16 * row.k)
        else:
            level.u[name] = self.message(name)
            level.raw[name] = self.put(name, bits(flat(level.u[name]), 44 - row.cut))
    def commit(self):
        """Everything up to the counter."""
        level, toy = self.level, self.toy
        for part in range(len(self.parts)): self.fill(part)
        self.s = self.hook("s", self.s)
        if self.number == 0:
            self.inner_commitments(range(level.first[2]))
            self.send("uA")
            self.step("uA", level.raw["uA"], "alpha")
            for i in range(len(toy.signed)):
                alpha = pack(V.expand(self.seeds["alpha"], 1, 0, [(0, i)], 4, V.ALPHA)[0])
                for y in self.parts[0][toy.ps.W * i : toy.ps.W * (i + 1)]:
                    self.parts[2].append(ints(times(alpha, pack(V.sigma(y)))))
            self.fill(2)
        self.inner_commitments(range(len(self.t), self.r))
        self.rests()
        self.garbage()
        if level.tail:
            self.seal_t()
        elif self.number == 0:
            self.send("uB")
            self.step("uB", level.raw["uB"], "rho")
        else:
            self.send("u1")
            self.step("u1", level.raw["u1"])
        level.counter = self.put("counter", b"\0")  # the first one must do
        self.step("counter", level.counter, "jl")
    def seal_t(self):
        level, row = self.level, self.row
        level.t = flat(self.t[:-1])
        level.t_raw = self.put("t", bits(flat(level.t), 44 - row.cut))
        level.g = [ints(y) for y in self.g[:-1]]
        self.put("g", gauss(flat(level.g), [t for t in row.tG for _ in range(64)]))
        last = V.pack44([[y % Q for y in p] for p in self.t_full[-1][0]])
        level.t_seal = self.st.seal("t", last + V.pack44([unpack(self.g[-1])]))
        self.put("seal of t", level.t_seal)
        g = V.pack44([[y % Q for y in p] for p in level.g])
        self.step("t", level.t_raw + g + level.t_seal)

    # P 5.3, 7.3, 8.3: projections and functionals
    def project(self):
        level, toy, r, n = self.level, self.toy, self.r, self.n
        places = level.used_places() if self.number else range(toy.ps.W * len(toy.signed))
        extended = range(r * n, r * n + r * level.extended)
        mine = {place: self.s[place] for place in [*places, *extended]}
        level.y, level.U, level.V = self.projection("", mine)
        self.put("y", gauss(level.y, [self.row.tY] * 272))
        self.put("UV", struct.pack("<2i", level.U, level.V))
        level.w = self.functionals() if self.number == 0 else ()
        if self.number == 0: self.put("w", struct.pack("<10i", *level.w))
        numbers = [*level.y, level.U, level.V, *level.w]
        if level.behind_hidden:
            before = level.before.row
            start = before.f * before.n
            at_x = places[start : start + level.before.v_t]
            mine = {place: self.s[place] for place in at_x}
            level.y_x, level.U_x, level.V_x = self.projection("_x", mine)
            self.put("y_x", gauss(level.y_x, [before.tX] * 272))
            self.put("UV_x", struct.pack("<2i", level.U_x, level.V_x))
            numbers += [*level.y_x, level.U_x, level.V_x]
        self.step("y", struct.pack("<%di" % len(numbers), *numbers), "lift")
    def projection(self, of_x, polynomials):
        polynomials = self.hook("projected" + of_x.replace("_", " "), polynomials)
        y = projected(self.seeds["jl"], self.number, polynomials)
        return self.hook(f"y{of_x} values", sent_of(*y))
    def functionals(self):
        ps, w, self.held = self.toy.ps, [], []
        for j in range(10):
            total = C = 0
            for i, (item, s2) in enumerate(self.toy.signed):
                read = V.words_below(5 * P, 16, ps.n)
                rho = V.expand(self.seeds["rho"], 3, 0, [(j, i)], 20, read)[0]
                rho = [centred(y, P) for y in rho]
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

    # P 7.6, 8.4, 10: lifts and the combined constraint
    def combination(self, beta, seeds):
        """φ by places, of the verifier's own combination with these β."""
        phi, originals, level = {}, (V.gain, V.projections), self.level
        def gain(_, place, value): phi[place] = reduce(phi.get(place, 0) + value)
        def once(level, jl, places, omega):  # the same for all combinations of a level
            if not places: return iter([])
            key = places[0], len(places)
            if key not in self.projections:
                self.projections[key] = list(originals[1](level, jl, places, omega))
            return iter(self.projections[key])
        V.lift_challenges(level, seeds)
        level.beta, level.c = beta, None
        V.gain, V.projections = gain, once
        try:
            padding = sorted(set(range(level.r * level.row.n)) - set(level.used_places()))
            for place, value in zip(padding, V.short_elements(seeds, level, 7, padding)):
                gain(level, place, value)
            if level.number == 0:
                V.combine_level_0(level, seeds, self.toy.ps, [item for item, _ in self.toy.signed])
            else:
                V.combine_level(level, seeds)
        finally:
            V.gain, V.projections = originals
        return phi
    def make_lifts(self):
        """F and b of every lift, each as a difference of two combinations."""
        level = self.level
        seeds = {**self.seeds, "combine": bytes(32)}
        level.b_sent, level.b_32 = [0] * 189, [0] * 3
        fixed, self.F = self.combination([0] * level.lifts, seeds), []
        self.hook("omega", None)
        for k in range(level.lifts):
            phi = self.combination([int(i == k) for i in range(level.lifts)], seeds)
            self.F.append({place: reduce(phi[place] - fixed[place]) for place in phi})
        self.b = [ints(reduce(sum(times(x, pack(self.s[place])) for place, x in F.items())))
                  for F in self.F]
        if self.number == 0: level.b_32 = self.hook("b_32 values", [p[32] % Q for p in self.b])
        V.lift_right_side(level, self.held if self.number == 0 else [])  # D
        self.b = self.hook("b values", self.b)
    def lift(self):
        level, row = self.level, self.row
        self.make_lifts()
        left_out = (0, 32) if self.number else (0,)  # an open level 0 sends b_32
        known = (0, 32) if level.hidden else left_out
        honest = all(p[j] % Q == D[j // 32] for p, D in zip(self.b, level.D) for j in known)
        assert honest or self.toy.hooks, f"level {self.number}: the lifts are not what D says"
        if level.hidden:
            self.send("b")
            if self.number == 0: level.raw["b"] += self.put("b_32", bits(level.b_32, 44))
        else:
            level.b_sent = [c % Q for p in self.b for j, c in enumerate(p) if j not in left_out]
            level.raw["b"] = self.put("b", bits(level.b_sent, 44))
        self.step("b", level.raw["b"], "combine")
        # the constraint is the one without lifts, and Σ_k β_k times each of them
        phi = self.combination([0] * level.lifts, self.seeds)
        V.lift_challenges(level, self.seeds)
        for beta, F in zip(level.beta, self.F):
            for place, x in F.items(): phi[place] = reduce(phi[place] + times(beta, x))
        held = self.held if self.number == 0 else []
        level.b = reduce(level.b + V.lift_right_side(level, held))
        self.make_h(phi)
        if level.tail:
            level.h = [ints(y) for y in self.h[1:-1]]
            level.h_raw = self.put("h", bits([y % Q for y in flat(level.h)], 44))
            level.h_seal = self.st.seal("h", V.pack44([unpack(self.h[-1])]))
            self.put("seal of h", level.h_seal)
            self.step("h", level.h_raw + level.h_seal, "amortise")
        else:
            self.send("u2")
            self.step("u2", level.raw["u2"], "amortise")
    def h_of(self, phi):
        rows = self.rows
        def h(a, c): return reduce(inner(phi[a], rows[c]) + inner(phi[c], rows[a]))
        return [inner(phi[a], rows[a]) if a == c else h(a, c) for a, c in self.level.pairs]
    def make_h(self, phi):
        """h over extended rows, and what these are."""
        level, n, r, kappa = self.level, self.n, self.r, self.level.extended
        at = [[*range(a * n, a * n + n), *range(r * n + a * kappa, r * n + a * kappa + kappa)]
              for a in range(r)]
        self.rows = [[pack(self.s[place]) for place in places] for places in at]
        self.phi_rows = [[phi.get(place, 0) for place in places] for places in at]
        self.h = self.hook("h", self.h_of(self.phi_rows))
        left = sum(times(level.a.get(pair, 0), g) for pair, g in zip(level.pairs, self.g))
        left += sum(x for (a, c), x in zip(level.pairs, self.h) if a == c)
        right = level.b
        if level.hidden: right += sum(times(x, pack(p)) for x, p in zip(level.beta, self.b))
        holds = unpack(left) == unpack(right)
        assert holds or self.toy.hooks, f"level {self.number}: the constraint does not hold"

    # P 6.3, 9.2: amortisation
    def amortise(self):
        level, row, n, kappa = self.level, self.row, self.n, self.level.extended
        places = [(0, a) for a in range(self.r)]
        c = V.expand(self.seeds["amortise"], 9, self.number, places, 4, V.AMORTISE)
        level.c = [pack(y) for y in c]
        def amortised(rows):
            return [reduce(sum(times(x, y[i]) for x, y in zip(level.c, rows)))
                    for i in range(n + kappa)]
        sums = amortised(self.phi_rows)
        level.phi_z, level.phi_e = sums[:n], sums[n:]
        ze = [ints(y) for y in amortised(self.rows)]
        if level.tail:
            indexes = [t for columns, t in row.runs for _ in range(64 * columns)]
            self.put("ze", gauss(flat(ze), indexes + [row.tE] * (64 * row.kappa)))
            self.check_norm(square(ze), row.outSq, "z, e")
            return None
        z = [digits(p, row.f, row.b) for p in ze[:n]]
        z = [[p[j] for p in z] for j in range(row.f)]
        v_e = by_digit(ze[n:], row.f, row.b) if kappa else []
        if (self.number, "late") in self.toy.hooks:
            self.hook("late", None)
            self.x = {name: self.digits_of(name) for name in self.x}
        x = [p for message in level.messages for p in self.x[message.name]]
        outer = [p for e in self.e_outer.values() for p in e]  # in the order of sending
        v = x + self.v_t() + self.v_g() + self.v_h() + v_e + outer
        assert len(v) == level.m and len(x) == level.v_t, (len(v), level.m)
        if level.hidden: self.check_norm(square(x), row.X, "x")
        self.check_norm(square(flat(z) + v), row.outSq, "the output")
        return [*z, v]
    def check_norm(self, norm, bound, what):
        assert norm <= bound or self.toy.hooks, f"{self.number}: {what}, {norm} > {bound}"
