"""An estimate of every commitment of the table that shares nothing with check.ts.

    python3 scripts/parameters/estimator.py [table.json] [bits]

Reads the numbers of the rows as docs/protocol.md, section 3, names them; takes from
docs/soundness.md what a commitment must withstand; and searches the number of columns and the block
size as the lattice estimator does (Module-SIS as SIS, Euclidean norm: delta^(d-1) q^(n/d), Chen's
delta, 0.292 beta for a whole beta).
Exit status 1 if a commitment is below `bits` (133) by the real block size.
"""
import json
import os
import sys
from math import ceil, e, floor, log, log2, pi, sqrt

Q = 2**44 - 117
BETA_SQ = {512: 34034726, 1024: 70265242}
# |c|_op^2 <= 377 for every challenge of a fold, sum |alpha_j| = 56; a projection leaves 24/5 open
OPERATOR = sqrt(377)
ALPHA = 56
SLACK = sqrt(24 / 5)


def log_delta(beta):
    return log(beta / (2 * pi * e) * (pi * beta) ** (1 / beta)) / (2 * (beta - 1))


def block_size(target):
    """the real block size whose log delta is the target; it falls from 60 on"""
    low, high = 60.0, 4000.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if log_delta(middle) > target else (low, middle)
    return high


def attack(rank, norm):
    """(real, whole) block size that finds a vector of the norm, with the best number of columns"""
    n, bound = round(64 * rank), log(norm)
    if norm >= Q:
        return 0.0, 0
    middle = 2 * n * log(Q) / bound

    def needed(d):
        return (bound - n / d * log(Q)) / (d - 1)

    best = max(needed(d) for d in range(int(middle * 0.9), int(middle * 1.1)))
    return block_size(best), ceil(block_size(needed(floor(middle))) - 1e-8)


def levels(row):
    """the levels of a row by the names of the protocol, each with the rows its parts take"""
    degree, bucket, numbers = row
    width = degree // 32 + 1
    parts, result = [width * bucket, 2 * bucket, width * bucket], []
    for i, level in enumerate(numbers):
        names = 'n f b fu bu fg bg kappa kappa1 cut inSq outSq codeY'
        if len(level) == 18:
            # shorter commitments (docs/decisions/0058)
            names += ' w quarters hiddenSq codeX cutT'
        if i == len(numbers) - 1:
            names = 'n kappa cut inSq outSq codeY codeE codesZ codesG'
        known = dict(zip(names.split(), level, strict=True))
        known['rows'] = [-(-part // known['n']) for part in parts]
        r = sum(known['rows'])
        if 'f' in known:
            cut_of_t = known.get('cutT', 0)
            digits_of_t = -(-(44 - cut_of_t) // known['bu']) * r * known['kappa']
            pairs = r * (r + 1) // 2
            outers, lifts = (3, 3) if i == 0 else (2, 2)
            errors = outers * known['kappa1'] if known['cut'] else 0
            if cut_of_t:
                errors += known['f'] * known['kappa']
            hidden, w = 0, known.get('w', 0)
            if w:
                hidden = outers * known['kappa1'] * -(-(44 - known['cut']) // w)
                hidden += lifts * -(-44 // w)
            parts = [known['n']] * known['f']
            parts.append(hidden + digits_of_t + (known['fg'] + known['fu']) * pairs + errors)
        result.append(known)
    return result


def commitments(row):
    """(level, what, rank, norm) for all that a row binds"""
    degree, bucket, _ = row
    chain = levels(row)
    bound = bucket * BETA_SQ[degree]
    assert chain[0]['inSq'] == bound
    for i, level in enumerate(chain):
        last = i == len(chain) - 1
        if last:
            # z and e are in clear
            opening, vector = 0.0, sqrt(level['outSq'])
        else:
            # what follows is short by its projection alone, and z has digits
            assert chain[i + 1]['inSq'] >= level['outSq']
            opening = SLACK * sqrt(chain[i + 1]['inSq'])
            vector = opening * sqrt(sum(4.0 ** (level['b'] * j) for j in range(level['f'])))
        # d (z - z') - d' (z'' - z") for differences d, d' of challenges, at most 2 T each
        yield i, 'inner 1', level['kappa'], 8 * OPERATOR * vector
        # z - z' less (c_a - c'_a) s_a, summed over the rows that are known to be short
        if i == 0:
            of_s = SLACK * sqrt(bound)
            rows = level['rows'][0] + level['rows'][2]
            known = 2 * OPERATOR * sqrt(rows) * sqrt(1 + ALPHA**2) * of_s
        else:
            known = 2 * OPERATOR * sqrt(sum(level['rows'])) * SLACK * sqrt(level['inSq'])
        yield i, 'inner 2', level['kappa'], 2 * vector + known
        if not last:
            yield i, 'outer', level['kappa1'], 2 * opening
        if level.get('w'):
            # rows over a ring of degree 16
            yield i, 'quarters', level['quarters'] / 4, 2 * SLACK * sqrt(level['hiddenSq'])


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    table_of_root = os.path.join(root, 'vectors', 'table.json')
    path = next((a for a in sys.argv[1:] if a.endswith('.json')), table_of_root)
    wanted = float(next((a for a in sys.argv[1:] if not a.endswith('.json')), 133))
    with open(path) as file:
        table = json.load(file)
    found = []
    for row in table:
        for i, what, rank, norm in commitments(row):
            found.append((*attack(rank, norm), row[0], row[1], i, what, rank, log2(norm)))
    found.sort()
    for real, whole, degree, bucket, i, what, rank, norm in found[:8]:
        print(f'{degree}:{bucket} level {i} {what} rank {rank} norm 2^{norm:.3f}: '
              f'block size {real:.3f}, 0.292: {.292 * real:.2f} (whole: {.292 * whole:.2f}), '
              f'0.257: {.257 * real:.2f}')
    below = [one for one in found if .292 * one[0] < wanted]
    print(f'{len(table)} rows, {len(found)} commitments, below {wanted:g}: {len(below)}')
    return 1 if below else 0


if __name__ == '__main__':
    sys.exit(main())
