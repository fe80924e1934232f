/**
 * Cheating provers of merged proofs: the tests of docs/merged.md, 1.7. A verifier must refuse what
 * they write. A few provers are marked as valid: they take a way that honest ones rarely take.
 */
import { type SignedItem, signedItem } from '../items.ts';
import type { Pair } from '../prover/challenges.ts';
import { LevelFailure } from '../prover/context.ts';
import type { MessageName } from '../prover/parameters.ts';
import { pairCount, pairIndex } from '../prover/parameters.ts';
import { add, multiplyZ, type Poly, scale, subtract } from '../prover/ring.ts';
import type { Projection } from '../prover/steps.ts';
import type { Faults, LevelView } from '../prover/trace.ts';
import type { MergedRow } from '../tableRow.ts';
import type { MergeFaults, PartScalars } from './level.ts';
import { headerOfPart, mergeParts, type Part, provePart } from './prover.ts';
import { MERGED_TOY_ROWS } from './toyRows.ts';

export interface Adversary {
  readonly row: MergedRow;
  /** the rows that the verifier knows, if this is not the only one */
  readonly table?: readonly MergedRow[];
  /** items of the parts; without them one in each of two parts */
  readonly items?: readonly (readonly SignedItem[])[];
  /** further items of the list, which no part proves */
  readonly behind?: readonly SignedItem[];
  /** of level 0, by part */
  readonly zero?: readonly Faults[];
  readonly headers?: readonly Uint8Array[];
  /** changes the parts after they were proved */
  readonly parts?: (parts: readonly Part[]) => readonly Part[];
  /** of level 1 and above; made anew for every forgery */
  readonly faults?: () => Faults;
  readonly mergeFaults?: MergeFaults;
  /**
   * The coefficient that a verifier must share to be deceived: by a prover that shares it too. The
   * first part's is used everywhere.
   */
  readonly shares?: MergeFaults['shares'];
  /** a valid proof, which a verifier must accept */
  readonly isValid?: boolean;
}

export interface Forgery {
  readonly bytes: Uint8Array;
  /** the list that is given to the verifier */
  readonly list: readonly SignedItem[];
  readonly parts: readonly Part[];
  readonly views: readonly LevelView[];
}

/** What an adversary writes; for the verifier that shares the coefficient if `isShared`. */
export function forge(adversary: Adversary, isShared = false): Forgery {
  const { row, behind = [], zero = [], headers = [], shares } = adversary;
  const set = `falcon${row[0][0]}` as const;
  const items = adversary.items ?? [[signedItem(set, 0)], [signedItem(set, 1)]];
  const proved = items.map((list, i) => {
    const header = headers[i];
    const faults = { ignore: () => true, ...zero[i] };
    return provePart(list, row[0], { faults, ...(header && { header }) });
  });
  const parts = adversary.parts?.(proved) ?? proved;
  const views: LevelView[] = [];
  const bytes = mergeParts(parts, row, {
    trace: (event) => {
      if (event.kind === 'level') views[event.level] = event;
    },
    faults: adversary.faults?.() ?? {},
    mergeFaults: { ...adversary.mergeFaults, ...(isShared && shares && { shares }) },
  });
  return { bytes, list: [...items.flat(), ...behind], parts, views };
}

const ROWS = {
  open: MERGED_TOY_ROWS['levels 0 and 1 open']!,
  /** with room for three parts */
  open3: MERGED_TOY_ROWS['levels 0, 1 and 2 open']!,
  hidden: MERGED_TOY_ROWS['levels 0 and 1 hidden']!,
};

/** y_5 changed; all else follows from the honest witness. */
const wrong = (projection: Projection, by: bigint): Projection => ({
  ...projection,
  y: projection.y.with(5, projection.y[5]! + by),
});

/** 3 in the first part, -3 in the second one. */
const opposite = (index: number): bigint => (index === 0 ? 3n : -3n);

/**
 * Digits of h in two parts with errors whose sums vanish in every equation: delta in the first,
 * -delta in the second one. In E2 and E6 they do in any case. In E5 they meet the difference of
 * the products of challenges, C_01 and C_02, and C_01 C_02 - C_02 C_01 = 0.
 */
function errorsOfE5(parts: readonly Part[]): Part[] {
  const products = parts.map(({ output: { c } }) => [1, 2].map((b) => multiplyZ(c[0]!, c[b]!)));
  const [first, second] = products[0]!.map((poly, i) => subtract(poly, products[1]![i]!)) as [
    Poly,
    Poly,
  ];
  return parts.map((part, index) => {
    const { params, parts: all } = part.output;
    const sign = index === 0 ? 1n : -1n;
    const v = [...all[params.f]!];
    const change = (b: number, delta: Poly): void => {
      const at = params.pieces.h + pairIndex(params.r, 0, b);
      if (at >= params.pieces.h + pairCount(params.r)) throw new RangeError('pairs');
      v[at] = add(v[at]!, scale(delta, sign));
    };
    change(1, second);
    change(2, scale(first, -1n));
    return { ...part, output: { ...part.output, parts: [...all.slice(0, params.f), v] } };
  });
}

/** Digit 0 of these messages longer, at the expense of digit 1: the same value, another x. */
const lengthened = (names: readonly MessageName[], by: bigint, w: number): Faults => ({
  x: ({ message, x }) => {
    if (!names.includes(message)) return { message, x };
    const width = message === 'b' ? 3 : 1;
    return {
      message,
      x: x.map((poly, i) => {
        if (i < width) return poly.map((c) => c + (by << BigInt(w)));
        return i < 2 * width ? poly.map((c) => c - by) : poly;
      }),
    };
  },
});

/** A row with one more in all coefficients of its first polynomial. */
const withFirst = ([poly, ...polys]: readonly Poly[]): Poly[] => [
  poly!.map((c) => c + 1n),
  ...polys,
];

/** The first runs of a level fail. */
function failing(level: number, count: number): Faults {
  let left = count;
  return {
    g: (g, place) => {
      if (place.level === level && left-- > 0) throw new LevelFailure('on purpose');
      return g;
    },
  };
}

/** One scalar of the second part replaced in F by another one of its kind. */
const wrongScalar = (
  change: (scalars: PartScalars['ofEquations']) => PartScalars['ofEquations'],
): MergeFaults => ({
  scalars: (honest, part) =>
    part === 1 ? { ...honest, ofEquations: change(honest.ofEquations) } : honest,
});

const repeated = (list: readonly Pair[]): Pair[] => list.with(5, list[6]!);

const small = signedItem('falcon512', 0);
/** messages that nobody signed */
const large = Array.from({ length: 50 }, (_, i) => ({
  ...signedItem('falcon1024', 0),
  message: Uint8Array.of(i),
}));
const X = ROWS.hidden[0][2][15] as number;
const R = 123_456_789n;

export const ADVERSARIES: Readonly<Record<string, Adversary>> = {
  'y_5 + 3 and y_5 - 3 in two parts': {
    row: ROWS.open,
    mergeFaults: {
      projections: (honest) =>
        honest.map(({ all }, index) => ({ all: wrong(all, opposite(index)) })),
    },
    shares: 'upsilon',
  },
  'y_x, 5 + 3 and y_x, 5 - 3 in two parts': {
    row: ROWS.hidden,
    mergeFaults: {
      projections: (honest) =>
        honest.map(({ all, ofX }, index) => ({ all, ofX: wrong(ofX!, opposite(index)) })),
    },
    shares: 'upsilon',
  },
  'y of two parts exchanged': {
    row: ROWS.open,
    mergeFaults: { projections: (honest) => honest.toReversed() },
    shares: 'upsilon',
  },
  'errors r, -r of E5': { row: ROWS.open, parts: errorsOfE5, shares: 'chi' },
  'errors r, -r of D_before': {
    row: ROWS.hidden,
    zero: [1n, -1n].map((sign) => ({ b32: (b) => b.with(0, b[0]! + sign * R) })),
    shares: 'upsilon',
  },
  'x beyond XP, within inP': {
    row: ROWS.hidden,
    zero: [lengthened(['A'], 4n, 2)],
    faults: () => ({ taken: (value) => ({ ...value, isTaken: true }) }),
  },
  'x beyond X, within XP': {
    row: ROWS.hidden,
    zero: [lengthened(['A', 'B', '2'], 1n, 2), lengthened(['A', 'B', '2'], 1n, 2)],
    faults: () => ({
      taken: (value) => {
        const isLong = value.of === 'all' || value.normSq > 288n * BigInt(X);
        return { ...value, isTaken: value.isTaken && isLong };
      },
    }),
    isValid: true,
  },
  'a second attempt': { row: ROWS.open, faults: () => failing(1, 16), isValid: true },
  'level 1 once more, since the tail fails with every retry': {
    row: ROWS.open,
    faults: () => failing(2, 16),
    isValid: true,
  },
  'upsilon of all parts that of part 1': {
    row: ROWS.open,
    mergeFaults: { shares: 'upsilon' },
    shares: 'upsilon',
  },
  'chi of all parts that of part 1': {
    row: ROWS.open,
    mergeFaults: { shares: 'chi' },
    shares: 'chi',
  },
  'a wrong scalar of (P) for part 2': {
    row: ROWS.open,
    mergeFaults: wrongScalar((all) => ({ ...all, omega: repeated(all.omega) })),
  },
  'a wrong scalar of (P_x) for part 2': {
    row: ROWS.hidden,
    mergeFaults: wrongScalar((all) => ({ ...all, omegaX: repeated(all.omegaX) })),
  },
  'a wrong scalar of (Q) for part 2': {
    row: ROWS.hidden,
    mergeFaults: wrongScalar((all) => {
      const [[row, ...rows], ...others] = all.quarters as [[Pair[], ...Pair[][]], ...Pair[][][]];
      return { ...all, quarters: [[repeated(row), ...rows], ...others] };
    }),
  },
  'a wrong scalar of (T_b) for part 2': {
    row: ROWS.hidden,
    mergeFaults: wrongScalar((all) => ({ ...all, lifts: all.lifts.with(0, all.lifts[1]!) })),
  },
  'one item of 512 and fifty of 1024 in a part': {
    row: ROWS.open,
    items: [[small]],
    behind: large,
    headers: [headerOfPart([small, ...large], ROWS.open[0])],
  },
  'one item of 512 and one of 1024, which the bucket would hold': {
    row: ROWS.hidden,
    items: [[small]],
    behind: large.slice(0, 1),
    headers: [headerOfPart([small, ...large.slice(0, 1)], ROWS.hidden[0])],
  },
  'a polynomial at a place of an absent part': {
    row: ROWS.open3,
    faults: () => ({
      // z_0 of the third part is one row
      rows: (rows, { level }) => (level === 1 ? rows.with(2, withFirst(rows[2]!)) : rows),
    }),
  },
  'two parts by the row of three, if there is one of two': {
    row: ROWS.open3,
    table: [ROWS.open, ROWS.open3],
  },
  'a list longer than all parts': {
    row: ROWS.open,
    behind: [signedItem('falcon512', 2)],
  },
};
