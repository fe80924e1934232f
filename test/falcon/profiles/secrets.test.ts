/** The secret calls of the FN-DSA draft: what they leave in memory. */
import { describe, expect, test } from 'vitest';
import * as relaxed from '../../../src/falcon/falcon.relaxed.wasm.gen.ts';
import { MODULE } from '../../../src/falcon/falcon.wasm.gen.ts';
import { fnDsaDraft512, fnDsaDraft1024 } from '../../../src/falcon/profiles/fnDsaDraft.ts';
import { Machine } from '../../../src/falcon/wasm.ts';
import { moduleBytes } from '../../../src/shared/moduleEdits.ts';
import { testRandom } from '../../support/random.ts';

const SETS = [
  { draft: fnDsaDraft512, logn: 9 },
  { draft: fnDsaDraft1024, logn: 10 },
] as const;
const E_SK_INVALID = -9;

describe.each([
  ['plain', undefined],
  ['relaxed', relaxed.EDITS],
] as const)('memory after a call, %s module', (_, edits) => {
  const code = new WebAssembly.Module(moduleBytes(MODULE, edits));
  const fresh = () => new Machine(new WebAssembly.Instance(code));

  test.each(SETS)('logn $logn', ({ draft, logn }) => {
    const { exports, memory } = fresh();
    const random = testRandom(`memory of the draft ${logn}`);
    // the tables of primes are made once
    memory.set(random.bytes(48), exports.SEED.value);
    expect(exports.keygenDraft(logn, 0)).toBe(0);
    exports.wipe();
    const results = (bytes: Uint8Array) => {
      const copy = bytes.slice();
      copy.fill(0, exports.PK.value, exports.PK.value + 1793);
      copy.fill(0, exports.SIG.value, exports.SIG.value + 1577);
      return copy;
    };
    const pristine = results(memory);
    const body = draft.lengths.secretKey - 64;
    const { secretKey } = draft.keygen(random.bytes(32));
    const calls: Record<string, () => void> = {
      keygen: () => expect(exports.keygenDraft(logn, 0)).toBe(0),
      sign: () => {
        memory.set(secretKey.subarray(0, body), exports.SK.value);
        memory.set(random.bytes(64), exports.IN.value);
        expect(exports.signDraft(logn)).toBe(draft.lengths.signature);
      },
      'sign, a key without an inverse': () => {
        memory.set(secretKey.subarray(0, body).slice().fill(0, 1, 600), exports.SK.value);
        expect(exports.signDraft(logn)).toBe(E_SK_INVALID);
      },
      repack: () => {
        memory.set(secretKey.subarray(0, body), exports.SK.value);
        exports.repackSecretKey(logn, false);
      },
    };
    for (const [name, call] of Object.entries(calls)) {
      memory.set(random.bytes(40), exports.SEED.value);
      call();
      expect(Buffer.from(results(memory)).equals(pristine), `${name}, before the wipe`).toBe(false);
      exports.wipe();
      const at = results(memory).findIndex((byte, i) => byte !== pristine[i]);
      expect(at, name).toBe(-1);
    }
  });
});
