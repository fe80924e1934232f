/** The data of the chart of sizes, and where its lines run. */

/** One batch, in bytes. `…Derived`: with salts that follow from key and message. */
export interface SizeRow {
  readonly count: number;
  /** The signatures one by one, compressed. */
  readonly signatures: number;
  readonly bundle: number;
  readonly proof: number;
  readonly bundleDerived: number;
  readonly proofDerived: number;
}

export type SetName = 'falcon512' | 'falcon1024';
export type Sizes = Readonly<Record<SetName, readonly SizeRow[]>>;

/** What one line shows. */
export interface Line {
  readonly name: string;
  readonly className: string;
  readonly of: (row: SizeRow) => number;
}

/** The three lines, with salts written out or derived. */
export function linesOf(derived: boolean): Line[] {
  return [
    { name: 'signatures alone', className: 'alone', of: (row) => row.signatures },
    {
      name: 'bundle',
      className: 'bundle',
      of: (row) => (derived ? row.bundleDerived : row.bundle),
    },
    { name: 'proof', className: 'proof', of: (row) => (derived ? row.proofDerived : row.proof) },
  ];
}

/** The first number of signatures for which the proof is smaller than the bundle. */
export function crossing(rows: readonly SizeRow[], derived: boolean): number {
  const [, bundle, proof] = linesOf(derived);
  return rows.find((row) => proof!.of(row) < bundle!.of(row))!.count;
}

/** The drawing's size in its own units, and the edges of the part with the lines. */
export const FRAME = { width: 640, height: 340, left: 64, right: 628, top: 12, bottom: 292 };

const between = (from: number, to: number, share: number): number => from + (to - from) * share;

/** A scale by powers of ten. */
const share = (value: number, lowest: number, highest: number): number =>
  Math.log(value / lowest) / Math.log(highest / lowest);

const LOWEST_BYTES = 500;
const HIGHEST_BYTES = 4e6;

export const xOf = (count: number, most: number): number =>
  between(FRAME.left, FRAME.right, share(count, 1, most));

export const yOf = (bytes: number): number =>
  between(FRAME.bottom, FRAME.top, share(bytes, LOWEST_BYTES, HIGHEST_BYTES));

/** A line as the `points` of a polyline. */
export function pointsOf(rows: readonly SizeRow[], of: Line['of']): string {
  const most = rows.at(-1)!.count;
  return rows
    .map((row) => `${xOf(row.count, most).toFixed(1)},${yOf(of(row)).toFixed(1)}`)
    .join(' ');
}
