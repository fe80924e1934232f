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
