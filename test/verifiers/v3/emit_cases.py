"""Prints proofs of the slow prover of toy rows for another verifier to judge: a JSON list of {name,
row, header, tableHash, items: [{publicKey, message, salt}], proof, isSound}, bytes in hex. The
argument is one of the groups below. A forged proof is one that a verifier accepts which forgets one
kind of equation at one level."""
import json, sys

from test_v3 import centre_moved, more, without, y_plus_one
from toy_case import ROWS, TABLE_HASH, Case
from toy_prover import Q

def printed(name, case, is_sound):
    items = [dict(zip(("publicKey", "message", "salt"), (x.hex() for x in item)))
             for item in case.list]
    return {"name": name, "row": case.row, "header": case.header.hex(), "items": items,
            "tableHash": TABLE_HASH.hex(), "proof": bytes(case.toy.proof).hex(),
            "isSound": is_sound}
def changed(row, faults, is_sound=False):
    case = Case(ROWS[row], faults, count=1)
    assert case.toy.met == len(faults), faults
    return printed(f"{row}: {sorted(faults)}", case, is_sound)
def forged(row, faults, number, kind):
    with without(number, kind): return {**changed(row, faults), "kind": f"{kind} at {number}"}
def honest():
    for row, count in (("a", 1), ("b", 1), ("c", 2), ("c", 1), ("d", 1)):
        yield printed(f"{row}, {count}", Case(ROWS[row], None, count=count), True)
def moved(count):
    """2^w at digit 0 instead of one at digit 1: nothing asks for canonical digits."""
    def change(x):
        x = [list(p) for p in x]
        x[0][5] += 4
        x[count][5] -= 1
        return x
    return change
def equations():
    for row, number, message, index in (
            ("a", 0, "uA", 0), ("a", 0, "uB", 8 + 16), ("a", 0, "b", 95), ("a", 0, "u2", 39),
            ("b", 1, "u1", 7), ("b", 1, "b", 40), ("b", 1, "u2", 88), ("c", 1, "u1", 15)):
        yield forged(row, {(number, message): more(index)}, number + 1, "Q")
    for row, number, kind, change in (
            ("a", 1, "P_x", y_plus_one), ("a", 1, "P_x", centre_moved), ("b", 1, "T_b", y_plus_one)):
        at = 1 if kind == "P_x" else 2
        yield forged(row, {(number, "y_x values"): change}, at, kind)
    for row, number in (("a", 0), ("b", 1)):
        yield forged(row, {(number, "y values"): y_plus_one}, number + 1, "T_b")
    def b32(b): return [b[0], (b[1] + 1) % Q, b[2]]
    yield forged("a", {(0, "b_32 values"): b32}, 1, "T_b")
    yield forged("b", {(0, "uA"): more(5)}, 2, "T_b")
def digits():
    def one_more(x): return [[x[0][0] + 1, *x[0][1:]], *x[1:]]
    for row, number, message in (("a", 0, "uA"), ("a", 0, "uB"), ("a", 0, "b"), ("a", 0, "u2"),
                                 ("b", 1, "u1"), ("b", 1, "b"), ("b", 1, "u2")):
        yield changed(row, {(number, "x " + message): one_more})
    yield changed("a", {(0, "x uA"): moved(1), (0, "x b"): moved(3)}, True)
    def another(e): return [[[p[0] + 1, *p[1:]] for p in row] for row in e]
    def zero(e): return [[[0] * 64 for _ in row] for row in e]
    for row, number in (("b", 1), ("c", 2)):
        for change in (another, zero): yield changed(row, {(number, "e values"): change})

print(json.dumps(list({"honest": honest, "equations": equations, "digits": digits}[sys.argv[1]]())))
