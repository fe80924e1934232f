"""Prints proofs of the slow prover of toy rows for another verifier to judge: a JSON list of
{name, row, header, rowHash, items: [{publicKey, message, salt}], proof}, bytes in hex. The first
argument is "sound", or a group of adversaries.py; the second one, if any, how many of each kind.
With a cheating proof is what the second verifier says, null if it accepts, or the broken rule.
`forgetful`: without the rules that the proof breaks; `whole`: with them, to this proof and to one
whose prover has all functionals; `partial`: without one of the rules, for each of them if there are
several."""
import json, sys

from adversaries import forgeries, moved
from toy_case import ROW_HASH, Case, honest

def printed(name, case, row=None, **more):
    items = [dict(zip(("publicKey", "message", "salt"), (x.hex() for x in item)))
             for item in case.list]
    return {"name": name, "row": row or case.row, "header": case.header.hex(), "items": items,
            "rowHash": ROW_HASH.hex(), "proof": case.toy.proof.hex(), **more}
def sound():
    for row in "abcde": yield printed(f"{row}, 1 item", honest(row))
    yield printed("c, 2 items", Case("c", count=2))
    # nothing asks for digits in their ranges
    hooks = {(0, "x uA"): moved(1, 2, 1), (0, "x b"): moved(3, 2, 1)}
    yield printed("a, digits beyond their ranges", Case("a", hooks, count=1))
def unsound(group, most=None):
    for each in forgeries(group, most and int(most)):
        case, forgetful, whole, partial = each.judged()
        yield printed(each.name, case, each.limited(), rule=each.rule, forgetful=forgetful,
                      whole=whole, partial=partial, rules=len(each.left_out))

if __name__ == "__main__":
    print(json.dumps(list(sound() if sys.argv[1] == "sound" else unsound(*sys.argv[1:]))))
