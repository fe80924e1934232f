/** The relations of more rows; and any change of what the prover made is seen by some of them. */
import './relations.test.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { HIDDEN_TWICE } from '../../reference/hiddenRows.ts';
import { signedItems } from '../../reference/items.ts';
import { observed, type Run, type Seen } from './observed.ts';
import { broken } from './relations.ts';

const LONG = { timeout: 600_000 };

describe('levels 0 and 1 hidden, inner commitments of 1 cut, and the tail', () => {
  let run: Run;
  beforeAll(async () => {
    run = await observed(HIDDEN_TWICE, signedItems('falcon512', 1));
  }, LONG.timeout);

  /** The run with another level, and the relations that do not hold then, without their indexes. */
  const withChange = (number: number, change: (seen: Seen) => Partial<Seen>): string[] => {
    const levels = run.levels.map((seen, i) =>
      i === number ? { ...seen, ...change(seen) } : seen,
    );
    const names = broken({ ...run, levels }).map((name) => name.split(' ').slice(0, 2).join(' '));
    return [...new Set(names)];
  };

  test('all relations hold', LONG, () => {
    expect(broken(run)).toEqual([]);
  });

  test.each([
    ['z', 3, ['2 E3', '2 E4', '2 E5', '2 P']],
    ['x of u_1', 220, ['2 P_x', '2 Q', '2 E1', '2 P']],
    ['x of b', 246, ['2 P_x', '2 Q', '2 b', '2 E6', '2 P']],
    ['x of u_2', 276, ['2 P_x', '2 Q', '2 E2', '2 P']],
    ['v_t', 302, ['2 E1', '2 E3', '1 P', '2 P']],
    ['v_g', 352, ['2 E1', '2 E4', '2 E6', '2 P']],
    ['v_h', 412, ['2 E2', '2 E5', '2 E6', '2 P']],
    ['v_e', 487, ['2 E3', '2 E5', '1 v_e', '2 P']],
    ['e_1', 491, ['2 E1', '2 P']],
    ['e_2', 493, ['2 E2', '2 P']],
  ] as const)('another polynomial in %s is seen', LONG, (_, place, names) => {
    const seen = withChange(1, ({ out }) => ({
      out: out.with(place, out[place]!.with(5, out[place]![5]! + 1n)),
    }));
    expect(seen).toEqual(expect.arrayContaining([...names]));
  });

  test('coefficient 32 of a lift in x is seen by T_b', LONG, () => {
    const at = 36 + 44;
    const seen = withChange(0, ({ out }) => ({
      out: out.with(at, out[at]!.with(32, out[at]![32]! + 1n)),
    }));
    expect(seen).toEqual(expect.arrayContaining(['1 T_b', '1 b', '1 Q', '1 P_x']));
  });

  test.each(['uA', 'uB', 'b', 'u2'])('another commitment to %s is seen', LONG, (label) => {
    const seen = withChange(0, ({ absorbed }) => ({
      absorbed: { ...absorbed, [label]: absorbed[label]!.with(0, absorbed[label]![0]! ^ 1) },
    }));
    expect(seen).toEqual(expect.arrayContaining(['1 Q', '1 D']));
  });

  test('another coefficient 32 of a lift of level 0 is seen', LONG, () => {
    const seen = withChange(0, ({ absorbed }) => ({
      absorbed: { ...absorbed, b: absorbed.b!.with(528, absorbed.b![528]! ^ 1) },
    }));
    expect(seen).toEqual(expect.arrayContaining(['0 b_32', '1 T_b', '1 D']));
  });

  test.each([0, 271, 272, 273])('another value %i of y_x is seen', LONG, (place) => {
    const seen = withChange(1, ({ yOfX }) => ({ yOfX: yOfX!.with(place, yOfX![place]! + 1) }));
    expect(seen).toEqual(expect.arrayContaining(['1 P_x', '1 D', '2 T_b']));
  });
});
