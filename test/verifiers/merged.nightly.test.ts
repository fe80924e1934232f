/** The largest merged proof, 18 parts of 5632 signatures, before the library and merged.py. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  type AggregateItem,
  aggregateParts,
  MAX_MERGED_PARTS,
  MAX_PROOF_ITEMS,
  mergeParts,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { formatResultFile, makeResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';

const SCRIPT = fileURLToPath(new URL('../../verifiers/python/merged.py', import.meta.url));

test('101,376 signatures in 135 kB', { timeout: 14_400_000 }, async () => {
  const each = MAX_PROOF_ITEMS.falcon512;
  const keys = Array.from({ length: 100 }, (_, i) =>
    falcon512.keygen(new Uint8Array(48).fill(i + 1)),
  );
  const items: AggregateItem[] = [];
  const parts = (async function* () {
    for (let part = 0; part < MAX_MERGED_PARTS; part++) {
      const own = Array.from({ length: each }, (_, i): AggregateItem => {
        const { publicKey, secretKey } = keys[i % keys.length]!;
        const message = new TextEncoder().encode(`message ${each * part + i}`);
        const signature = falcon512.sign(message, secretKey, { salt: 'derived' });
        return { publicKey, message, signature };
      });
      items.push(...own);
      for await (const made of aggregateParts(own, { threads: 2 })) {
        yield { part: made, statements: own };
      }
    }
  })();
  const aggregate = await mergeParts(parts, { threads: 2 });
  expect(items.length).toBe(101_376);
  expect(aggregate.length).toBeLessThanOrEqual(135_000);
  expect(verifyAggregate(aggregate, items)).toBe(true);

  const folder = mkdtempSync(join(tmpdir(), 'falconry-merged-'));
  try {
    const result = makeResultFile({ processId: null, aggregate, items, timings: {} });
    const [resultFile, taskFile] = [join(folder, 'result.json'), join(folder, 'task.json')];
    writeFileSync(resultFile, formatResultFile(result));
    writeFileSync(taskFile, formatTaskFile(items));
    const run = spawnSync('python3', ['-B', SCRIPT, resultFile, taskFile], { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.stdout).toMatch(/^valid merged proof; 18 parts; 101376 of Falcon-512/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
