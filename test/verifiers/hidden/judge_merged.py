"""Judges merged proofs: JSON on standard input, a list of {rows, as, items: [{publicKey, message}],
proof}, bytes in hex. `rows` have the hashes of the rows `as`, so that a proof can be judged by other
limits than those that it was made with; without rows those of the repository are used. Prints a
JSON list with the broken rule of each, or null, where levels and fields begin, but for words of two
bytes, and all norms of projections. An exception that is no refusal ends it."""
import json, sys
from unittest import mock

from toy_math import V
import merged

def verdict(case):
    levels, fields, norms, rows, hash_of = [], [], [], case["rows"], V.hash_of
    made = [pair for row, other in zip(rows or [], case["as"] or [])
            for pair in ((row[0], other[0]), (row, other))]
    def own_hash(row): return hash_of(next((other for x, other in made if x == row), row))
    def read(level, r, original=V.Level.read):
        levels.append(r.at)
        original(level, r)
    def take(r, length, original=V.Reader.take):
        if length != 2: fields.append(r.at)
        return original(r, length)
    def norm_of(*y, original=V.norm_of):
        norms.append(original(*y))
        return norms[-1]
    pairs = [tuple(bytes.fromhex(x[name]) for name in ("publicKey", "message"))
             for x in case["items"]]
    rule = None
    with mock.patch.object(V, "hash_of", own_hash), mock.patch.object(V, "norm_of", norm_of), \
            mock.patch.object(V.Level, "read", read), mock.patch.object(V.Reader, "take", take):
        proof, load = bytes.fromhex(case["proof"]), merged.load_rows
        own = (lambda: merged.read_rows(rows)) if rows else load
        with mock.patch.object(merged, "load_rows", own):
            try: V.FORMATS.get(proof[:6], merged.verify_merged)(proof, pairs, None)
            except V.Refused as refusal: rule = str(refusal)
    return {"rule": rule, "levels": levels, "fields": fields, "norms": norms}
if __name__ == "__main__": print(json.dumps([verdict(case) for case in json.load(sys.stdin)]))
