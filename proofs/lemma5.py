"""The certificate of Lemma 5 (docs/soundness.md, 5.6), with the interval arithmetic of mpmath.

    python3 proofs/lemma5.py

Every range is cut into cells; a bound holds for a whole cell. Exits with 1 if a figure is missed.
"""
import sys
from fractions import Fraction as F
from math import comb, cosh, exp, log2, sqrt

from mpmath import iv

iv.prec = 60
PAIRS, RATIO = 136, 60
missed = []


def claim(text, bits, claimed):
    holds = bits >= claimed
    word = 'ok    ' if holds else 'MISSED'
    print(f'{word} {text}: 2^-{bits:.3f}, 2^-{claimed} claimed', flush=True)
    if not holds:
        missed.append(text)


def real(x):
    x = F(x)
    return iv.mpf(x.numerator) / x.denominator


def upper(x):
    return iv.mpf(x.b)


def bits(phi, t):
    """-log2 of e^(60 t) phi^136, rounded down."""
    return float(((-RATIO * real(t) - PAIRS * iv.log(phi)) / iv.log(2)).a)


def h1(t, s):
    """(h1) at the end s of a range of s below."""
    e = 2 * s * (1 + 2 * t)
    series = sum(iv.exp(-j * j * iv.pi**2 / e) for j in range(1, 9))
    # from j = 9 on by a geometric series
    first = iv.exp(-81 * iv.pi**2 / e)
    series += first / (1 - iv.exp(-19 * iv.pi**2 / e))
    return upper((1 + 2 * series) / iv.sqrt(1 + 2 * t))


def mean(n, x):
    """M_n(x)."""
    return sum(comb(2 * n, k) * iv.exp(-x * (n - k) ** 2) for k in range(2 * n + 1)) / 4**n


def sup_h(t, cells):
    """An upper bound of sup of h_t(s) over 0 < s <= 1/2."""
    t = real(t)
    worst = h1(t, real(F(1, 10)))
    for n in range(1, 5):
        low, high = F(1, 2 * n + 2), F(1, 2 * n)
        for i in range(cells):
            a, b = low + (high - low) * i / cells, low + (high - low) * (i + 1) / cells
            if b <= F(1, 10):
                continue
            # mu grows with s; M_n is above M_{n+1}, both fall in s: mu at b, M at a
            mu = real((2 * n + 2 - 1 / b) / 2)
            x = 4 * t * real(a)
            value = upper(mu * mean(n, x) + (1 - mu) * mean(n + 1, x))
            if value > worst:
                worst = value
    return worst


def k(a, y, t):
    """k(a, y) over intervals a, y."""
    c = 2 * t * iv.sqrt(2 * a * y)
    cosh = (iv.exp(c) + iv.exp(-c)) / 2
    return iv.exp(-t * (2 * a + y)) * (1 + cosh) / 2


def interval(a, b):
    return iv.mpf([real(a).a, real(b).b])


def chernoff():
    s = F(243, 29)
    exact = ((1 + s) / 2) ** 272 / s**243
    return log2(exact.denominator) - log2(exact.numerator)


claim("(a'), 243 of 272 rows inside", chernoff(), 138.82)
t = F(1178, 1024)
top = sup_h(t, 800)
print(f'       sup h = {float(top.b):.5f}, 0.55051 claimed for t = 1.15')
claim('a <= 1/2', bits(top**2, t), 134.69)

# 1/2 < a <= 527/1024
worst, steps = 1e9, 60
t = F(1213, 1024)
low, high = F(1, 2), F(527, 1024)
for i in range(steps):
    a, b = low + (high - low) * i / steps, low + (high - low) * (i + 1) / steps
    # the first factor falls in a; the second grows with it, as t' = 2(1-a)t and h falls in t
    first = (1 + iv.exp(-4 * real(t) * real(a))) / 2
    worst = min(worst, bits(upper(first) * sup_h(2 * (1 - b) * t, 400), t))
claim('1/2 < a <= 0.5145', worst, 134.12)

def derivative(a, y, t):
    """dk/dy over intervals; sinh(c)/c rises with c."""
    c = 2 * t * iv.sqrt(2 * a * y)
    ends = [((iv.exp(e) - iv.exp(-e)) / (2 * e) if e > 0 else iv.mpf(1))
            for e in (iv.mpf(c.a), iv.mpf(c.b))]
    ratio = iv.mpf([ends[0].a, ends[1].b])
    return -t * k(a, y, t) + iv.exp(-t * (2 * a + y)) * ratio * 2 * t * t * a


def below(a, t, alpha, beta, gamma, y, width):
    """Whether alpha + beta y + gamma y^2 >= k(a, y) on a cell, cut in halves where needed."""
    t_, beta_, gamma_, half = real(t), real(beta), real(gamma), width / 2
    cell, middle = interval(y, y + width), real(y + half)
    slope = abs(derivative(a, cell, t_) - beta_ - 2 * gamma_ * cell)
    excess = k(a, middle, t_) - real(alpha) - beta_ * middle - gamma_ * middle**2
    if (excess + slope * real(half)).b <= 0:
        return True
    if width < F(1, 2**14):
        return False
    return all(below(a, t, alpha, beta, gamma, z, half) for z in (y, y + half))


def parabola(a, t):
    """Doubles: beta and gamma with the least bound of phi at a."""
    ys = [i / 10 for i in range(240)]
    ks = [exp(-t * (2 * a + y)) * (1 + cosh(2 * t * sqrt(2 * a * y))) / 2 for y in ys]
    best = (9.0, 0, 0)
    for beta in (-i / 500 for i in range(50)):
        for gamma in (i / 10000 for i in range(1, 60)):
            if -beta > 2 * gamma * 24:
                continue
            alpha = max(v - beta * y - gamma * y * y for y, v in zip(ys, ks))
            best = min(best, (alpha + 2 * beta * (1 - a) + 8 * gamma * (1 - a) ** 2, beta, gamma))
    return best[1:]


def meet(a, t, beta, gamma):
    """Doubles: the alpha with which the parabola touches k."""
    ys = [i / 100 for i in range(2400)]
    return max(exp(-t * (2 * a + y)) * (1 + cosh(2 * t * sqrt(2 * a * y))) / 2
               - beta * y - gamma * y * y for y in ys)


worst, parts = 1e9, 20
t, far = F(1101, 1024), F(24)
low, high = F(527, 1024), F(615, 1024)
for part in range(parts):
    start, width = low + (high - low) * part / parts, (high - low) / parts
    beta, gamma = (F(x).limit_denominator(10**4)
                   for x in parabola(float(start + width / 2), float(t)))
    assert beta <= 0 < gamma and 2 * gamma * far >= -beta
    # the bound is tight at the lower end only
    steps, margin = (150, 5e-5) if part < 3 else (30, 2e-4)
    for i in range(steps):
        a, b = start + width * i / steps, start + width * (i + 1) / steps
        cell = interval(a, b)
        alpha = F(max(meet(float(x), float(t), float(beta), float(gamma)) for x in (a, b)) + margin)
        assert all(below(cell, t, alpha, beta, gamma, F(y), F(1)) for y in range(int(far)))
        # beyond, k falls, and the parabola rises
        tail = iv.exp(-real(t) * (iv.sqrt(real(far)) - iv.sqrt(2 * cell)) ** 2)
        end = real(alpha) + real(beta) * real(far) + real(gamma) * real(far) ** 2
        assert (tail - end).b <= 0
        phi = real(alpha) + 2 * real(beta) * (1 - real(b)) + 8 * real(gamma) * (1 - real(a)) ** 2
        worst = min(worst, bits(upper(phi), t))
claim('0.5145 <= a <= 0.6', worst, 134.10)

# a >= 0.6: k <= e^(-t (sqrt y - sqrt 2a)^2) (1 + e^-c)^2/4 with c = 2 t sqrt(2 a y)
t, worst = F(1126, 1024), iv.mpf(0)
for i in range(200):
    a = interval(F(615, 1024) + F(409, 1024) * i / 200, F(615, 1024) + F(409, 1024) * (i + 1) / 200)
    for j in range(400):
        value = upper(k(a, interval(F(j, 50), F(j + 1, 50)), real(t)))
        worst = value if value > worst else worst
    tail = upper(iv.exp(-real(t) * (iv.sqrt(iv.mpf(8)) - iv.sqrt(2 * a)) ** 2))
    worst = tail if tail > worst else worst
claim('a >= 0.6', bits(worst, t), 136)
print(f'{len(missed)} missed')
sys.exit(1 if missed else 0)
