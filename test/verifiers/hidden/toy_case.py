"""Toy rows with hidden messages, items and headers for the tests of the second verifier."""
import functools, hashlib, itertools, json, pathlib, struct

from left_out import whole
from toy_math import V, decode_signature
from toy_prover import Toy

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROW_HASH = bytes(range(255, 223, -1))

def tail(n, r, tY, tZ=63, tG=128, kappa=1, cut=10, tE=56):
    return [n, kappa, cut, 2**42, 2**42, tY, tE, [[n - 3, tZ], [3, tZ - 2]],
            [tG] * (r * (r + 1) // 2 - 1)]
ROWS = {
    # level 0 hidden, tail
    "a": [512, 1, [
        [17, 2, 7, 5, 9, 4, 7, 1, 1, 9, 2**28, 2**36, 80, 2, 6, 20000, 28, 0],
        tail(64, 5, 90)]],
    # level 0 hidden, level 1 hidden with ct = 4, tail
    "b": [512, 1, [
        [17, 2, 7, 5, 9, 4, 7, 1, 1, 9, 2**28, 2**36, 80, 2, 6, 20000, 28, 0],
        [64, 2, 7, 5, 9, 4, 7, 1, 1, 6, 2**36, 2**37, 90, 3, 6, 50000, 32, 4],
        tail(100, 5, 96)]],
    # level 0 open, level 1 hidden, level 2 open with ct, tail
    "c": [512, 2, [
        [34, 2, 7, 5, 9, 4, 7, 1, 1, 0, 2**28, 2**36, 84, 0, 0, 0, 0, 0],
        [64, 2, 7, 5, 9, 4, 7, 1, 1, 6, 2**36, 2**37, 90, 3, 6, 50000, 32, 0],
        [96, 2, 7, 5, 9, 4, 7, 1, 2, 5, 2**37, 2**38, 96, 0, 0, 0, 0, 8],
        tail(128, 3, 98)]],
    # nothing cut, two ranks, a bucket that is not full, three hidden levels in a row
    "d": [512, 2, [
        [34, 2, 7, 5, 9, 4, 7, 2, 2, 0, 2**28, 2**36, 84, 2, 7, 40000, 30, 0],
        [120, 2, 7, 5, 9, 4, 7, 2, 2, 0, 2**36, 2**37, 90, 6, 8, 1500000, 50, 7],
        [120, 3, 7, 5, 9, 4, 7, 2, 2, 5, 2**37, 2**38, 96, 4, 6, 100000, 40, 15],
        tail(128, 5, 98, kappa=2)]],
    # level 0 hidden, level 1 open with ct; the digits of levels 1 and 2 hold whatever is modulo q
    "e": [512, 1, [
        [17, 2, 7, 5, 9, 4, 7, 1, 1, 9, 2**28, 2**36, 80, 2, 6, 20000, 28, 0],
        [64, 5, 7, 5, 9, 5, 9, 1, 1, 6, 2**36, 2**42, 90, 0, 0, 0, 0, 4],
        [100, 3, 7, 5, 9, 5, 9, 1, 1, 6, 2**42, 2**42, 112, 0, 0, 0, 0, 0],
        tail(150, 6, 98)]],
}
def signed_items(set_size, count):
    """(public key, message, signature) of vectors/items.json."""
    found = []
    for item in json.loads((ROOT / "vectors/items.json").read_text()):
        key, message, signature = (V.from_hex(item[x]) for x in
                                   ("public_key", "digest", "signature"))
        if key[0] == {512: 9, 1024: 10}[set_size]: found.append((key, message, signature))
    return found[:count]
def tag_of(row_hash): return hashlib.shake_256(row_hash).digest(4)  # P 2.1, one section
def header_of(items, row_hash, version=3):
    """B 1, 2 for items of one set, (public key, message, salt) each."""
    statements = [V.Statement(*V.decode_public_key(key), key, message) for key, message, _ in items]
    ps, out = statements[0].ps, [b"FLRY", bytes([V.PROOF, version])]
    out += [V.statement_commitment(statements), struct.pack(">H", len(items)), tag_of(row_hash)]
    out.append(struct.pack(">H", (3 if ps.logn == 10 else 0) << 13 | len(items) - 1) + b"\0")
    codings, written = [], []
    for (_, _, salt), s in zip(items, statements):
        coding = V.coding_of(salt, s)
        codings.append((coding, salt[0] if coding == V.CONSTANT else None))
        if coding == V.EXPLICIT: written.append(salt)
    for (coding, number), run in itertools.groupby(codings):
        out.append(struct.pack(">H", coding << 13 | len(list(run)) - 1))
        if number is not None: out.append(bytes([number]))
    return b"".join(out + written)
def items_of(items):
    parts = []
    for key, message, salt in items:
        ps, h = V.decode_public_key(key)
        point = V.hash_to_point(salt + message, ps.n)
        parts.append(V.Item(ps, h, point, 3 if ps.logn == 10 else 0))
    return parts
class Case:
    """A proof of the toy prover and what it is for. Levels before `start` are those of `base`, or
    of the honest proof of the row; the ones behind may take another row."""
    def __init__(self, name, hooks=None, count=None, start=0, row=None, base=None):
        row = row or ROWS[name]
        signed = signed_items(row[0], count or row[1])
        s2 = [decode_signature(signature, row[0])[0] for _, _, signature in signed]
        self.row, self.list = row, [(key, message, sig[1:41]) for key, message, sig in signed]
        self.header, self.items = header_of(self.list, ROW_HASH), items_of(self.list)
        base, signed = (base or honest(name)).toy if start else None, list(zip(self.items, s2))
        self.toy = Toy(row, signed, self.header, ROW_HASH, hooks, base, start)
    def verdict(self, proof=None, row=None):
        proof = self.toy.proof if proof is None else proof
        return judge(proof, self.header, row or self.row, ROW_HASH, self.items)
@functools.lru_cache(None)
def honest(name):
    with whole(): return Case(name, count=1)
def judge(proof, header, row, row_hash, items):
    """None, or the rule that is broken."""
    r = V.Reader(proof)
    r.part = "bytes"
    try:
        V.verify_section(r, header, (*row[1:], row_hash), items[0].ps, items)
        V.check(r.at == len(proof), "bytes: some are left over")
    except V.Refused as refusal:
        return str(refusal)
    return None
