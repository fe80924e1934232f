"""Judges proofs that another prover made: JSON on standard input, a list of {row, header,
rowHash, items: [{publicKey, message, salt}], proof}, bytes in hex. Prints a JSON list with null
or the broken rule of each."""
import json, sys

from toy_case import items_of, judge

def bytes_of(text): return bytes.fromhex(text)
verdicts = []
for case in json.load(sys.stdin):
    items = [tuple(bytes_of(item[x]) for x in ("publicKey", "message", "salt"))
             for item in case["items"]]
    proof, header, row_hash = (bytes_of(case[x]) for x in ("proof", "header", "rowHash"))
    verdicts.append(judge(proof, header, case["row"], row_hash, items_of(items)))
print(json.dumps(verdicts))
