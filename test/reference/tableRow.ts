/** The types of rows of parameters, which prover and verifier read each for itself. */
export type LevelRow = readonly (number | readonly (number | readonly [number, number])[])[];
export type TableRow = readonly [set: number, bucket: number, levels: readonly LevelRow[]];

/** docs/merged.md, 1.1: level 0 of a part, with the bounds of its output. */
export type PartRow = readonly [
  set: 512 | 1024,
  bucket: number,
  levelZero: LevelRow,
  bounds: readonly [inP: number, tP: number, XP: number, tXP: number],
];
/** The same with P' and the levels that all parts share. */
export type MergedRow = readonly [part: PartRow, most: number, levels: readonly LevelRow[]];
