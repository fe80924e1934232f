"""What the slow prover of toy rows computes with: digits, bit strings, the Gaussian code, keys and
projections. `V` is the second verifier, from which all arithmetic in R_q is."""
import functools, pathlib, struct, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "verifiers/python"))
import verify as V
from verify import Q, centred, pack, reduce, times, unpack

ZERO = [0] * 64
def bits(values, width):
    number = sum(x << width * i for i, x in enumerate(values))
    return number.to_bytes((width * len(values) + 7) // 8, "little")
def flat(polynomials): return [x for p in polynomials for x in p]
def ints(x): return [centred(c, Q) for c in unpack(x)]
def square(polynomials): return sum(x * x for p in polynomials for x in p)
def digits(polynomial, f, b):
    out, x = [], list(polynomial)
    for _ in range(f - 1):
        out.append([(c + (1 << b - 1)) % (1 << b) - (1 << b - 1) for c in x])
        x = [(c - d) >> b for c, d in zip(x, out[-1])]
    return out + [x]
def by_digit(polynomials, f, b):
    """For every digit, the polynomials of it."""
    return [p for column in zip(*[digits(p, f, b) for p in polynomials]) for p in column]
def key_times(k, vector):
    packed = [pack(p) for p in vector]
    return [reduce(sum(times(x, y) for x, y in zip(V.key_row(i, len(packed)), packed)))
            for i in range(k)]
def inner(x, y): return reduce(sum(times(a, b) for a, b in zip(x, y)))
def quarters_of(k, vector):
    return [unpack(u)[4 * c] for u in key_times(k, vector) for c in range(16)]
class NoCode(Exception): """A value has no code, so the proof cannot be written."""
def gauss(values, indexes):
    """P 11.2, the other way round."""
    x, found, low, at = [2**32, 2**32], [], 0, 0
    for i in reversed(range(len(values))):
        start, lowest = V.GAUSS[indexes[i] % 8]
        h = values[i] >> indexes[i] // 8
        if not -256 <= h <= 255: raise NoCode(f"{values[i]} with {indexes[i]}")
        c, f = start[h - lowest], start[h - lowest + 1] - start[h - lowest]
        state = x[i % 2]
        while state >= f << 24:
            found.append((state & 0xFFFF).to_bytes(2, "big"))
            state >>= 16
        x[i % 2] = (state // f << 24) + state % f + c
    for value, t in zip(values, indexes):
        low |= (value & (1 << t // 8) - 1) << at
        at += t // 8
    head = b"".join(state.to_bytes(6, "big") for state in x)
    return head + b"".join(reversed(found)) + low.to_bytes((at + 7) // 8, "little")
def decode_signature(signature, n):
    """s2 of a compressed signature; its salt."""
    stream = "".join(f"{x:08b}" for x in signature[41:])
    s2, at = [], 0
    while len(s2) < n:
        sign, low = stream[at] == "1", int(stream[at + 1 : at + 8], 2)
        end = stream.index("1", at + 8)
        value = low + 128 * (end - at - 8)
        s2.append(-value if sign else value)
        at = end + 1
    return s2, signature[1:41]

# ---- P 5.3  Projections --------------------------------------------------------------------------
def block_of(jl, number, poly):
    return V.chacha8(jl, [(17 * poly + i, 2 + 256 * number, 0) for i in range(17)])
def bits_of_poly(jl, number, poly):
    """Word for word: 137 lists of 64 bits."""
    data, rows = block_of(jl, number, poly), []
    for j in range(136):
        g, bit, row = j // 4, j % 4, [0] * 64
        for c in range(16):
            first, second = data[32 * g + c], data[32 * g + 16 + c]
            row[c], row[16 + c] = first >> bit & 1, first >> 4 + bit & 1
            row[32 + c], row[48 + c] = second >> bit & 1, second >> 4 + bit & 1
        rows.append(row)
    return rows + [[1] * 32 + [0] * 32]
NIBBLES = [b"".join((n >> j & 1).to_bytes(8, "little") for j in range(4)) for n in range(16)]
LANES, CENTRE = struct.Struct("<137Q"), sum(1 << 64 * j + 62 for j in range(137))
@functools.lru_cache(1024)
def columns_of(jl, number, poly):
    """The same bits: for each of 64 coefficients, those of all rows j, 64 j bits up."""
    data, columns = block_of(jl, number, poly), [0] * 64
    for c in range(16):
        for byte, first in ((c, c), (16 + c, 32 + c)):
            group = data[byte::32]
            for shift, at in ((0, first), (4, first + 16)):
                rows = b"".join([NIBBLES[x >> shift & 15] for x in group])
                columns[at] = int.from_bytes(rows, "little")
    return [x | (c < 32) << 64 * 136 for c, x in enumerate(columns)]
def projected(jl, number, polynomials):
    """y_j, y*_j, j = 0..136, of {POLY: polynomial}."""
    y = star = CENTRE
    for poly, s in polynomials.items():
        columns = columns_of(jl, number, poly)
        y += sum([x * column for x, column in zip(s, columns) if x])
        turned = s[32:] + [-x for x in s[:32]]
        star += sum([x * column for x, column in zip(turned, columns) if x])
    return tuple([x - 2**62 for x in LANES.unpack(lanes.to_bytes(LANES.size, "little"))]
                 for lanes in (y, star))
def sent_of(y, star):
    u, v = y[136], star[136]
    pairs = zip(y[:136], star[:136])
    return [x for a, b in pairs for x in (a - (u + v) // 2, b - (v - u) // 2)], u, v
