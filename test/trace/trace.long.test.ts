/** The same for the module without relaxed SIMD, and over more keys; and that the trace sees. */
import { describe, expect, test } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import { testRandom } from '../support/random.ts';
import { NIGHTLY } from '../support/run.ts';
import { EXPANSION, ON_INTEGERS } from './places.ts';
import { expectList, HOOKS, traceSuite } from './suite.ts';
import { differing, tracer } from './tracer.ts';

traceSuite(() => tracer('falcon', HOOKS), 100);
traceSuite(() => tracer('falcon.integer', HOOKS), NIGHTLY ? 100 : 30, ON_INTEGERS);

describe('dependencies planted in the decoder of secret keys', () => {
  /** Lines that change nothing that is computed, and depend on a coefficient x. */
  const PLANTED = {
    branch: 'if (x == 3) bad |= i32(load<u8>(SK) == 0);',
    select: 'bad = select<i32>(bad | i32(x == forbidden), bad, x < 0);',
    address: 'bad |= i32(load<u8>(SK + <usize>(x & 31)) == 0) & i32(x == forbidden);',
    division: 'bad |= i32(<u32>(x & 31) / <u32>logn > 31);',
  };
  const plant = (path: string, source: string) => {
    if (path !== 'assembly/falcon/secretKey.ts') return source;
    const line = '    bad |= i32(x == forbidden);\n';
    expect(source).toContain(line);
    const planted = Object.values(PLANTED).map((text) => `    ${text}\n`);
    return source.replace(line, line + planted.join(''));
  };

  test('each is found, by its kind and line', async () => {
    const m = await tracer('falcon.relaxed', [], plant);
    const random = testRandom('planted');
    const traces = Array.from({ length: 4 }, () => {
      const { secretKey } = falcon512.keygen(random.bytes(48));
      m.bytes('SK', secretKey.length).set(secretKey);
      const trace = m.trace(() => expect(m.exports.expandKey!(9)).toBe(0));
      m.exports.wipe!();
      return trace;
    });
    const names = differing(m, traces);
    const found = names.filter((name) => name.startsWith('secretKey/'));
    expectList(names, [
      EXPANSION,
      {
        why: 'planted',
        places: [
          ...Object.entries(PLANTED).map(
            ([kind, line]) => `secretKey/unpackSmall: ${kind}: ${line}`,
          ),
          // the load in the planted branch
          `secretKey/unpackSmall: address: ${PLANTED.branch}`,
        ],
      },
    ]);
    expect(found).toHaveLength(5);
    expect(() => expectList(names, [EXPANSION])).toThrow();
  });

  test('a listed place that never differs fails as well', () => {
    const never = { why: 'never', places: ['secretKey/unpackSmall: branch: nowhere'] };
    expect(() => expectList(EXPANSION.places, [EXPANSION, never])).toThrow();
    expect(() => expectList(EXPANSION.places, [EXPANSION])).not.toThrow();
  });
});
