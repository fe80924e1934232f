/**
 * Proofs of toy rows that another hand's slow prover makes, before the second verifier and the
 * library's. Both accept the sound ones. Of the others, each breaks one rule, or two: the second
 * verifier accepts it without them and refuses it with any, and the library's refuses it.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { TableRow } from '../../src/aggregate/parameters/rows.ts';
import { verifySection } from '../../src/aggregate/proof/index.ts';
import { concat, fromHex } from '../../src/shared/bytes.ts';
import { NIGHTLY } from '../support/run.ts';

interface Case {
  readonly name: string;
  readonly row: TableRow;
  readonly header: string;
  readonly rowHash: string;
  readonly items: readonly Record<'publicKey' | 'message' | 'salt', string>[];
  readonly proof: string;
}

/** What the second verifier says: null, or the rule that is broken. */
interface Forgery extends Case {
  readonly rule: string;
  readonly rules: number;
  readonly forgetful: string | null;
  readonly whole: readonly (string | null)[];
  readonly partial: readonly (string | null)[];
}

const noPython = spawnSync('python3', ['-c', 'import sys']).status !== 0;
if (noPython && process.env.CI === 'true') throw new Error('no python3 on this machine');

function casesOf<C extends Case>(...args: readonly string[]): C[] {
  const run = spawnSync('python3', ['-B', 'emit_cases.py', ...args], {
    cwd: fileURLToPath(new URL('hidden/', import.meta.url)),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  expect(run.stderr).toBe('');
  return JSON.parse(run.stdout) as C[];
}

const isAccepted = ({ row, header, rowHash, items, proof }: Case): boolean =>
  verifySection({
    set: 'falcon512',
    header: fromHex(header),
    statements: items.map(({ publicKey, message }) => ({
      set: 'falcon512',
      publicKey: fromHex(publicKey),
      message: fromHex(message),
    })),
    salts: concat(...items.map(({ salt }) => fromHex(salt))),
    bytes: fromHex(proof),
    at: 0,
    other: { row, hash: fromHex(rowHash) },
  }) ===
  proof.length / 2;

const LONG = { timeout: 900_000 };

test.skipIf(noPython)('sound', LONG, () => {
  const cases = casesOf('sound');
  expect(cases.length).toBe(7);
  expect(cases.filter((each) => !isAccepted(each)).map(({ name }) => name)).toEqual([]);
});

/** Three seconds each: the long run takes one of each kind, the nightly one all. */
test.skipIf(noPython).each([
  ['messages', 3, 39],
  ['digits', 4, 33],
  ['lifts', 4, 25],
  ['rests', 4, 28],
])('%s', LONG, (group, some, all) => {
  const cases = casesOf<Forgery>(group, ...(NIGHTLY ? [] : ['1']));
  expect(cases.length).toBe(NIGHTLY ? all : some);
  for (const { name, rule, rules, forgetful, whole, partial } of cases) {
    expect(forgetful, name).toBe(null);
    expect(whole, name).toEqual(rules > 0 ? [rule, rule] : [rule]);
    expect(partial.length, name).toBe(rules > 1 ? rules : 0);
    for (const each of partial) expect(each, name).toEqual(expect.any(String));
  }
  expect(cases.filter(isAccepted).map(({ name }) => name)).toEqual([]);
});
