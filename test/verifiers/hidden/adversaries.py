"""Cheating proofs, one for each rule: a verifier that leaves this rule out accepts it, and the
whole one refuses it. Where it takes two rules left out, each alone refuses."""
import functools, itertools
from collections import namedtuple

from left_out import without
from toy_case import ROWS, Case, honest
from toy_math import Q, V, bits, centred, ints, pack, reduce, sent_of, times, unpack

class Forgery(namedtuple("Forgery", "name row hooks left_out start limit rule")):
    """`left_out`: all that has to be left out. `limit`: (level, "X", ..) of the row, which it
    exceeds; then `rule` is what refuses it. Levels before `start` are honest."""
    def made(self, *left_out, base=None):
        """`base`: this proof for another verifier, which is the same up to `left_out`."""
        start = self.start if base is None else max(self.start, min(x[0] for x in self.left_out))
        with without(*left_out):
            case = Case(self.row, self.hooks, 1, start, self.limited(2**42), base)
        assert case.toy.met == {key for key in self.hooks if key[0] >= start}, self.name
        return case
    def limited(self, value=None):
        """The row that the proof is for, or one with another limit, which the prover takes."""
        if self.limit is None: return ROWS[self.row]
        number, field, own = self.limit
        row = [*ROWS[self.row][:2], [list(x) for x in ROWS[self.row][2]]]
        row[2][number][V.Ordinary._fields.index(field)] = value or own()
        return row
    def judged(self):
        """What a verifier says that leaves out `left_out` or goes without the limit; what the whole
        one says, to the same proof and to one whose functionals are its own; and what those say
        that leave out only all but one of `left_out`."""
        case, said = self.made(*self.left_out), []
        with without(*self.left_out): forgetful = case.verdict(row=self.limited(2**42))
        whole = [case.verdict(row=self.limited())]
        if self.left_out: whole.append(self.made(base=case).verdict())
        for each in self.left_out if self.left_out[1:] else []:
            others = [x for x in self.left_out if x != each]
            other = self.made(*others, base=case)
            with without(*others): said.append(other.verdict())
        return case, forgetful, whole, said
def forgery(name, row, hooks, *left_out, limit=None, rule="proof: wrong seal"):
    start = min(number for number, _ in hooks)
    return Forgery(f"{row}, level {start}: {name}", row, hooks, left_out, start, limit, rule)

MESSAGES = {0: ("uA", "uB", "b", "u2"), 1: ("u1", "b", "u2")}
# row, hidden level, what comes behind it
PLACES = [("a", 0), ("b", 0), ("b", 1), ("c", 1)]  # the tail; hidden; the tail, ct = 4; open
def messages_of(number): return MESSAGES[min(number, 1)]
def changed(polynomials, i, j, by):
    """One coefficient of one polynomial is another."""
    out = [list(p) for p in polynomials]
    out[i][j] += by
    return out

# ---- S_q, pairs for a + b i ----------------------------------------------------------------------
def s_times(x, y): return (x[0] * y[0] - x[1] * y[1]) % Q, (x[0] * y[1] + x[1] * y[0]) % Q
def s_inverse(x):
    inverse = pow(x[0] * x[0] + x[1] * x[1], -1, Q)
    return x[0] * inverse % Q, -x[1] * inverse % Q
def s_sum(values): return tuple(sum(x) % Q for x in zip(*values))
def T(x):
    coefficients = unpack(x)
    return coefficients[0], coefficients[32]
def in_r(x, power=0):  # a + b i, times X^power with power < 32
    return pack([0] * power + [x[0]] + [0] * 31 + [x[1]] + [0] * (31 - power))

# ---- messages: digits of another one under the old p ---------------------------------------------
def other_t(_, prover):
    """Other t of two rows, which E3 does not see."""
    t, c = prover.t, [ints(x) for x in prover.level.c[:2]]
    for a, sign in ((0, 1), (1, -1)):
        first = [x + sign * y for x, y in zip(t[a][0], c[1 - a])]
        t[a] = [first, *t[a][1:]]
def other_g(_, prover):
    """Other g of two rows, which E4 does not see; E6 reads none of them."""
    level, g = prover.level, prover.g
    rows = (0, 1) if level.number == 0 else (level.r - 2, level.r - 1)
    c = [times(level.c[a], level.c[a]) for a in rows]
    for a, value in zip(rows, (c[1], -c[0])):
        assert (a, a) not in level.a
        index = level.pairs.index((a, a))
        g[index] = reduce(g[index] + value)
def fitted(b, prover):
    """Lifts with coefficients 0 and 32 as D has them."""
    prover.true_b, out = b, [list(p) for p in b]
    for p, D in zip(out, prover.level.D): p[0], p[32] = (centred(x, Q) for x in D)
    return out
def other_h(_, prover):
    """The lifts are wrong. Two h are so, now that c is known, that E5 and E6 hold."""
    level, h = prover.level, prover.h
    more = reduce(sum(times(beta, pack([x - y for x, y in zip(p, q)]))
                      for beta, p, q in zip(level.beta, prover.b, prover.true_b)))
    assert any(unpack(more))
    c0, c1 = (times(x, x) for x in level.c[:2])
    first = times(V.invert(reduce(c1 - c0)), times(c1, more))
    second = level.pairs.index((1, 1))
    h[0], h[second] = reduce(h[0] + first), reduce(h[second] + more - first)
def other_b(_, prover):
    """The lifts were right, and T of them is not D. Now that β is known, they become such that it
    is and that E6 holds."""
    beta, D, b = prover.level.beta, prover.level.D, [pack(p) for p in prover.b]
    wanted = [s_sum([d, [-x for x in T(p)]]) for d, p in zip(D, b)]
    assert any(map(any, wanted))
    last = V.invert(beta[-1])
    gamma = [times(x, last) for x in beta[:-1]]
    parts = [T(times(x, in_r(w))) for x, w in zip(gamma, wanted)]
    e = s_times(s_sum([wanted[-1], *parts]), s_inverse(T(times(gamma[0], in_r((1, 0), 1)))))
    deltas = [in_r(w) for w in wanted[:-1]]
    deltas[0] = reduce(deltas[0] - in_r(e, 1))
    deltas.append(reduce(-sum(times(x, y) for x, y in zip(gamma, deltas))))
    assert [T(x) for x in deltas] == wanted
    prover.b = [ints(x + y) for x, y in zip(b, deltas)]
def y_plus_one(values, _):
    y, u, v = values
    return [y[0] + 1, *y[1:]], u, v
def old_p():
    for row, number in PLACES:
        late = {"uA": other_t, "uB": other_g, "u1": other_t, "u2": other_h, "b": other_b}
        for name in messages_of(number):
            hooks = {(number, "late"): late[name]}
            if name in ("u2", "b"): hooks[number, "y values"] = y_plus_one
            if name == "u2": hooks[number, "b values"] = fitted
            yield forgery(f"other digits of {name} under its p", row, hooks,
                          (number + 1, "Q", name))
    yield forgery("g of u1 is another under its p", "b", {(1, "late"): other_g}, (2, "Q", "u1"))
def p_of(name):
    return lambda _, prover: bits(prover.level.p[name], 44)
def other_label():
    for row, number in (("a", 0), ("b", 1), ("c", 1)):
        names = messages_of(number)
        for name, earlier in zip(names[1:], names):
            yield forgery(f"p of {earlier} for {name}", row,
                          {(number, name): p_of(earlier)}, (number + 1, "Q", name))
def more(index):
    """p with one of its numbers larger by one."""
    def change(data, _):
        numbers = V.words(data, 44, len(data) * 2 // 11)
        numbers[index] = (numbers[index] + 1) % Q
        return bits(numbers, 44)
    return change
def one_number():
    for i in range(12):  # each row, j and j + 8, of all messages
        row, j, names = i // 2, (3 * i + 1) % 8, messages_of(0)
        index, name = 16 * row + j + 8 * (i % 2), names[i % 4]
        yield forgery(f"p of {name} at {index}", "a", {(0, name): more(index)},
                      (1, "Q", name, row, j))
    for place, number, name, index in (("b", 1, "u1", 7), ("b", 1, "b", 40), ("b", 1, "u2", 88),
                                       ("b", 0, "b", 3), ("c", 1, "u1", 15)):
        yield forgery(f"p of {name} at {index}", place, {(number, name): more(index)},
                      (number + 1, "Q", name, index // 16, index % 8))

# ---- x: its size, its projection, its digits -----------------------------------------------------
def moved(count, w, by):
    """2^w at digit 0 for one at digit 1. Nothing asks for digits in their ranges."""
    return lambda x, _: changed(changed(x, 0, 5, by << w), count, 5, -by)
def beyond_x():
    for row, number, name, by in (("a", 0, "uA", 300), ("a", 0, "b", 300), ("b", 1, "u1", 100),
                                  ("b", 1, "u2", 100), ("c", 1, "b", 100)):
        w, count = ROWS[row][2][number][13], 1 if name != "b" else 2 + (number == 0)
        yield forgery(f"x of {name} is too long", row, {(number, "x " + name): moved(count, w, by)},
                      limit=(number, "X", lambda row=row, n=number: ROWS[row][2][n][15]),
                      rule=f"proof: the projection of x at {number + 1}: too long")
def another_x(polynomials, _): return dict(zip(polynomials, reversed(polynomials.values())))
def same_y(du, dv):
    """Other U_x or V_x, and the same y_{x,j}, y*_{x,j}, j < 136."""
    def change(values, _):
        y, u, v = values
        pairs = [(a + (u + v) // 2, b + (v - u) // 2) for a, b in zip(y[0::2], y[1::2])]
        return sent_of([a for a, _ in pairs] + [u + du], [b for _, b in pairs] + [v + dv])
    return change
def same_sent(du, dv):
    """Other U_x or V_x, and the same y', y*', so that all y_{x,j} or y*_{x,j} move."""
    return lambda values, _: (values[0], values[1] + du, values[2] + dv)
def projection_of_x():
    for row, number in (("a", 1), ("b", 1), ("b", 2), ("c", 2)):
        yield forgery("y_x of another x", row, {(number, "projected x"): another_x},
                      (number, "P_x"))
        hooks = {(number, "y_x values"): y_plus_one}
        yield forgery("one number of y_x", row, hooks, (number, "P_x", 0))
    for row, number, du, dv in (("a", 1, 2, 0), ("a", 1, 0, -2), ("a", 1, 1, 1), ("b", 2, 0, 2)):
        what = f"U_x + {du}, V_x + {dv}"
        hooks = {(number, "y_x values"): same_y(du, dv)}
        yield forgery(f"{what}, y_x kept", row, hooks, (number, "P_x", 136))
        hooks = {(number, "y_x values"): same_sent(du, dv)}
        yield forgery(f"{what}, y'_x kept", row, hooks, (number, "P_x"))
def fractions(c):
    """x_0 = c/2 and x_1 = (a - c/2)/2^w modulo q, with which E1 holds."""
    def change(x, prover):
        prover.level.digits, w = x, prover.row.w
        halves = [y * pow(2, -1, Q) for y in c]
        first = [centred(y, Q) for y in halves]
        rest = [centred((a + (b << w) - y) * pow(2, -w, Q), Q) for a, b, y in zip(*x[:2], halves)]
        return [first, rest, *x[2:]]
    return change
def canonical(polynomials, prover):
    """The projection is that of digits in their ranges, which are those of the same message."""
    before = prover.level.before.row
    first, = [place for i, place in enumerate(prover.level.used_places())
              if i == before.f * before.n]
    return {**polynomials, **{first + i: p for i, p in enumerate(prover.level.before.digits)}}
ALL, ONE = [1] * 64, [0] * 5 + [1] + [0] * 58
def fractional():
    """What is behind the projection holds modulo q. In this row, the digits of z and of g are
    short whatever z and g are."""
    for name, c in (("half of X^5", ONE), ("half of all powers of X", ALL)):
        hooks = {(0, "x uA"): fractions(c), (1, "projected"): canonical,
                 (1, "projected x"): canonical}
        yield forgery(f"{name} as a digit", "e", hooks, (1, "P"), (1, "P_x"))
def other_digits():
    """x recomposes to another message; p is that of this x."""
    rules = {"uA": "E1", "uB": "E1", "u1": "E1", "u2": "E2", "b": "E6"}
    for row, number in (("a", 0), ("b", 1), ("c", 1)):
        for name in messages_of(number):
            hooks = {(number, "x " + name): lambda x, _: changed(x, 0, 1, 1)}
            yield forgery(f"x of {name} is another", row, hooks, (number + 1, rules[name]))

# ---- b, D ----------------------------------------------------------------------------------------
def wrong_b(at): return lambda b, _: changed(b, 0, at, 1)
def b32_plus_one(b, _): return [b[0], (b[1] + 1) % Q, b[2]]
def hidden_b():
    for row, number in (("a", 0), ("b", 1), ("c", 1)):
        for at in (0, 32) if row != "c" else ():
            hooks = {(number, "b values"): wrong_b(at)}
            yield forgery(f"b has a wrong coefficient {at}", row, hooks,
                          (number + 1, "T_b"), (number + 1, "E6"))
        yield forgery("b is wrong where T does not look", row, {(number, "b values"): wrong_b(5)},
                      (number + 1, "E6"))
        hooks = {(number, "y values"): y_plus_one, (number, "b values"): fitted}
        yield forgery("y is wrong, and T(b) with it", row, hooks, (number + 1, "E6"))
        yield forgery("y is wrong, and b right", row, {(number, "y values"): y_plus_one},
                      (number + 1, "T_b"))
    yield forgery("b_32 is wrong", "a", {(0, "b_32 values"): b32_plus_one}, (1, "T_b"))
def carried():
    """All levels on the way are hidden and go along: D is wrong in one after the other."""
    for row, end, what, hook in (
            ("b", 2, "y values", y_plus_one), ("b", 2, "b_32 values", b32_plus_one),
            ("b", 2, "uA", more(5)), ("b", 2, "b", more(20)),
            ("d", 3, "y values", y_plus_one), ("d", 3, "u2", more(9))):
        yield forgery(f"{what}: wrong", row, {(0, what): hook}, (end, "T_b"))
    yield forgery("y_x is wrong", "b", {(1, "y_x values"): y_plus_one}, (2, "T_b"))
def made_for(*left_out):
    """Lifts with coefficients 0 and 32 as a verifier wants them that leaves something out."""
    def change(b, prover):
        level = prover.level
        D, held = level.D, prover.held if level.number == 0 else []
        with without(*left_out): V.lift_right_side(level, held)
        out, level.D = fitted(b, prover), D
        return out
    return change
def right_sides():
    for kind in ("P_x", "Q", "T_b"):
        short = (1, "right sides", kind)
        yield forgery(f"D without the right sides of {kind}", "b",
                      {(1, "b values"): made_for(short)}, short, (2, "E6"))
def late_b_32(_, prover):
    """y of level 0 is wrong. b_32 is chosen when ω^b is known: two of its three numbers make the
    two equations over Z_q hold that one lift asks. Two lifts ask four."""
    toy, level, before, w = prover.toy, prover.level, prover.level.before, prover.level.omega[0]
    at = len(w) - 2 * before.lifts
    scalars = [w[at + 2 * i : at + 2 * i + 2] for i in range(3)]
    known = s_sum(s_times(scalar, (centred(p[0], Q) - D[0], 0))
                  for scalar, p, D in zip(scalars, before.true_b, before.D))
    assert any(known)
    # columns (-w_1, w_0) of i times a scalar: solve x (-a_1, a_0) + y (-b_1, b_0) = -known
    (a0, a1), (b0, b1) = scalars[:2]
    inverse = pow(-a1 * b0 + b1 * a0, -1, Q)
    x = (-known[0] * b0 - b1 * known[1]) * inverse
    y = (a1 * known[1] + a0 * known[0]) * inverse
    errors = [x % Q, y % Q, 0]
    before.b_32 = [(p[32] - e) % Q for p, e in zip(before.true_b, errors)]
    before.D = [(D[0], x) for D, x in zip(before.D, before.b_32)]
    toy.replace(0, "b_32", bits(before.b_32, 44))
def keep_b(b, prover):
    prover.level.true_b = b
    return b
def b_32_after_omega():
    hooks = {(0, "y values"): y_plus_one, (0, "b values"): keep_b, (1, "omega"): late_b_32}
    yield forgery("b_32 after ω of level 1", "a", hooks, (0, "b_32 absorbed"), (1, "lift", 1))

# ---- û, t̂ and e ---------------------------------------------------------------------------------
def less(by): return lambda polynomials, _: [[x - by for x in p] for p in polynomials]
def constants():
    for row, number in PLACES[:-1]:
        cut = ROWS[row][2][number][9]
        hooks = {(number, "e of " + name): less(1 << cut - 1)
                 for name in messages_of(number) if name != "b"}
        yield forgery("û without its constant", row, hooks, (number + 1, "constant of E1, E2"))
    for row, number in (("b", 1), ("c", 2)):
        by = 1 << ROWS[row][2][number][17] - 1
        hooks = {(number, "e values"): lambda e, _, by=by: [less(by)(each, None) for each in e]}
        yield forgery("t̂ without its constant", row, hooks, (number + 1, "constant of E3"))
def no_e(e, _): return [[[0] * 64 for _ in each] for each in e]
def another_e(e, _): return [changed(each, 0, 0, 1) for each in e]
def without_e(polynomials, prover):
    end = prover.r * prover.n
    return {place: p for place, p in polynomials.items() if place < end}
def e_elsewhere(polynomials, prover):
    end = prover.r * prover.n
    return {place + (place >= end): p for place, p in polynomials.items()}
def other_phi_e(_, prover):
    """h with e_1 more in φ on e_0 and e_0 less in φ on e_1: the sum that E6 reads is the same."""
    phi, rows, at = [list(x) for x in prover.phi_rows], prover.rows, prover.n
    phi[0][at], phi[1][at] = reduce(phi[0][at] + rows[1][at]), reduce(phi[1][at] - rows[0][at])
    return prover.h_of(phi)
def rows_of_e():
    for row, number in (("b", 1), ("c", 2)):
        def one(what, name, hook, *left_out):
            return forgery(what, row, {(number, name): hook}, *left_out)
        yield one("e = 0 and t' kept", "e values", no_e, (number + 1, "E3"))
        yield one("e is another and t' kept", "e values", another_e, (number + 1, "E3"))
        yield one("h by another φ_e", "h", other_phi_e, (number + 1, "E5"))
        yield one("no form on e", "projected", without_e, (number, "forms on e"))
        yield one("POLY of e is another", "projected", e_elsewhere, (number, "POLY of e"))
def shifted(by): return lambda t, _: [[[x + by for x in t[0][0]], *t[0][1:]], *t[1:]]
@functools.lru_cache(None)
def norm(row, number):
    level = honest(row).toy.levels[number]
    return V.norm_of(level.y, level.U, level.V)
def made_up(t, _):
    return [[[x * x % 2**39 - 2**38 for x in t[0][0]], *t[0][1:]], *t[1:]]
def without_e_0(polynomials, prover):
    first = prover.r * prover.n
    return {place: p for place, p in polynomials.items() if place != first}
def long_e():
    for row, number in (("b", 1), ("c", 2)):
        limit = lambda row=row, n=number: norm(row, n) * 5 // 4 // 288
        by = 1 << 12 - ROWS[row][2][number][17]
        yield forgery("e_0 is too long, t'_0 shifted", row, {(number, "t sent"): shifted(by)},
                      limit=(number, "inSq", limit), rule=f"proof: projection {number} is too long")
    hooks = {(1, "t sent"): made_up, (1, "projected"): without_e_0}
    yield forgery("t'_0 is made up", "e", hooks, (1, "P"))

# ---- what has no part in hidden messages ---------------------------------------------------------
def g_plus_one(number):
    """Of a pair that E6 does not read."""
    def change(g, prover):
        index = 0 if number == 0 else len(g) - 1
        return [reduce(x + 1) if i == index else x for i, x in enumerate(g)]
    return change
def not_empty(s, prover):
    padding = set(range(prover.r * prover.n)) - set(prover.level.used_places())
    return changed(s, max(padding), 7, 1)
def others():
    for row, number in (("a", 0), ("b", 1), ("c", 2)):
        yield forgery("g is another", row, {(number, "g"): g_plus_one(number)}, (number + 1, "E4"))
    for row, number in (("c", 0), ("c", 2), ("b", 2)):
        yield forgery("padding is not zero", row, {(number, "s"): not_empty},
                      (number, "padding"))
    # in a row of z, where E4 reads it too
    yield forgery("padding is not zero", "a", {(1, "s"): not_empty}, (1, "padding"), (1, "E4"))
    for row, number in (("a", 1), ("c", 2), ("b", 1)):
        yield forgery("one number of y", row, {(number, "y values"): y_plus_one},
                      (number, "P", 0))

GROUPS = {"messages": [old_p, other_label, one_number],
          "digits": [beyond_x, projection_of_x, fractional, other_digits],
          "lifts": [hidden_b, carried, right_sides, b_32_after_omega],
          "rests": [constants, rows_of_e, long_e, others]}
def forgeries(group, most=None):
    """All of a group, or at most so many of each kind."""
    return [each for make in GROUPS[group] for each in itertools.islice(make(), most)]
