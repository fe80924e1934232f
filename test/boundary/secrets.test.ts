/** Secrets leave with every exception: also when the stack is full, wherever that happens. */
import { describe, expect, test } from 'vitest';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { FALCON_512, FALCON_1024 } from '../../src/falcon/params.ts';
import { machine } from '../../src/falcon/wasm.ts';
import { testRandom } from '../support/random.ts';
import { SHORT_RUN } from '../support/run.ts';
import { foundSecrets, secretPieces } from '../support/secretScan.ts';
import { atEveryDepth } from './overflow.ts';

const SETS = [
  { falcon: falcon512, params: FALCON_512 },
  { falcon: falcon1024, params: FALCON_1024 },
];

const DERIVED = { salt: 'derived' } as const;

describe.each(SHORT_RUN ? SETS.slice(0, 1) : SETS)('$params.name', ({ falcon, params }) => {
  const random = testRandom(`secrets ${params.name}`);
  const seed = random.bytes(48);
  const message = random.bytes(32);
  const samplerSeed = random.bytes(48);
  const { publicKey, secretKey } = falcon.keygen(seed);
  const expanded = falcon.expandSecretKey(secretKey);
  const testSeed = { salt: random.bytes(40), samplerSeed };
  const pieces = secretPieces({ params, seed, secretKey, samplerSeed, expanded });

  test.each<[string, () => unknown]>([
    ['keygen', () => falcon.keygen(seed)],
    ['getPublicKey', () => falcon.getPublicKey(secretKey)],
    ['expandSecretKey', () => falcon.expandSecretKey(secretKey)],
    ['sign', () => falcon.sign(message, secretKey, { testSeed })],
    ['sign, long message', () => falcon.sign(new Uint8Array(20_000), secretKey, { testSeed })],
    ['sign, expanded key', () => falcon.sign(message, expanded, { testSeed })],
    ['sign, hedged', () => falcon.sign(message, secretKey)],
    ['sign, derived, long', () => falcon.sign(new Uint8Array(20_000), secretKey, DERIVED)],
    ...(SHORT_RUN
      ? []
      : ([['det.sign', () => falcon.det.sign(message, expanded)]] as [string, () => unknown][])),
    ['seal', () => falcon.attached.seal(message, secretKey, { testSeed })],
  ])('%s on a full stack', (_, call) => {
    const zeros = new Uint8Array(machine(falcon.module).memory.length);
    const leaks: string[] = [];
    let inside = 0;
    let before = machine(falcon.module);
    const failures = atEveryDepth(call, () => {
      // What failed inside the module cost it its instance, and left nothing in it.
      const isZero = Buffer.compare(before.memory, zeros) === 0;
      if (before.isLost) inside++;
      if (before.isLost && !isZero) leaks.push('an instance that is lost');
      if (!isZero) leaks.push(...foundSecrets(before.memory, pieces));
      before = machine(falcon.module);
    });
    expect(leaks).toEqual([]);
    expect(failures).toBeGreaterThan(20);
    expect(inside).toBeGreaterThan(5);
    // The next call is as good as any.
    const signature = falcon.sign(message, secretKey);
    expect(falcon.verify(signature, message, publicKey)).toBe(true);
  });
});
