/** Streams longer than memory should hold. */
import { describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { SETS, testKeys } from '../support/ours.ts';
import { NIGHTLY } from '../support/run.ts';

const PIECE = 1 << 20;
const PIECES = NIGHTLY ? 5000 : 300;
/** Far less than the message; engines collect garbage when they like. */
const LIMIT = 100 * PIECE;

describe.each(SETS)('a message of many megabytes, $falcon.name', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);

  test('is signed and verified in constant memory', { timeout: 600_000 }, async (context) => {
    let peak = 0;
    const used = () => {
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const message = async function* (last = 0) {
      // Every piece is read before the next one is asked for, so they may share their memory.
      const piece = new Uint8Array(PIECE);
      for (let i = 0; i < PIECES; i++) {
        piece.fill(i);
        if (i === PIECES - 1) piece[PIECE - 1] = last;
        yield piece;
        peak = Math.max(peak, used());
      }
    };
    const before = used();
    const signature = await falcon.signStream(message(), secretKey);
    expect(await falcon.verifyStream(signature, message(), publicKey)).toBe(true);
    expect(await falcon.verifyStream(signature, message(1), publicKey)).toBe(false);
    const grown = peak - before;
    expect(grown).toBeLessThan(LIMIT);
    const megabytes = (bytes: number) => Math.round(bytes / 1e6);
    const total = megabytes(PIECES * PIECE);
    fact(context, 'streams', `${falcon.name}: ${total} MB, memory ${megabytes(grown)} MB above`);
  });
});
