/** The prover and the second verifier, written by two hands from one text, meet. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { observed } from '../aggregate/hidden/observed.ts';
import * as ROWS from '../reference/hiddenRows.ts';
import { headerOf, type SignedItem, signedItems } from '../reference/items.ts';
import { hashOfRow } from '../reference/table.ts';
import { hex } from '../support/hex.ts';

interface Case {
  readonly row: unknown;
  readonly header: string;
  readonly rowHash: string;
  readonly items: unknown;
  readonly proof: string;
}

const rows = Object.entries(ROWS);
const noPython = spawnSync('python3', ['-c', 'import sys']).status !== 0;
if (noPython && process.env.CI === 'true') throw new Error('no python3 on this machine');

/** @returns null, or the rule that is broken, for each */
function judge(cases: readonly Case[]): unknown {
  const run = spawnSync('python3', ['-B', 'judge_cases.py'], {
    cwd: fileURLToPath(new URL('hidden/', import.meta.url)),
    input: JSON.stringify(cases),
    encoding: 'utf8',
  });
  expect(run.stderr).toBe('');
  return JSON.parse(run.stdout);
}

async function caseOf(row: (typeof rows)[number][1], items: readonly SignedItem[]): Promise<Case> {
  const { bytes } = await observed(row, items);
  return {
    row,
    header: hex(headerOf(items, [hashOfRow(row)])),
    rowHash: hex(hashOfRow(row)),
    items: items.map(({ publicKey, message, signature }) => {
      return {
        publicKey: hex(publicKey),
        message: hex(message),
        salt: hex(signature.subarray(1, 41)),
      };
    }),
    proof: hex(bytes),
  };
}

/** The proof with one bit turned. */
function spoilt(given: Case, bit: number): Case {
  const proof = Uint8Array.from(Buffer.from(given.proof, 'hex'));
  proof[bit >> 3]! ^= 1 << (bit & 7);
  return { ...given, proof: hex(proof) };
}

test.skipIf(noPython).each(rows)('%s: accepted, and refused when spoilt', async (_, row) => {
  const items = signedItems('falcon512', row[1]);
  const good = await caseOf(row, items);
  expect(judge([good])).toEqual([null]);
  const bits = 4 * good.proof.length;
  const places = Array.from({ length: 8 }, (_, i) => Math.floor(((i + 0.37) * bits) / 8));
  const others = [
    { ...good, header: `${good.header}00` },
    { ...good, rowHash: 'ab'.repeat(32) },
  ];
  const bad = judge([...places.map((bit) => spoilt(good, bit)), ...others]) as unknown[];
  expect(bad.length).toBe(places.length + others.length);
  for (const rule of bad) expect(rule).toEqual(expect.any(String));
});
