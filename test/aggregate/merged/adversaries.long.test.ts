/**
 * Cheating provers of merged proofs: each breaks what a verifier goes by, unless that verifier
 * shares a coefficient that docs/merged.md, 1.4 or 1.5, draws separately. Then nothing is broken
 * but the equations whose errors cancel.
 */
import { describe, expect, test } from 'vitest';
import { ADVERSARIES, forge } from '../../reference/merged/adversaries.ts';
import { brokenClaims } from '../../reference/merged/identities.ts';
import type { ShownMerged } from '../../reference/merged/level.ts';
import { signedNormSq } from '../../reference/prover/steps.ts';

const LIMIT = { timeout: 120_000 };
const named = (name: string) => ADVERSARIES[name]!;

describe('errors that cancel if a coefficient is shared', () => {
  test.each([
    'y_5 + 3 and y_5 - 3 in two parts',
    'y_x, 5 + 3 and y_x, 5 - 3 in two parts',
    'y of two parts exchanged',
    'errors r, -r of E5',
    'errors r, -r of D_before',
  ])('%s', LIMIT, (name) => {
    const adversary = named(name);
    const { parts, views } = forge(adversary);
    expect(brokenClaims(parts, views)).toEqual([adversary.shares === 'chi' ? 'E6' : 'D']);
    const shared = forge(adversary, true);
    expect(brokenClaims(shared.parts, shared.views, adversary.shares)).toEqual([]);
  });
});

test('a prover that shares a coefficient of lifts', LIMIT, () => {
  const { parts, views } = forge(named('upsilon of all parts that of part 1'));
  expect(brokenClaims(parts, views)).toEqual(['D']);
  expect(brokenClaims(parts, views, 'upsilon')).toEqual([]);
});

describe('a wrong scalar for part 2 alone', () => {
  test.each(['(P)', '(P_x)', '(Q)', '(T_b)'])('of %s', LIMIT, (equation) => {
    const { parts, views } = forge(named(`a wrong scalar of ${equation} for part 2`));
    expect(brokenClaims(parts, views)).toEqual(['D']);
  });
});

describe('a norm between two bounds', () => {
  const normsOf = (name: string) => {
    const { row } = named(name);
    const { parts, views } = forge(named(name));
    expect(brokenClaims(parts, views)).toEqual([]);
    const { projections } = views[1]!.values as ShownMerged;
    const [, , zero, [inP, , XP]] = row[0];
    const norms = projections.map(({ ofX }) => Number(signedNormSq(ofX!)) / 288);
    return { norms, X: zero[15] as number, XP, inP };
  };

  test('XP and inP', LIMIT, () => {
    const { norms, XP, inP } = normsOf('x beyond XP, within inP');
    expect(norms[0]).toBeGreaterThan(XP);
    expect(norms[0]).toBeLessThan(inP);
  });

  test('X and XP: a valid proof', LIMIT, () => {
    const { norms, X, XP } = normsOf('x beyond X, within XP');
    for (const norm of norms) {
      expect(norm).toBeGreaterThan(X);
      expect(norm).toBeLessThanOrEqual(XP);
    }
  });
});

test('places of absent parts are padding', LIMIT, () => {
  const { parts, views } = forge(named('a polynomial at a place of an absent part'));
  expect(brokenClaims(parts, views)).toEqual(['padding', 'E6']);
});

test('attempts and retries are those of the text', LIMIT, () => {
  const tried = (name: string) => {
    const { bytes, parts, views } = forge(named(name));
    const [part] = parts;
    // magic, format, version; PART_HASH; P; headers; fields of level 0
    const length = (one: typeof part) => one!.header.length + one!.fields.length;
    const at = 6 + 32 + 2 + parts.reduce((sum, one) => sum + length(one), 0);
    return { sent: [...bytes.subarray(at, at + 2)], retries: views.map((view) => view?.retry) };
  };
  expect(tried('a second attempt')).toEqual({ sent: [1, 0], retries: [undefined, 0, 0] });
  expect(tried('level 1 once more, since the tail fails with every retry')).toEqual({
    sent: [0, 1],
    retries: [undefined, 1, 0],
  });
});
