"""Provers and verifiers that leave something out: a check, an equation, or a part of one. Both take
their functionals from the second verifier, so both change with it."""
import contextlib

from toy_math import Q, V, pack, reduce, times

SUBS = {"E1": 2, "E2": 3, "E3": 4, "E4": 5, "E6": 6, "padding": 7}  # P 10.2
def scalars_of(level, kind, *which):
    """Numbers of the scalars of stream 4 (P 8.5) for equations at this level: ("P",), ("P_x",),
    ("Q",) or ("T_b",), or one of them: ("P", j), ("P_x", j), ("Q", message), ("Q", message, row,
    j)."""
    if kind in ("P", "P_x"):
        first = 137 if kind == "P_x" else 0
        return [first + which[0]] if which else range(first, first + 137)
    before, at = level.before, 274
    k, places = before.row.k, {}
    for message in before.messages:
        places[message.name] = at
        at += 8 * k
    if kind == "T_b": return range(at, at + before.lifts)
    if not which: return range(274, at)
    first = places[which[0]]
    return [first + 8 * which[1] + which[2]] if which[1:] else range(first, first + 8 * k)
def scalars_zero(number, what):
    original = V.lift_challenges
    def patched(level, seeds):
        original(level, seeds)
        if level.number == number:
            level.omega = [list(w) for w in level.omega]
            for w in level.omega:
                for i in scalars_of(level, *what): w[2 * i] = w[2 * i + 1] = 0
    return {"lift_challenges": patched}
def coefficient_zero(number, subs, index=None):
    """The coefficient of a constraint, or one of several, is 0."""
    original = V.short_elements
    def patched(seeds, level, sub, indexes):
        found = original(seeds, level, sub, indexes)
        if level.number != number or sub not in subs: return found
        return [0 if index in (None, i) else x for i, x in zip(indexes, found)]
    return {"short_elements": patched}
def no_e5(number):
    original = V.inner_equations
    def patched(level, before, seeds, v):
        if level.number != number: return original(level, before, seeds, v)
        phi_z, phi_e = before.phi_z, before.phi_e
        before.phi_z, before.phi_e = [0] * len(phi_z), [0] * len(phi_e)
        found = original(level, before, seeds, v)
        before.phi_z, before.phi_e = phi_z, phi_e
        for index, (a, b) in enumerate(before.pairs):
            value = reduce(-times(before.c[a], before.c[b]))
            V.at_digits(v, before.v_h + index, len(before.pairs), before.row.fu, before.row.bu,
                        value)
        return found
    return {"inner_equations": patched}
def no_constant(number, name):
    """û in E1 and E2, or t̂ in E3, without its constant."""
    original, restored = getattr(V, name), V.restored
    def patched(level, before, seeds, v):
        if level.number == number:
            V.restored = lambda polynomials, cut: [pack([x << cut for x in p]) for p in polynomials]
        try: return original(level, before, seeds, v)
        finally: V.restored = restored
    return {name: patched}
def no_right_sides(number, kind):
    original = V.s_values
    def patched(level):
        values = original(level)
        if level.number == number:
            for i in scalars_of(level, kind): values[i] = (0, 0)
        return values
    return {"s_values": patched}
def forms_on_e(number, shift):
    """None, or those of the polynomials behind."""
    original = V.projections
    def patched(level, jl, places, omega):
        end = level.r * level.row.n
        if level.number != number: return original(level, jl, places, omega)
        if shift: return original(level, jl, [x + shift * (x >= end) for x in places], omega)
        found = original(level, jl, places, omega)
        nothing = [0] * level.lifts
        return (nothing if place >= end else x for place, x in zip(places, found))
    return {"projections": patched}
def b_32_not_absorbed():
    original = V.Transcript
    class Deaf(original):
        def absorb(self, label, data):
            has_b_32 = label == "b" and len(data) % 88 == 17
            super().absorb(label, data[:-17] if has_b_32 else data)
    return {"Transcript": Deaf}
def change(number, kind, *which):
    if kind in ("P", "P_x", "Q", "T_b"): return scalars_zero(number, (kind, *which))
    if kind in SUBS: return coefficient_zero(number, [SUBS[kind]])
    if kind == "lift": return coefficient_zero(number, [1], *which)
    if kind == "E5": return no_e5(number)
    if kind == "constant of E1, E2": return no_constant(number, "outer_equations")
    if kind == "constant of E3": return no_constant(number, "inner_equations")
    if kind == "right sides": return no_right_sides(number, *which)
    if kind == "forms on e": return forms_on_e(number, 0)
    if kind == "POLY of e": return forms_on_e(number, 1)
    assert kind == "b_32 absorbed"
    return b_32_not_absorbed()
NAMES = ("lift_challenges", "short_elements", "inner_equations", "outer_equations", "s_values",
         "projections", "Transcript")
WHOLE = {name: getattr(V, name) for name in NAMES}
@contextlib.contextmanager
def taking(parts):
    before = {name: getattr(V, name) for name in parts}
    try:
        for name, value in parts.items(): setattr(V, name, value)
        yield
    finally:
        for name, value in before.items(): setattr(V, name, value)
def whole(): return taking(WHOLE)  # inside of `without`
@contextlib.contextmanager
def without(*left_out):
    """`left_out`: (level, kind, ..) each; see `change`. The level is that which has the check."""
    with contextlib.ExitStack() as stack:
        for each in left_out: stack.enter_context(taking(change(*each)))
        yield
