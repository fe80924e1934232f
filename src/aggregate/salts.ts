/**
 * The salts of an aggregate (docs/bundle-format.md, 1.2). Salts that follow from a version or from
 * the statement are not stored. Every salt has exactly one coding, the first that fits:
 *
 *   constant   version ‖ logn ‖ "FALCON_DET" ‖ 28 zero bytes, as in deterministic Falcon
 *   derived    SHAKE256("falconry salt v1" ‖ public key ‖ message), 40 bytes
 *   explicit   all others, stored in full
 */
import type { ParameterSet } from '../falcon/index.ts';
import { constantSalt, derivedSalt, isConstantSalt, SALT_BYTES } from '../falcon/salts.ts';
import { concat, equal } from '../shared/bytes.ts';
import { type Statement, setOfPublicKey } from './statement.ts';

/** The codings and their numbers in a run. */
export const CODINGS = Object.freeze({ explicit: 0, constant: 1, derived: 2 } as const);
export type SaltCoding = keyof typeof CODINGS;

/** Consecutive items whose salts have the same coding. */
export interface SaltRun {
  readonly coding: SaltCoding;
  /** the first byte of constant salts; 0 for others */
  readonly version: number;
  readonly count: number;
}

/** The coded salts of all items. */
export interface CodedSalts {
  readonly runs: readonly SaltRun[];
  /** 40 bytes per explicit salt, in the order of the items */
  readonly explicit: Uint8Array;
}

/** Returns the codings, in runs, of the salts of statements whose keys have been checked. */
export function codeSalts(
  salts: readonly Uint8Array[],
  statements: readonly Statement[],
): CodedSalts {
  const runs: { coding: SaltCoding; version: number; count: number }[] = [];
  const explicit: Uint8Array[] = [];
  for (const [i, statement] of statements.entries()) {
    const salt = salts[i]!;
    const coding = codingOf(salt, statement);
    if (coding === 'explicit') explicit.push(salt);
    const version = coding === 'constant' ? salt[0]! : 0;
    const run = runs.at(-1);
    if (run?.coding === coding && run.version === version) run.count++;
    else runs.push({ coding, version, count: 1 });
  }
  return { runs, explicit: concat(...explicit) };
}

/** Returns the coded salts of items `from` to `to - 1`. */
export function sliceSalts({ runs, explicit }: CodedSalts, from: number, to: number): CodedSalts {
  const cut: SaltRun[] = [];
  let [first, skipped, kept] = [0, 0, 0];
  for (const run of runs) {
    const before = (item: number): number => Math.min(Math.max(item - first, 0), run.count);
    const count = before(to) - before(from);
    if (count > 0) cut.push({ ...run, count });
    if (run.coding === 'explicit') {
      skipped += before(from);
      kept += count;
    }
    first += run.count;
  }
  const start = SALT_BYTES * skipped;
  return { runs: cut, explicit: explicit.subarray(start, start + SALT_BYTES * kept) };
}

/**
 * Returns the salts of all items, 40 bytes each. `areCodedAs` checks that the codings are right.
 *
 * @param statements as many as the runs count; their keys have been checked
 */
export function completeSalts(
  { runs, explicit }: CodedSalts,
  statements: readonly Statement[],
): Uint8Array<ArrayBuffer> {
  const salts = new Uint8Array(SALT_BYTES * statements.length);
  let written = 0;
  for (const [item, { coding, version }] of codingsOf(runs).entries()) {
    const statement = statements[item]!;
    const salt =
      coding === 'constant'
        ? constantSalt(version, setOf(statement))
        : coding === 'derived'
          ? derivedSalt(statement)
          : explicit.subarray(written, (written += SALT_BYTES));
    salts.set(salt, SALT_BYTES * item);
  }
  return salts;
}

/** Returns whether `codeSalts` would code every salt this way. @param salts from `completeSalts` */
export function areCodedAs(
  runs: readonly SaltRun[],
  salts: Uint8Array,
  statements: readonly Statement[],
): boolean {
  return codingsOf(runs).every(({ coding }, item) => {
    const salt = salts.subarray(SALT_BYTES * item, SALT_BYTES * (item + 1));
    const statement = statements[item]!;
    // Derived salts have just been computed and need no second derivation.
    if (coding === 'derived') return !isConstantSalt(salt, setOf(statement));
    return codingOf(salt, statement) === coding;
  });
}

/** Returns the run of every item. */
const codingsOf = (runs: readonly SaltRun[]): SaltRun[] =>
  runs.flatMap((run) => new Array<SaltRun>(run.count).fill(run));

function codingOf(salt: Uint8Array, statement: Statement): SaltCoding {
  if (isConstantSalt(salt, setOf(statement))) return 'constant';
  return equal(salt, derivedSalt(statement)) ? 'derived' : 'explicit';
}

/** Returns the set of a key that has been checked. */
const setOf = ({ publicKey }: Statement): ParameterSet => setOfPublicKey(publicKey)!;
