#!/usr/bin/env python3
"""Takes the checks of verify.py out, one at a time, and shows a vector that is then accepted.
Every call of `check` in verify.py is in one of the tables below: with a bad vector of vectors/,
or with the reason why no vector can be accepted without it.
    checks.py [WORD ...]      all, or those with such a word in their name
Exit 0: each is noticed, 1: some is not, or a check is in no table.
"""
import ast, base64, json, pathlib, sys, time, types

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = (HERE / "verify.py").read_text()
VECTORS = HERE.parent.parent / "vectors"

# The function and what it calls `check` with as its rule; the vectors, a proof first.
NOTICED = """
decode_public_key: 'key: a coefficient is not below p'
    proof for its list: a coefficient and p
    bundle: a coefficient of a key and p
runs: neighbours + ': neighbouring runs are one'
    proof for its header: two runs of derived salts
    bundle: two runs of derived salts
runs: 'header: a run goes past the last item'
    proof for its header: a run of kinds past the end
    bundle: a run of kinds past the end
polynomials: f'bytes: a value of {what} is too large'
    prover: u'_A is above its range
rans: 'bytes: a state is too small'
    level 0 y: a state below 2^32, right otherwise
    bundle: a state below 2^32, right otherwise
rans: 'bytes: the states do not end as they must'
    level 0 y: the states end one higher
    bundle: the first state ends one higher
read_header: 'magic: this is no aggregate'
    proof for its header: magic
    bundle: magic
read_header: 'version: unknown'
    proof for its header: version 2
    bundle: version 1
read_list: 'header: wrong number of items'
    no items, proof
    no items, bundle
read_list: 'table: made with other rows of parameters'
    tag of the row
read_list: 'header: unknown kind'
    padded kind
read_list: 'profile: unknown'
    proof for its header: profile 1
    bundle: profile 1
read_list: 'list: of another length'
    a proof of the first of two items
    a bundle of the first of two items
read_list: 'list: other statements'
    proof for its header: commitment
    bundle: commitment
read_list: 'list: a kind names another parameter set than the key'
    proof for its header: kind of the other set
    bundle: kind of the other set
read_list: 'derivedSalt: a derived salt is written out'
    proof for its header: a derived salt written out
    bundle: derived salts written out
verify_bundle: f'signature: {i} of Falcon-{ps.n} does not fit its form'
    bundle: a signature that fills the padded length, as padded
verify_bundle: f'signature: {i} of Falcon-{ps.n} is not short'
    bundle: the second of two is too long by one
read_p: f'bytes: a value of p of {name} is not below q'
    prover: p_A has a number not below q
read_b: 'bytes: unused bits are not zero'
    filling of b is not zero
read: 'bytes: retry is above 15'
    retry 16
read: 'bytes: counter is above 15'
    counter 16
lift_challenges: f'proof: projection {level.number} is too long'
    prover: the projection of level 0 is too long
lift_challenges: f'proof: the projection of x at {level.number}: too long'
    prover: the projection of x at level 2 is too long
finish_tail: 'proof: z, e are too long'
    prover: z and e are too long
finish_tail: 'proof: wrong seal'
    prover: the seal of t is wrong
verify: 'bytes: some are left over'
    a byte after the end
verify_series: 'header: a series of no elements'
    series: no elements
verify_series: 'header: bytes behind a series'
    series: a byte behind the end
verify_series: 'list: longer than the series'
    series: a list longer by one
"""

# Why no vector is accepted without the check. vectors/README.md says more.
IMPOSSIBLE = """
invert: 'proof: an element that has to be inverted is no unit' | all of them are units: P 9.4
decode_public_key: 'key: first byte' | without a set there is nothing to read on with
decode_public_key: 'key: length' | without all of its coefficients there is no key
take: self.part + ': bytes are missing' | what reads past the end does not end at the end
gauss: 'bytes: unused bits are not zero' | every field has a multiple of eight bits
read_header: 'format: unknown' | a body is read by its format
salt_run: 'saltCoding: unknown' | a salt is made by its coding
read_levels: 'the table: an ordinary level has 18 integers' | the table is not the prover's
read_levels: 'the table: a range of w, k, X or tX' | the table is not the prover's
read_levels: 'the table: the range of ct' | the table is not the prover's
read_b: 'bytes: a value of b is not below q' | to find a lift below 117 takes 2^28 proofs
read: 'bytes: a value of g is too large' | the codes of the table have no such value
combine_level_0: 'proof: a functional is too large' | ten functionals have to miss: (3/p)^10
finish_tail: 'proof: the first and the last challenge have one square' | 2^-140
read_list: 'saltCoding: a salt is a constant one' | the next check refuses it by another word
hashes: 'table: no row for so many items of a set' | the table has no row for them
verify_series: 'header: a series of too many elements' | 4097 of them have three megabytes
from_hex: 'this is no hex' | not of an aggregate
read_task: 'the task file is no array' | not of an aggregate
"""

SHORT = "norm <= 288 * inSq"
NOT_AT = "(norm <= 288 * inSq or {})"
OF_X = "norm <= 288 * of_x[0]"
SEAL = "check(st.seal(label, pack44([unpack(x) for x in elements])) == seal,"
SECTION = "verify_section(r, header, row_of(table, ps, len(mine)), ps, mine)"
BUNDLE = "verify_bundle(r, header, ps, mine)"
def ignored(call, n):  # the verdict on the section of one set
    return "\n".join(["try: " + call, "                except Refused:",
                      f"                    if ps.n != {n}: raise"])
# Parts of a check, or such slips: a name, an edit of verify.py, and the vector.
PARTS = [
    ("a set by the length of the key",
     [('check(key[:1] in (b"\\x09", b"\\x0a"), "key: first byte")', "pass"),
      ("ps = SETS[key[0]]", "ps = SETS[9 if len(key) == 897 else 10]")],
     "proof for its list: 0 as the first byte"),
    ("zeros behind the end",
     [('check(self.at + length <= len(self.data), self.part + ": bytes are missing")', "pass"),
      ("self.at += length\n        return self.data[self.at - length : self.at]",
       "at, self.at = self.at, min(self.at + length, len(self.data))\n"
       "        return self.data[at : at + length].ljust(length, b'\\0')")],
     "bundle: the last byte, a zero, missing"),
    ("format 3 is a bundle",
     [('check(form in (BUNDLE, PROOF), "format: unknown")', "form = PROOF if form == 2 else 1")],
     "bundle: format 3"),
    ("coding 3 is the first one",
     [('check(coding in (EXPLICIT, CONSTANT, DERIVED), "saltCoding: unknown")', "coding %= 3")],
     "bundle: coding 3 of salts"),
    ("constant salts written out",
     [('check(own == coding or own == DERIVED, "saltCoding: a salt is a constant one")', "pass"),
      ("check(own == coding,", "check(own in (coding, CONSTANT),")],
     "proof for its header: a constant salt written out"),
    ("runs of kinds", [("not values or values[-1] != value", "not values or values[-1] != value "
      'or neighbours == "header"')], "bundle: two runs of one kind"),
    ("end of the second state", [("x == ends,", "x[0] == ends[0],")],
     "bundle: the second state ends one higher"),
    ("the first signature alone", [("<= ps.beta2\n", "<= ps.beta2 or i > 0\n")],
     "bundle: the second of two is too long by one"),
    ("bundle, section of falcon512", [(BUNDLE, ignored(BUNDLE, 512))],
     "bundle: the one of falcon512 is too long by one"),
    ("bundle, section of falcon1024", [(BUNDLE, ignored(BUNDLE, 1024))],
     "bundle: the one of falcon1024 is too long by one"),
    ("section of falcon512", [(SECTION, ignored(SECTION, 512))],
     "2 + 1 items, mixed: the section of falcon512 alone is wrong"),
    ("section of falcon1024", [(SECTION, ignored(SECTION, 1024))],
     "2 + 1 items, mixed: the section of falcon1024 alone is wrong"),
    ("numbers of p_b",
     [("check(max(self.p[name]) < Q,", 'check(name == "b" or max(self.p[name]) < Q,')],
     "prover: p_b has a number not below q"),
    ("bits behind b_32", [("unused == 0", "unused == 0 or count == 3")],
     "9 items, level 0: the last bit behind b_32 is set"),
    ("retry of the tail", [("self.retry[0] <= 15", "self.tail or self.retry[0] <= 15")],
     "retry 16 in the tail"),
    ("projection of an ordinary level", [(SHORT, NOT_AT.format("level.number == 1"))],
     "prover: the projection of an ordinary level is too long"),
    ("projection behind a hidden level", [(SHORT, NOT_AT.format("level.behind_hidden"))],
     "prover: the projection behind a hidden level is too long"),
    ("projection of the tail", [(SHORT, NOT_AT.format("level.tail"))],
     "prover: the projection of the tail is too long"),
    ("y* in the norm", [("for value in y)", "for value in y[::2])")],
     "prover: the projection of level 0 is too long"),
    ("projection of x at level 1", [(OF_X, f"({OF_X} or level.number == 1)")],
     "9 items, level 0: x is too long"),
    ("e in the last norm",
     [("for p in level.ze for x in p", "for p in level.ze[:row.n] for x in p")],
     "prover: z and e are too long"),
    ("seal of h", [(SEAL, SEAL.replace("check(", 'check(label == "h" or '))],
     "prover: the seal of h is wrong"),
]

def module_of(code):
    module = types.ModuleType("verify")
    module.__file__ = str(HERE / "verify.py")
    exec(compile(code, "verify.py", "exec"), module.__dict__)
    return module
def vectors_of(text):
    """(check, vector), from lines with a check and indented ones with its vectors."""
    pairs, check = [], ""
    for line in text.strip().splitlines():
        if line.startswith("    "): pairs.append((check, line.strip()))
        else: check = line
    return pairs
def calls(tree):
    """The calls of `check` by their name: function and rule."""
    found, functions = {}, [x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)]
    for function in sorted(functions, key=lambda x: x.lineno):  # inner functions come later
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check":
                found[id(node)] = (f"{function.name}: {ast.unparse(node.args[1])}", node)
    names = [name for name, _ in found.values()]
    assert len(set(names)) == len(names), "two checks have one name"
    return dict(found.values())
def without(name):
    """verify.py, this check without effect."""
    tree = ast.parse(SOURCE)
    call = calls(tree)[name]
    call.args[0] = ast.BoolOp(ast.Or(), [call.args[0], ast.Constant(True)])
    return ast.fix_missing_locations(tree)
def edited(edits):
    code = SOURCE
    for old, new in edits:
        assert code.count(old) == 1, f"not once in verify.py: {old}"
        code = code.replace(old, new)
    return code
def cases():
    """By the name of a bad case: its aggregate and its items."""
    load = lambda name: json.loads((VECTORS / name).read_text())
    items, good, bad = load("items.json"), {}, {}
    good = {case["name"]: base64.b64decode(case["aggregate"]) for case in load("good.json")}
    for case in load("bad.json") + [x for x in load("series.json") if not x["valid"]]:
        if edit := case.get("edit"):
            base, at, put = good[edit["of"]], edit["at"], bytes.fromhex(edit["put"])
            aggregate = base[:at] + put + base[at + edit["remove"] :]
        else:
            aggregate = base64.b64decode(case["aggregate"])
        bad[case["name"]] = aggregate, [items[i] for i in case["items"]]
    return bad
def main(words):
    bad, whole, wrong = cases(), module_of(SOURCE), 0
    noticed = vectors_of(NOTICED)
    impossible = dict(line.split(" | ") for line in IMPOSSIBLE.strip().splitlines())
    names = set(calls(ast.parse(SOURCE)))
    for name in sorted(names ^ {*dict(noticed), *impossible}):
        print("WRONG", name, "-", "in no table" if name in names else "no check of verify.py")
        wrong += 1
    mutants = [(name, vector, without, name) for name, vector in noticed if name in names]
    mutants += [(name, vector, edited, edits) for name, edits, vector in PARTS]
    for name, vector, make, what in mutants:
        if words and not any(word in name for word in words): continue
        started, (aggregate, items) = time.time(), bad[vector]
        module = module_of(make(what))
        module.KEY_ROWS = whole.KEY_ROWS  # the same for all
        before, after = (x.judge(aggregate, x.read_task(items)) for x in (whole, module))
        right = not before[0] and after[0]
        print("ok" if right else "WRONG", name, "-", vector,
              f"({time.time() - started:.1f} s)" if right else f"- {before} {after}", flush=True)
        wrong += not right
    for name, reason in sorted(impossible.items()):
        if not words: print("none", name, "-", reason)
    return 1 if wrong else 0

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
