/** The type of a row of the parameter table, which prover and verifier read each for itself. */
export type LevelRow = readonly (number | readonly (number | readonly [number, number])[])[];
export type TableRow = readonly [set: number, bucket: number, levels: readonly LevelRow[]];
