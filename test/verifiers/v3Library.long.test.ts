/**
 * The library's verifier on proofs of version 3 (docs/decisions/0058) that another hand's slow
 * prover makes: the sound ones are accepted, and those that a verifier accepts which forgets one
 * kind of equation at one level are refused.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { TableRow } from '../../src/aggregate/parameters/rows.ts';
import { verifySection } from '../../src/aggregate/proof/index.ts';
import { concat, fromHex } from '../../src/bytes.ts';

interface Case {
  readonly name: string;
  readonly kind?: string;
  readonly row: TableRow;
  readonly header: string;
  readonly tableHash: string;
  readonly items: readonly Record<'publicKey' | 'message' | 'salt', string>[];
  readonly proof: string;
  readonly isSound: boolean;
}

const noPython = spawnSync('python3', ['-c', 'import sys']).status !== 0;
if (noPython && process.env.CI === 'true') throw new Error('no python3 on this machine');

function casesOf(group: string): Case[] {
  const run = spawnSync('python3', ['-B', 'emit_cases.py', group], {
    cwd: fileURLToPath(new URL('v3/', import.meta.url)),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  expect(run.stderr).toBe('');
  return JSON.parse(run.stdout) as Case[];
}

const isAccepted = ({ row, header, tableHash, items, proof }: Case): boolean =>
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
    table: { row, hash: fromHex(tableHash) },
  }) ===
  proof.length / 2;

const LONG = { timeout: 900_000 };

test.skipIf(noPython).each([
  ['honest', 5, 0],
  ['equations', 0, 15],
  ['digits', 1, 11],
])('%s', LONG, (group, sound, unsound) => {
  const cases = casesOf(group);
  expect(cases.filter(({ isSound }) => isSound).length).toBe(sound);
  expect(cases.filter(({ isSound }) => !isSound).length).toBe(unsound);
  const wrong = cases.filter((given) => isAccepted(given) !== given.isSound);
  expect(wrong.map(({ name, kind }) => `${name} ${kind ?? ''}`)).toEqual([]);
});
