"""A second check of vectors/table.json, written from docs/protocol.md and docs/soundness.md alone,
and of vectors/mergedTable.json, from docs/merged.md.

    python3 proofs/table.py [--bkz] [TABLE [MERGED]]     --bkz also simulates BKZ for every (k, B)

Prints the figures that docs/soundness.md claims, and exits with 1 if one is missed.
"""
import json
import math
import os
import sys
from functools import lru_cache
from math import ceil, comb, isqrt, lgamma, log, log2, pi, sqrt

Q, P, D = 2**44 - 117, 12289, 64
GAMMA_SQ, T, BETA_SQ = 24 / 5, sqrt(377), {512: 34034726, 1024: 70265242}
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
FILE = os.path.join(ROOT, 'vectors/table.json')
MERGED = os.path.join(ROOT, 'vectors/mergedTable.json')
NAMES = 'n f b fu bu fg bg kappa kappa1 cut inSq outSq tY w k X tX ct'.split()
TAIL = 'n kappa cut inSq outSq tY tE'.split()
missed = []


def claim(text, holds):
    print(f'{"ok    " if holds else "MISSED"} {text}')
    if not holds:
        missed.append(text)


def levels_of(row, parts=1):
    """The levels with their shapes (protocol 3): lengths, rows, r, m, x; J of every projection.

    Level 1 is after so many parts (merged 1.1)."""
    set_, bucket, levels = row
    width, out = 2 * set_ // 64 + 1, []
    for i, numbers in enumerate(levels):
        tail = i == len(levels) - 1
        lv = dict(zip(TAIL if tail else NAMES, numbers))
        lv['tail'] = tail
        if i == 0:
            lengths = [width * bucket, 2 * bucket, width * bucket]
        else:
            times = parts if i == 1 else 1
            lengths = [out[-1]['n']] * (out[-1]['f'] * times) + [out[-1]['m'] * times]
        rows = [ceil(length / lv['n']) for length in lengths]
        lv['lengths'], lv['rows'], lv['r'] = lengths, rows, sum(rows)
        lv['J'] = lengths[0] if i == 0 else sum(lengths)
        if tail or lv['ct'] > 0:
            lv['J'] += lv['r'] * lv['kappa']
        if not tail:
            outer = 3 if i == 0 else 2
            pairs = lv['r'] * (lv['r'] + 1) // 2
            ft = lv['fu'] if lv['ct'] == 0 else ceil((44 - lv['ct']) / lv['bu'])
            lv['x'] = 0 if lv['w'] == 0 else outer * (
                lv['kappa1'] * ceil((44 - lv['cut']) / lv['w']) + ceil(44 / lv['w']))
            lv['m'] = (lv['x'] + ft * lv['r'] * lv['kappa'] + (lv['fg'] + lv['fu']) * pairs
                       + (lv['f'] * lv['kappa'] if lv['ct'] else 0)
                       + (outer * lv['kappa1'] if lv['cut'] else 0))
        out.append(lv)
    return out


def pairs_of(row, levels):
    """(kind, rows over Z_q, log2 B) of soundness 3.2.4."""
    for i, lv in enumerate(levels):
        gamma_in = sqrt(GAMMA_SQ * lv['inSq'])
        if lv['tail']:
            zeta = sqrt(lv['outSq'])
        else:
            gamma_next = sqrt(GAMMA_SQ * levels[i + 1]['inSq'])
            zeta = sqrt(sum(4 ** (lv['b'] * j) for j in range(lv['f']))) * gamma_next
            yield 'outer', 64 * lv['kappa1'], log2(2 * gamma_next)
            if lv['w']:
                yield 'quarters', 16 * lv['k'], log2(2 * sqrt(GAMMA_SQ * lv['X']))
        yield 'first branch', 64 * lv['kappa'], log2(8 * T * zeta)
        if i:
            second = 2 * (zeta + T * sqrt(lv['r']) * gamma_in)
        else:
            rows = lv['rows'][0] + lv['rows'][2]
            second = 2 * zeta + 2 * T * sqrt(rows * (1 + 56**2) * GAMMA_SQ * row[1]
                                             * BETA_SQ[row[0]])
        yield 'second branch', 64 * lv['kappa'], log2(second)


def log_delta(block):
    """ln of Chen's root Hermite factor."""
    return (log(pi * block) / block + log(block / (2 * pi * math.e))) / (2 * (block - 1))


@lru_cache(maxsize=None)
def block_size(rows, log2_b):
    """The block size at which the shortest vector 2 sqrt(rows ln q ln d) - ln d reaches B."""
    a, ln_b = rows * log(Q), log2_b * log(2)
    if ln_b >= a:
        return 0.0
    wanted = (sqrt(a) - sqrt(a - ln_b)) ** 2
    low, high = 60.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if log_delta(middle) > wanted else (low, middle)
    return low


@lru_cache(maxsize=None)
def ball(d):
    """log2 of the shortest vector of a random lattice of volume 1 (Gaussian heuristic)."""
    return (lgamma(d / 2 + 1) / d - log(pi) / 2) / log(2)


def simulate(rows, d, block, tours=2000):
    """log2 |b_1| after BKZ (Chen and Nguyen 2011); the last 50 places share their volume evenly."""
    lq, total = log2(Q), rows * log2(Q)
    slope = 2 * log2(1.0075)
    profile = [min(lq, max(0.0, total / d + slope * ((d - 1) / 2 - i))) for i in range(d)]
    shift = (total - sum(profile)) / d
    profile = [x + shift for x in profile]
    for _ in range(tours):
        sums, new, acc, unchanged, worst = [0.0], [], 0.0, True, 0.0
        for x in profile:
            sums.append(sums[-1] + x)
        for i in range(d - 50):
            size = min(block, d - i)
            value = (sums[min(i + block, d)] - acc) / size + ball(size)
            if unchanged and value >= profile[i]:
                value = profile[i]
            else:
                unchanged = False
            new.append(value)
            acc += value
            worst = max(worst, abs(value - profile[i]))
        rest = (total - acc) / 50
        profile = new + [rest + slope * (24.5 - i) for i in range(50)]
        if worst < 1e-5:
            break
    return profile[0]


def simulated(rows, block):
    """The least log2 |b_1| over the numbers of columns near the best of a straight profile."""
    best = sqrt(rows * log(Q) / log_delta(block))
    return min(simulate(rows, round(best * s), block) for s in (0.94, 1.0, 1.06, 1.12))


def check_row(row, levels):
    """The other inequalities of 3.7, items 3 to 8."""
    set_, bucket, _ = row
    beta_sq = bucket * BETA_SQ[set_]
    yield 'inSq_0 = N beta^2', levels[0]['inSq'] == beta_sq
    yield 'gamma^2 N beta^2 < q', 24 * beta_sq < 5 * Q
    yield 'functionals', 6144**2 * bucket * beta_sq * 2 * set_ * 4 < Q * Q
    for i, lv in enumerate(levels):
        if i:
            yield 'inSq >= outSq before', lv['inSq'] >= levels[i - 1]['outSq']
        projections = [(lv['J'], lv['inSq'])]
        if i and levels[i - 1]['w']:
            projections.append((levels[i - 1]['x'], levels[i - 1]['X']))
        for j, in_sq in projections:
            ell, lam = isqrt(288 * in_sq // 30) + 1, isqrt(288 * in_sq) + 1
            yield '128 J l + 2^32 < q', 128 * j * ell + 2**32 < Q
            yield '2 (Lambda + l) < q', 2 * (lam + ell) < Q
        yield 'r <= 76', lv['r'] <= 76
        yield 'norms below 2^43', max(lv['inSq'], lv['outSq'], lv.get('X', 0)) < 2**43
        if lv['tail']:
            yield 'r of the tail', lv['r'] >= 2 and lv['rows'][-1] >= 1
            yield 'cut of the tail', 4 <= lv['cut'] <= 15
            continue
        yield 'ct', lv['ct'] == 0 or (i > 0 and 4 <= lv['ct'] <= 15)
        yield 'cut', lv['cut'] == 0 or 4 <= lv['cut'] <= 15
        yield 'digits', (1 <= lv['f'] <= 3 and 2 <= lv['b'] <= 13 and lv['fu'] * lv['bu'] >= 44
                         > (lv['fu'] - 1) * lv['bu'] and (lv['fg'] - 1) * lv['bg'] < 44)
        hidden = 2 <= lv['w'] <= 6 and lv['k'] >= 6 and lv['X'] > 0 and lv['tX'] <= 143
        yield 'hidden', hidden if lv['w'] else lv['k'] == lv['X'] == lv['tX'] == 0


def errors(levels):
    """The errors of all rounds (3.4), with half of the candidates for C."""
    fact = math.factorial
    alpha = fact(64) // (fact(21) * fact(30) * fact(13)) * 2**43
    c = fact(64) // (fact(22) * fact(28) * fact(12) * 2) * 2**42 / 2
    out = [1 / alpha, P**-10.0, Q**-3.0 + 2.0**-192]
    for i, lv in enumerate(levels):
        out += [2.0**-134.10, 2.0**-192, (2 * lv['r'] + 2) / c] + ([Q**-4.0] if i else [])
    return out


def passes(room):
    """Whether a vector passes whose squared norm is the room-th part of its bound: chi^2."""
    mean = 144 * room
    return 1 - sum(math.exp(k * log(mean) - mean - lgamma(k + 1)) for k in range(136))


def check_merged(row, errors_are):
    """A row of one proof over many parts: its pairs, and the exponent of its runs (merged 3.2)."""
    (set_, bucket, zero, (in_p, t_p, x_p, t_xp)), parts, above = row
    whole = levels_of((set_, bucket, [zero] + above), parts)
    one, name = whole[1], f'{parts} parts: '
    claim(name + 'level 1 not cut', one['ct'] == one['inSq'] == one['tY'] == 0)
    # level 0 and the projections are those of one part
    block = [dict(whole[0], X=x_p, tX=t_xp), dict(one, inSq=in_p), *whole[2:]]
    block[1]['J'] = whole[0]['f'] * whole[0]['n'] + whole[0]['m']
    whole[1] = dict(one, inSq=parts * in_p)
    for text, holds in check_row((set_, bucket, 0), block):
        if not holds:
            claim(name + text, False)
    x, out = zero[NAMES.index('X')], whole[0]['outSq']
    codes = [t_p, t_xp] + [lv['tY'] for lv in whole] + [lv.get('tX', 0) for lv in whole]
    claim(name + 'inP, XP, indices', in_p >= out and x_p >= x and max(codes) <= 143)
    passed = (passes(in_p / out) * passes(x_p / x)) ** parts
    claim(f'{name}a counter passes with {passed:.2f}, 0.35 claimed', passed >= 0.35)
    of_parts = sum(errors(whole[:1])) * parts
    common = sum(errors(whole)) - sum(errors(whole[:1])) + 3 * Q**-4.0
    total = log2(of_parts + common)
    claim(f'{name}errors 2^{total:.3f}, 2^-{errors_are} claimed', total <= -errors_are)
    claim(name + 'r <= 76', max(lv['r'] for lv in whole) <= 76)
    runs, sums = 1, 0
    for lv in whole[:0:-1]:
        runs *= lv['r'] + 1
        sums += runs
    log2_k = log2(7 * parts * runs * (whole[0]['r'] + 1) + 4 * sums)
    pairs = [list(pairs_of((set_, bucket), levels)) for levels in (block, whole)]
    of_zero = 3 + (whole[0]['w'] > 0)
    return pairs[0][:of_zero] + pairs[1][of_zero:], log2_k


def main():
    files = [each for each in sys.argv[1:] if each != '--bkz']
    with open(files[0] if files else FILE, encoding='utf8') as file:
        table = [(row, levels_of(row)) for row in json.load(file)]
    pairs = [pair for row, levels in table for pair in pairs_of(row, levels)]
    quarters = [pair for pair in pairs if pair[0] == 'quarters']
    whole = [pair for pair in pairs if pair[0] != 'quarters']
    claim(f'{len(table)} rows', len(table) == 102)
    claim(f'{len(pairs)} pairs, {len(quarters)} in quarters',
          (len(pairs), len(quarters)) == (1867, 280))
    least = min(block_size(n, b) for _, n, b in whole)
    claim(f'whole ranks: at least {0.292 * least:.3f} bits, 133 claimed', 0.292 * least >= 133)
    claim(f'by quantum sieving: {0.257 * least:.2f} bits, 117 claimed', 0.257 * least >= 117)
    least = min(block_size(n, b) for _, n, b in quarters)
    claim(f'quarters: at least {0.292 * least:.3f} bits, 136 claimed', 0.292 * least >= 136)
    claim('every B < q', all(b < log2(Q) for _, _, b in pairs))
    found = {}
    for row, levels in table:
        for name, holds in check_row(row, levels):
            found[name] = found.get(name, True) and holds
    for name, holds in found.items():
        claim(f'{name}, in every row', holds)
    claim(f'|C| before the test: 2^{log2(comb(64, 22) * comb(42, 28) * comb(14, 12)) + 42:.3f}',
          comb(64, 22) * comb(42, 28) * comb(14, 12) * 2**42 > 2**140.286)
    sums = {s: max(sum(errors(lv)) for row, lv in table if row[0] == s) for s in (512, 1024)}
    for s, most in ((512, 130.05), (1024, 130.05)):
        claim(f'errors of {s}: 2^{log2(sums[s]):.2f}, 2^-{most} claimed', log2(sums[s]) <= -most)
    claim(f'mixed batch: 2^{log2(sum(sums.values())):.2f}, 2^-129.05 claimed',
          log2(sum(sums.values())) <= -129.05)
    worst = log2(max(max(errors(lv)) for _, lv in table))
    claim(f'worst round: 2^{worst:.4f}, 2^-131.99 claimed', worst < -131.99)
    with open(files[1] if len(files) > 1 else MERGED, encoding='utf8') as file:
        merged = json.load(file)
    claim('merged rows for 2, 8 and 18 parts', [row[1] for row in merged] == [2, 8, 18])
    claim('merged rows of one part row', all(row[0] == merged[0][0] for row in merged))
    found = [check_merged(row, most) for row, most in zip(merged, (129.40, 127.79, 126.70))]
    for name, least in (('whole ranks', 133.08), ('quarters', 136.43)):
        bits = min(0.292 * block_size(n, b) for own, _ in found for kind, n, b in own
                   if (kind == 'quarters') == (name == 'quarters'))
        claim(f'merged, {name}: {bits:.3f} bits, {least} claimed', bits >= least)
    provers = (133 - max(log2_k for _, log2_k in found)) / 2
    claim(f'merged: provers of 2^{provers:.2f} queries, 2^50.4 claimed', provers >= 50.4)
    claim('merged: every B < q', all(b < log2(Q) for own, _ in found for _, _, b in own))
    pairs += [pair for own, _ in found for pair in own]
    if '--bkz' in sys.argv:
        limits = {}
        for kind, n, b in pairs:
            limits[n] = max(limits.get(n, 0), b)
        for n in sorted(limits):
            first = simulated(n, 455)
            claim(f'BKZ-455, {n} rows: 2^{first:.2f}, B at most 2^{limits[n]:.2f}',
                  first > limits[n])
        claim(f'{len(pairs)} pairs, {len(limits)} ranks simulated', True)
    print(f'{len(missed)} missed')
    return 1 if missed else 0


sys.exit(main())
