/** The built module behind its wrapper: handles, scopes, kernels over many polynomials. */
import { describe, expect, test } from 'vitest';
import { type Coefs, Labrador, type Smalls } from '../../../src/aggregate/wasm.ts';
import { CodedError } from '../../../src/shared/errors.ts';
import { BOTH_MODULES } from '../../support/assembly.ts';
import { BLOCKS, chachaStream, projectedForm, ROWS, word44 } from './chacha.ts';
import { add, centred, HALF_Q, multiply, type Poly, sigma, source, zero } from './plain.ts';

const random = source('labrador machine');

describe.each(BOTH_MODULES)('wrapper, %s module', (module) => {
  const lab = new Labrador(module);
  const { kernels } = lab;
  const split = <T>(list: Iterable<T>): T[][] => {
    const all = [...list];
    return Array.from({ length: all.length / 64 }, (_, i) => all.slice(64 * i, 64 * i + 64));
  };
  const smalls = (polys: Poly[]): Smalls => {
    const handle = lab.smalls(polys.length);
    lab.i16(handle).set(polys.flat().map(Number));
    return handle;
  };
  const coefs = (polys: Poly[]): Coefs => {
    const handle = lab.coefs(polys.length);
    lab.i64(handle).set(polys.flat());
    return handle;
  };
  const read = (handle: Coefs): Poly[] => split(lab.i64(handle));
  /** The first columns of a vector, and the same put there. */
  const columns = (row: number, count = 40): Poly[] => {
    const back = lab.coefs(count);
    kernels.vecToCoefs(back.at, row, 0, count);
    return read(back);
  };
  const fill = (row: number, list: Poly[]): void =>
    void kernels.coefsToVec(row, 0, coefs(list).at, 512, list.length);
  const formsOf = (list: Poly[]) => {
    const forms = lab.forms(list.length);
    kernels.smallsToForms(forms.at, smalls(list).at, list.length);
    return forms;
  };
  const centredPoly = (a: Poly): Poly => a.map((x) => centred(x));
  const polys = (count: number, bound: bigint) =>
    Array.from({ length: count }, () => random.poly(bound));
  const inner = (a: Poly[], b: Poly[]): Poly =>
    a.reduce((sum, x, i) => add(sum, multiply(x, b[i]!)), zero()).map((x) => centred(x));

  test('no imports, and the stated exports', () => {
    expect(Object.keys(kernels).length).toBeGreaterThan(50);
    expect(kernels.memory).toBeInstanceOf(WebAssembly.Memory);
  });

  test('scopes give their room back, memory grows and says so when it cannot', () => {
    const before = kernels.mark();
    lab.scope(() => {
      const a = lab.vecs(3, 100);
      expect(a).toMatchObject({ blocks: 4, stride: 98304, rows: 3 });
      expect(a.at % 64).toBe(0);
      expect(lab.bytes(a.at, a.stride * 3).every((x) => x === 0)).toBe(true);
      lab.bytes(a.at, a.stride * 3).fill(255);
      const b = lab.sums(2);
      expect(b.at).toBeGreaterThanOrEqual(a.at + 3 * a.stride);
      expect(lab.bytes(b.at, 3072).every((x) => x === 0)).toBe(true);
    });
    expect(kernels.mark()).toBe(before);
    const size = lab.memoryBytes;
    lab.scope(() => lab.room(size + 1));
    expect(lab.memoryBytes).toBeGreaterThan(size);
    expect(kernels.mark()).toBe(before);
    for (const bytes of [2 ** 30, 2 ** 32 - 64, 2 ** 31]) {
      expect(() => lab.room(bytes)).toThrow(CodedError);
      expect(() => lab.room(bytes, true)).toThrow(CodedError);
      expect(() => lab.reserve(bytes)).toThrow(CodedError);
    }
    expect(kernels.mark()).toBe(before);
    expect(() => lab.scope(() => lab.pairProducts(lab.sums(2), lab.vecs(2, 1)))).toThrow(
      CodedError,
    );
    expect(kernels.mark()).toBe(before);
  });

  test('memory grows when it is full, by whole pages, and no earlier', () => {
    lab.scope(() => {
      const rest = (): number => lab.memoryBytes - (kernels.mark() >>> 0);
      expect(lab.room(0)).toBe(kernels.mark() >>> 0);
      const view = lab.bytes(lab.room(rest()), 1);
      expect(rest()).toBe(0);
      expect(lab.room(0)).toBe(lab.memoryBytes);
      // growth, even by nothing, would have detached it
      expect(view.length).toBe(1);
      for (const bytes of [1, 65536, 65537, 3 * 65536 - 63]) {
        const full = lab.memoryBytes;
        lab.bytes(lab.room(bytes) + bytes - 1, 1)[0] = 1;
        expect(lab.memoryBytes - full).toBe(65536 * Math.ceil(bytes / 65536));
        lab.room(rest());
      }
    });
  });

  // biome-ignore format: one line
  const ENDS = [[0, 5], [1, 4], [3, 1], [30, 37], [31, 2], [5, 0]];
  test.each(ENDS)('runs of columns from %i, %i of them', (column, count) => {
    lab.scope(() => {
      const small = polys(count, 8192n);
      const wide = polys(count, 32767n);
      const large = polys(count, HALF_Q);
      const vecs = lab.vecs(3, 80);
      kernels.smallsToVec(lab.row(vecs, 0), column, smalls(small).at, 128, count);
      kernels.widesToVec(lab.row(vecs, 1), column, smalls(wide).at, 128, count);
      kernels.coefsToVec(lab.row(vecs, 2), column, coefs(large).at, 512, count);
      for (const [i, expected] of [small, wide, large].entries()) {
        const padded = Array.from({ length: 80 }, (_, j) => expected[j - column] ?? zero());
        expect(columns(lab.row(vecs, i), 80)).toEqual(padded);
      }
    });
  });

  test('commitment, garbage and amortisation of a small witness', () => {
    lab.scope(() => {
      const [rows, n, kappa] = [3, 40, 2];
      const s = Array.from({ length: rows }, () => polys(n, 4096n));
      const key = Array.from({ length: kappa }, () => polys(n, HALF_Q));
      const [sVecs, keyVecs] = [lab.vecs(rows, n), lab.vecs(kappa, n)];
      for (const [i, x] of s.entries()) {
        kernels.smallsToVec(lab.row(sVecs, i), 0, smalls(x).at, 128, n);
      }
      for (const [i, x] of key.entries()) fill(lab.row(keyVecs, i), x);
      const t = lab.sums(kappa * rows);
      lab.products(t, keyVecs, sVecs);
      const tCoefs = lab.coefs(kappa * rows);
      kernels.manySumsToCoefs(tCoefs.at, t.at, t.count);
      expect(read(tCoefs)).toEqual(key.flatMap((x) => s.map((y) => inner(x, y))));
      // digit-major digits come back together
      const digits = lab.smalls(5 * t.count);
      expect(kernels.decomposeMany(digits.at, tCoefs.at, t.count, 5, 9)).toBe(0);
      const lists = split(lab.i16(digits));
      const together = lists
        .slice(0, t.count)
        .map((low, i) =>
          low.map((_, at) =>
            [4, 3, 2, 1, 0].reduce((x, j) => (x << 9n) + BigInt(lists[j * t.count + i]![at]!), 0n),
          ),
        );
      expect(together).toEqual(read(tCoefs));

      const g = lab.sums(6);
      lab.pairProducts(g, sVecs);
      const gCoefs = lab.coefs(6);
      kernels.manySumsToCoefs(gCoefs.at, g.at, 6);
      const pairs = s.flatMap((x, a) => s.slice(a).map((y) => inner(x, y)));
      expect(read(gCoefs)).toEqual(pairs);

      const c = polys(rows, 2n);
      const z = lab.vecs(1, n);
      lab.combine(z, 0, lab.addresses(sVecs), formsOf(c));
      const expected = Array.from({ length: n }, (_, j) =>
        s.reduce((sum, x, a) => add(sum, multiply(c[a]!, x[j]!)), zero()),
      );
      expect(columns(z.at)).toEqual(expected);
    });
  });

  test('combinations of more rows than one call takes', () => {
    lab.scope(() => {
      const count = 77;
      const rows = Array.from({ length: count }, () => polys(2, 2n ** 40n));
      const c = polys(count, 4n);
      const vecs = lab.vecs(count, 2);
      for (const [i, x] of rows.entries()) fill(lab.row(vecs, i), x);
      const out = lab.vecs(1, 2);
      lab.combine(out, 0, lab.addresses(vecs), formsOf(c));
      const column = (j: number) => rows.map((x) => x[j]!);
      expect(columns(out.at, 2)).toEqual([0, 1].map((j) => inner(column(j), c)));
    });
  });

  test('a combination of several calls does not have its own result among its rows', () => {
    lab.scope(() => {
      const rowsOf = (count: number): readonly [ReturnType<typeof lab.vecs>, number[]] => {
        const vecs = lab.vecs(count, 2);
        for (let i = 0; i < count; i++) fill(lab.row(vecs, i), polys(2, 2n ** 40n));
        return [vecs, lab.addresses(vecs)];
      };
      const into = (count: number): Poly[] => {
        const [vecs, rows] = rowsOf(count);
        const c = polys(count, 4n);
        const before = rows.map((row) => columns(row, 2));
        lab.combine(vecs, count - 1, rows, formsOf(c));
        const column = (j: number) => before.map((x) => x[j]!);
        const expected = [0, 1].map((j) => inner(column(j), c));
        expect(columns(rows[count - 1]!, 2)).toEqual(expected);
        return expected;
      };
      into(32);
      expect(() => into(33)).toThrow(CodedError);
      into(5);
    });
  });

  test('shapes fit: coefficients for all rows, sums for all pairs, columns of as many blocks', () => {
    lab.scope(() => {
      const vecs = lab.vecs(4, 2);
      const rows = lab.addresses(vecs).slice(1);
      for (const count of [2, 4]) {
        expect(() => lab.combine(vecs, 0, rows, lab.forms(count))).toThrow(CodedError);
      }
      expect(() => lab.combine(vecs, 0, [], lab.forms(0))).toThrow(CodedError);
      const products = (sums: number, columns: number): void =>
        lab.products(lab.sums(sums), vecs, lab.vecs(3, columns));
      expect(() => products(11, 2)).toThrow(CodedError);
      expect(() => products(12, 33)).toThrow(CodedError);
      products(12, 32);
    });
  });

  test('room is cleared only where that is asked for; the peak outlasts a scope', () => {
    lab.scope(() => {
      lab.beginCount();
      const start = kernels.mark() >>> 0;
      lab.scope(() => lab.bytes(lab.room(4096), 4096).fill(255));
      expect(lab.scope(() => lab.bytes(lab.room(4096), 4096).every((x) => x === 255))).toBe(true);
      lab.room(100);
      expect(lab.peakBytes).toBe(start + 4096);
      lab.room(8192);
      expect(lab.peakBytes).toBe(start + 128 + 8192);
    });
  });

  test('second copies, norms as polynomials, and reduction in place', () => {
    lab.scope(() => {
      const [alpha] = polys(1, 2n);
      const alphaForm = formsOf([alpha!]);
      for (const [column, count] of [
        [0, 17],
        [17, 17],
        [5, 1],
      ] as const) {
        const s = [...polys(count - 1, 8192n), random.extreme(8192n)];
        const vecs = lab.vecs(1, 40);
        const handle = smalls(s);
        kernels.twistedToVec(vecs.at, column, handle.at, 128, count, alphaForm.at);
        const expected = s.map((x) => multiply(alpha!, sigma(x)));
        const padded = Array.from({ length: 40 }, (_, j) => expected[j - column] ?? zero());
        expect(columns(vecs.at)).toEqual(padded);

        const w = lab.coefs(1);
        kernels.selfProduct(w.at, handle.at, count);
        expect(read(w)[0]).toEqual(s.reduce((sum, x) => add(sum, multiply(x, sigma(x))), zero()));
        expect(read(w)[0]![0]).toBe(lab.normSq(handle));
      }
      // integers far beyond q become centred: their product by something large is then still exact
      const [a, b] = [polys(1, HALF_Q)[0]!, polys(1, 2n ** 30n)[0]!];
      const forms = lab.forms(2);
      kernels.coefsToForm(forms.at, coefs([a]).at);
      kernels.coefsToForm(forms.at + 768, coefs([b]).at);
      kernels.mulForm(forms.at, forms.at, forms.at + 768);
      const vecs = lab.vecs(1, 3);
      kernels.storeColumn(vecs.at, 2, forms.at);
      kernels.reduceColumns(vecs.at, 2, 1);
      kernels.loadColumn(forms.at, vecs.at, 2);
      kernels.mulForm(forms.at, forms.at, forms.at + 768);
      const back = lab.coefs(1);
      kernels.formsToCoefs(back.at, forms.at, 1);
      expect(read(back)[0]).toEqual(centredPoly(multiply(centredPoly(multiply(a, b)), b)));
    });
  });

  test('key elements: row, column, any piece of a row', () => {
    lab.scope(() => {
      const keyBytes = random.bytes(32);
      const keyAt = lab.put(keyBytes);
      const nonce = [10, 7, 0];
      const stream = chachaStream(keyBytes, nonce, 0, 6 * 48);
      const element = (column: number) =>
        Array.from({ length: 64 }, (_, i) => centred(word44(stream, 64 * column + i)));
      const vec = lab.vecs(1, 64);
      lab.stream(keyAt, nonce[0]!, nonce[1]!);
      kernels.expandKey(vec.at, 0, 8);
      kernels.expandKey(vec.at, 16, 11);
      expect(columns(vec.at, 64)).toEqual(
        Array.from({ length: 64 }, (_, j) => (j < 8 || (j >= 16 && j < 27) ? element(j) : zero())),
      );
    });
  });

  // biome-ignore format: one line
  const TRIPLES = [
    [0, 0, 1], [0, 3, 4], [1, 2, 1], [1, 1, 2], [3, 30, 6], [30, 5, 9], [31, 0, 2], [7, 4, 0],
  ];
  test.each(TRIPLES)(
    'copies to columns from %i on of those from %i on, %i of them',
    (column, first, count) => {
      lab.scope(() => {
        const [to, from] = [polys(40, HALF_Q), polys(40, HALF_Q)];
        const vecs = lab.vecs(2, 40);
        for (const [i, x] of [to, from].entries()) fill(lab.row(vecs, i), x);
        kernels.copyColumns(lab.row(vecs, 0), column, lab.row(vecs, 1), first, count);
        const copied = from.slice(first, first + count);
        expect(columns(lab.row(vecs, 0))).toEqual(to.toSpliced(column, count, ...copied));
        expect(columns(lab.row(vecs, 1))).toEqual(from);
      });
    },
  );

  // four columns at a time, whatever the first; a vector has blocks of 32 columns
  // biome-ignore format: several in a line
  const RUNS = [
    [0, 1], [0, 2], [2, 3], [4, 4], [1, 9], [3, 6], [28, 8], [29, 7], [30, 6], [31, 5],
  ] as const;

  const omegas = (lifts: number) =>
    Array.from({ length: lifts }, () =>
      Array.from({ length: 2 * ROWS }, () => random.between(-HALF_Q, HALF_Q)),
    );
  function startCollapse(omega: readonly (readonly bigint[])[]): void {
    const at = lab.room(omega.length * 16 * ROWS);
    new BigInt64Array(kernels.memory.buffer, at, omega.length * 2 * ROWS).set(omega.flat());
    kernels.collapseStart(at, omega.length);
  }

  test.each(RUNS)('collapsed rows go to two vectors: from column %i on, %i', (column, count) => {
    lab.scope(() => {
      const keyBytes = random.bytes(32);
      const keyAt = lab.put(keyBytes);
      const nonce = [2 + 256, 0, 0];
      const omega = omegas(2);
      startCollapse(omega);
      const vecs = lab.vecs(2, 40);
      lab.stream(keyAt, nonce[0]!, nonce[1]!);
      const first = 10;
      const at = [0, 1].map((i) => lab.row(vecs, i)) as [number, number];
      kernels.collapseToVecs(...at, column, first, count);
      for (const [lift, weights] of omega.entries()) {
        const expected = Array.from({ length: 40 }, (_, j) => {
          if (j < column || j >= column + count) return zero();
          const bits = chachaStream(keyBytes, nonce, BLOCKS * (first + j - column), BLOCKS);
          return projectedForm(bits, weights);
        });
        expect(columns(at[lift]!)).toEqual(expected);
      }
    });
  });

  test.each(RUNS)(
    'lifts from column %i on, %i of them, are the sum of their parts',
    (column, count) => {
      lab.scope(() => {
        const jlKey = random.bytes(32);
        const key = lab.put(jlKey);
        const jlNonce = [2, 0, 0];
        const omega = omegas(3);
        const theta = [0, 1, 2].map(() =>
          Array.from({ length: 10 }, () => random.between(-HALF_Q, HALF_Q)),
        );
        startCollapse(omega);
        const thetaAt = lab.room(240);
        new BigInt64Array(kernels.memory.buffer, thetaAt, 30).set(theta.flat());
        kernels.functionalsStart(thetaAt);
        const partCount = 4;
        const rho = Array.from({ length: 10 }, () => polys(partCount, 6144n));
        const parts = smalls(rho.flat());
        const rows = lab.vecs(3, 40);
        const args = new Uint32Array(kernels.memory.buffer, kernels.LIFT.value, 8);
        args.set([key, jlNonce[0]!, jlNonce[1]!, ...[0, 1, 2].map((k) => lab.row(rows, k))]);
        args.set([128 * partCount, partCount], 6);
        const [first, t] = [101, 1]; // from t = 4 on there is no functional
        kernels.liftRun(column, first, t, count, parts.at);
        for (const k of [0, 1, 2]) {
          const back = columns(lab.row(rows, k));
          for (let j = 0; j < 40; j++) {
            const i = j - column;
            let sum = zero();
            if (i >= 0 && i < count) {
              const bits = chachaStream(jlKey, jlNonce, BLOCKS * (first + i), BLOCKS);
              sum = projectedForm(bits, omega[k]!);
              for (const [f, weight] of theta[k]!.entries()) {
                const part = rho[f]![t + i];
                if (part) sum = sum.map((x, at) => x + weight * part[at]!);
              }
            }
            expect(back[j]).toEqual(centredPoly(sum));
          }
        }
      });
    },
  );

  // biome-ignore format: several in a line
  const PARTS = [[0, 1], [0, 4], [3, 1], [3, 6], [29, 5], [31, 3], [5, 0]];
  test.each(PARTS)(
    'multiples of a polynomial into columns from %i on, %i of them, and their sum',
    (column, count) => {
      lab.scope(() => {
        const [a] = polys(1, HALF_Q) as [bigint[]];
        const factors = polys(count, 4n);
        const form = lab.forms(1);
        kernels.coefsToForm(form.at, coefs([a]).at);
        const factorForms = formsOf(factors);
        const vec = lab.vecs(1, 40);
        const before = polys(40, 100n);
        kernels.smallsToVec(vec.at, 0, smalls(before).at, 128, 40);
        kernels.multiplesToVec(vec.at, column, count, form.at, factorForms.at);
        const products = factors.map((factor) => centredPoly(multiply(a, factor)));
        expect(columns(vec.at)).toEqual(before.toSpliced(column, count, ...products));

        const sum = formsOf(before.slice(0, 1));
        const back = lab.coefs(1);
        kernels.addMultiples(sum.at, vec.at, column, count, factorForms.at);
        kernels.formToCoefs(back.at, sum.at);
        const expected = products.reduce((all, product, j) => {
          const term = multiply(product, factors[j]!);
          return all.map((x, at) => x + term[at]!);
        }, before[0]!);
        expect(read(back)[0]).toEqual(centredPoly(expected));
      });
    },
  );

  test.each([9, 10])("rho' and the parts of functionals, logn %i", (logn) => {
    lab.scope(() => {
      const n = 1 << logn;
      const K = n / 64;
      const p = 12289;
      const mod = (x: number) => ((x % p) + p) % p;
      const centre = (x: number) => (mod(x) > 6144 ? mod(x) - p : mod(x));
      const [h, rho, prepared, rhoPrime] = [2, 2, 4, 2].map((b) => lab.room(b * n)) as number[] as [
        number,
        number,
        number,
        number,
      ];
      const parts = lab.smalls(2 * K);
      const view = (at: number) => new Int16Array(kernels.memory.buffer, at, n);
      for (const fill of [0n, 1n, 2n]) {
        for (let i = 0; i < n; i++) {
          view(h)[i] = fill === 0n ? 12288 : Number(random.between(0n, 12288n));
          view(rho)[i] = fill < 2n ? [-6144, 6144][i % 2]! : Number(random.between(-6144n, 6144n));
        }
        kernels.modpPrepare(prepared, h, logn);
        kernels.functionalParts(parts.at, rhoPrime, rho, prepared, logn);
        const sigmaH = Array.from({ length: n }, (_, j) => (j ? -view(h)[n - j]! : view(h)[0]!));
        const expected = new Array<number>(n).fill(0);
        for (const [i, x] of view(rho).entries()) {
          for (const [j, y] of sigmaH.entries()) {
            if (i + j < n) expected[i + j]! += x * y;
            else expected[i + j - n]! -= x * y;
          }
        }
        expect([...view(rhoPrime)]).toEqual(expected.map(centre));
        const got = split(lab.i16(parts));
        for (const [offset, a] of [view(rho), view(rhoPrime)].entries()) {
          for (let k = 0; k < K; k++) {
            const part = Array.from({ length: 64 }, (_, t) => BigInt(a[k + K * t]!));
            expect(got[offset * K + k]).toEqual(sigma(part).map(Number));
          }
        }
      }
    });
  });

  test('norms', () => {
    lab.scope(() => {
      const a = polys(5, 32767n);
      expect(lab.normSq(smalls(a))).toBe(a.flat().reduce((sum, x) => sum + x * x, 0n));
    });
  });
});
