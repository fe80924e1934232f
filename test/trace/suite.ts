/**
 * Traces the secret calls of the module over many keys, and holds what differs to the list in
 * places.ts.
 *
 * Two things are random by design, and what they decide is not secret: which candidates the sampler
 * refuses, and which candidates of key generation, and redraws for parity, come before the key. So
 * each call is traced twice:
 *
 *   with the same decisions   the sampler's are forced to be the same for all keys; keys are traced
 *                             whose first candidate was good and was drawn without a redraw.
 *                             Nearly nothing may differ then.
 *   with its own decisions    what else differs is in the sampler, or in the generator that feeds
 *                             it; and nothing is done that is not done with the same decisions
 *                             too, so that nothing escapes the comparison.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { DERIVED, DETERMINISTIC, HEDGED } from '../../src/falcon/params.ts';
import { numberedSeed } from '../support/keygenModel.ts';
import { testRandom } from '../support/random.ts';
import { SHORT_RUN } from '../support/run.ts';
import type { Hook } from './instrument.ts';
import {
  type Allowed,
  type Arithmetic,
  COMPRESSION,
  COMPRESSION_PADDED,
  FIT,
  FIT_PADDED,
  ON_DOUBLES,
  PADDING,
  REDRAW,
  REDRAWS,
  RELEASED,
  TIES,
} from './places.ts';
import { differing, type Trace, type Tracer } from './tracer.ts';

const CALL = 0x10;
const I32_OR = 0x72;
const JUDGED = { line: 'const judged = judgeFour(r, dss, ccs);', code: CALL, through: 'verdict' };
/**
 * Where the sampler decides (in samplePair, in sampleOne, in a tie), and where a candidate of key
 * generation begins.
 */
export const HOOKS: readonly Hook[] = [
  { ...JUDGED, through: 'verdict' },
  { ...JUDGED, through: 'verdict' },
  { line: 'return (count << 1) | (w >>> 31);', code: I32_OR, through: 'settled' },
  {
    line: 'return sampleSmall(f, logn) && sampleSmall(g, logn);',
    code: CALL,
    before: 'restart',
  },
];

/** Numbered seeds whose first candidate becomes the key, without a redraw. */
const FIRST = {
  512: [
    ...[4, 94, 96, 109, 131, 190, 191, 238, 290, 481, 522, 541, 556, 571, 581, 736, 780, 827],
    ...[841, 865, 883, 909, 935, 998, 1061, 1148, 1152, 1203, 1265],
  ],
  1024: [
    ...[114, 197, 282, 481, 580, 625, 641, 671, 676, 692, 771, 1038, 1075, 1331, 1361, 1585],
    ...[1647, 1685, 1768, 1884],
  ],
} as const;

const SETS = [
  { degree: 512, logn: 9, falcon: falcon512 },
  { degree: 1024, logn: 10, falcon: falcon1024 },
] as const;
const [COMPRESSED, PADDED, CONSTANT_TIME] = [0, 1, 2];
const E_INTERNAL = -10;

/**
 * The same decisions for everybody: candidates accepted as often as they are, but more ties (1 in
 * 16 verdicts).
 */
function decisions(random: ReturnType<typeof testRandom>): number[] {
  return Array.from({ length: 4096 }, () => {
    const bytes = random.bytes(8);
    let verdict = bytes[6]! < 16 ? 16 : 0;
    for (const [i, bit] of [0, 1, 2, 9, 10, 11].entries()) {
      if (bytes[i]! < 147) verdict |= 1 << bit;
    }
    // one byte was compared, hardly ever two; accepted or not
    const settled = [2, 3, 3, 2, 3, 2, 3, 4][bytes[7]! & 7]!;
    return verdict | (settled << 16);
  });
}

/** Exactly the places that differ are those of the list, and all of its places do. */
export function expectList(names: readonly string[], list: readonly Allowed[]): void {
  const allowed = list.flatMap(({ places }) => places);
  expect(names.filter((name) => !allowed.some((place) => name.startsWith(place)))).toEqual([]);
  expect(allowed.filter((place) => !names.some((name) => name.startsWith(place)))).toEqual([]);
}

export function traceSuite(
  makeTracer: () => Promise<Tracer>,
  keyCount: number,
  { EXPANSION, REDUCTION, REJECTION }: Arithmetic = ON_DOUBLES,
): void {
  let m: Tracer;
  beforeAll(async () => {
    m = await makeTracer();
  });

  describe.each(SHORT_RUN ? SETS.slice(0, 1) : SETS)(
    'Falcon-$degree',
    ({ degree, logn, falcon }) => {
      const random = testRandom(`trace ${degree}`);
      const keys = Array.from({ length: keyCount }, () => falcon.keygen(random.bytes(48)));
      const secrets = keys.map((pair, i) => {
        return { ...pair, number: i, samplerSeed: random.bytes(48), message: random.bytes(100) };
      });
      const forced = decisions(random);

      /** One trace for each of `list`; the module is as it was before the first one. */
      const traced = <T>(list: readonly T[], call: (item: T) => void): Trace[] =>
        list.map((item) => {
          const trace = m.trace(() => call(item));
          m.exports.wipe!();
          return trace;
        });
      const put = (region: string, bytes: Uint8Array) => m.bytes(region, bytes.length).set(bytes);
      /** Places that were passed in some of the traces. */
      const passed = (traces: readonly Trace[]) =>
        new Set([...m.places.keys()].filter((at) => traces.some((trace) => trace[at] !== 0n)));
      const escaped = (own: readonly Trace[], same: readonly Trace[]) => {
        const compared = passed(same);
        return [...passed(own)].filter((at) => !compared.has(at)).map((at) => m.nameOf(at));
      };

      beforeAll(() => {
        // the tables of primes are made once
        put('SEED', random.bytes(48));
        m.exports.keygen!(logn, 48);
        m.exports.wipe!();
      });

      test('getPublicKey: no place differs', () => {
        const traces = traced(secrets, ({ secretKey }) => {
          put('SK', secretKey);
          expect(m.exports.publicKey!(logn)).toBe(0);
        });
        expect(passed(traces).size).toBeGreaterThan(300);
        expectList(differing(m, traces), []);
      });

      test('expandSecretKey: the operands of divisions and square roots', () => {
        const traces = traced(secrets, ({ secretKey }) => {
          put('SK', secretKey);
          expect(m.exports.expandKey!(logn)).toBe(0);
        });
        expectList(differing(m, traces), [EXPANSION]);
      });

      /** Signs with a raw key; the salt and the message are the same for all, unless `own` is set. */
      const signing = (format: number, own: boolean) => (secret: (typeof secrets)[number]) => {
        put('SK', secret.secretKey);
        put('SEED', own ? secret.message.subarray(0, 40) : new Uint8Array(40).fill(7));
        m.bytes('SEED', 88).set(secret.samplerSeed, 40);
        put('IN', own ? secret.message : new Uint8Array(100).fill(9));
        expect(m.exports.expandKey!(logn)).toBe(0);
        return m.exports.signExpanded!(logn, format, 100, 0);
      };
      /**
       * By forced decisions no signature is short enough: every attempt is made, and all that comes
       * after it.
       */
      const sameDecisions = (format: number, own = false) =>
        traced(secrets, (secret) => {
          m.force(forced);
          expect(signing(format, own)(secret)).toBe(E_INTERNAL);
          m.force([]);
        });
      const ownDecisions = (format: number, own = false) =>
        traced(secrets, (secret) => {
          expect(signing(format, own)(secret)).toBeGreaterThan(0);
        });

      /** Traces by the same decisions, which the last test of signing needs again. */
      const same: Trace[] = [];

      test('sign, the same decisions of the sampler: divisions, and bytes compared in a tie', () => {
        const traces = sameDecisions(CONSTANT_TIME);
        expectList(differing(m, traces), [EXPANSION, TIES]);
        same.push(...traces);
      });

      test('sign, constant time: neither salt nor message makes a difference', () => {
        expectList(differing(m, sameDecisions(CONSTANT_TIME, true)), [EXPANSION, TIES]);
      });

      test('sign, other forms: the coding of s2 besides', () => {
        const compressed = sameDecisions(COMPRESSED);
        expectList(differing(m, compressed), [EXPANSION, TIES, COMPRESSION]);
        const padded = sameDecisions(PADDED);
        expectList(differing(m, padded), [EXPANSION, TIES, COMPRESSION_PADDED]);
        same.push(...compressed, ...padded);
      });

      test('sign, its own decisions: the sampler besides; all that is done was compared', () => {
        expect(same.length).toBe(3 * keyCount);
        const constantTime = ownDecisions(CONSTANT_TIME, true);
        expectList(differing(m, constantTime), [EXPANSION, REJECTION]);
        const compressed = ownDecisions(COMPRESSED);
        expectList(differing(m, compressed), [EXPANSION, REJECTION, RELEASED]);
        const all = [...constantTime, ...compressed, ...ownDecisions(PADDED)];
        expectList(escaped(all, same), [PADDING]);
      });

      /** The coins of a message, and its salt, from a raw key. */
      const coins = (kind: number, { secretKey, message }: (typeof secrets)[number]) => {
        put('SK', secretKey);
        expect(m.exports.expandKey!(logn)).toBe(0);
        m.exports.absorbKey!(logn, kind);
        put('IN', message);
        m.exports.startCoins!(logn, kind);
        m.exports.updateCoins!(kind, m.bytes('IN', 1).byteOffset, message.length);
        m.exports.finishCoins!(kind);
      };

      test('coins and derived salts: no place differs but those of expansion', () => {
        for (const kind of [DETERMINISTIC, DERIVED]) {
          const traces = traced(secrets, (secret) => coins(kind, secret));
          expectList(differing(m, traces), [EXPANSION]);
        }
      });

      test('reproducible, constant time: the coding of s2 in the form that it has to fit', () => {
        for (const kind of [DETERMINISTIC, DERIVED]) {
          const traces = traced(secrets, (secret) => {
            coins(kind, secret);
            const length = secret.message.length;
            const status = m.exports.signReproducibly!(logn, kind, CONSTANT_TIME, length);
            expect(status).toBeGreaterThan(0);
          });
          const fit = kind === DERIVED ? [FIT, FIT_PADDED] : [FIT];
          expectList(differing(m, traces), [EXPANSION, REJECTION, ...fit]);
        }
      });

      test('hedged, constant time: no place differs but those of expansion and the sampler', () => {
        const traces = traced(secrets, ({ secretKey, message, samplerSeed }) => {
          put('SK', secretKey);
          expect(m.exports.expandKey!(logn)).toBe(0);
          m.exports.absorbKey!(logn, HEDGED);
          m.bytes('SEED', 88).set(samplerSeed, 40);
          m.exports.startHedged!(logn, CONSTANT_TIME, 0);
          put('IN', message);
          const { length } = message;
          expect(m.exports.signHedged!(logn, CONSTANT_TIME, length, 0)).toBeGreaterThan(0);
        });
        expectList(differing(m, traces), [EXPANSION, REJECTION]);
      });

      test('keygen, candidates drawn alike: the operands of divisions', () => {
        const alike = traced(FIRST[degree], (number) => {
          put('SEED', numberedSeed(number));
          expect(m.exports.keygen!(logn, 48)).toBe(0);
        });
        expect(alike.length).toBeGreaterThanOrEqual(20);
        expectList(differing(m, alike), [REDUCTION]);

        const drawn = testRandom(`trace keygen ${degree}`);
        const seeds = Array.from({ length: Math.max(30, keyCount) }, () => drawn.bytes(48));
        const any = traced(seeds, (seed) => {
          put('SEED', seed);
          expect(m.exports.keygen!(logn, 48)).toBe(0);
        });
        expectList(differing(m, any), [REDUCTION, REDRAWS]);
        expectList(escaped(any, alike), [REDRAW]);
      });

      test('verifying a constant-time signature: no place differs', () => {
        const drawn = testRandom(`trace verify ${degree}`);
        const signed = Array.from({ length: Math.max(24, keyCount) }, (_, i) => {
          const { publicKey, secretKey, message } = secrets[i % keyCount]!;
          const testSeed = { salt: drawn.bytes(40), samplerSeed: drawn.bytes(48) };
          const sign = (format: 'constantTime' | 'compressed') =>
            falcon.sign(message, secretKey, { format, testSeed });
          return { publicKey, message, signature: sign('constantTime'), other: sign('compressed') };
        });
        const verifying = (which: 'signature' | 'other') =>
          traced(signed, (item) => {
            put('PK', item.publicKey);
            put('SIG', item[which]);
            put('IN', item.message);
            expect(m.exports.verify!(logn, item[which].length, item.message.length)).toBe(0);
          });
        expectList(differing(m, verifying('signature')), []);
        // the trace sees what the other hash to point does
        const names = differing(m, verifying('other'));
        expect(names.some((name) => name.startsWith('hashToPoint/squeezePoint: address'))).toBe(
          true,
        );
        expect(names.some((name) => name.startsWith('hashToPoint/squeezePoint: branch'))).toBe(
          true,
        );
      });
    },
  );
}
