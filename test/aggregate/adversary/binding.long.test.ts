/**
 * What a proof is bound to: provers that are honest in everything but that they take in another
 * row, another set, another count, another header or another label. Each proof is refused, and
 * accepted by the verifier that takes in the same; and an encoding other than the one there is.
 */
import { expect, test } from 'vitest';
import type { TraceEvent } from '../../reference/prover/trace.ts';
import type { AbsorbAs } from '../../reference/verifier/transcript.ts';
import { type SectionInput, verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { NIGHTLY } from '../../support/run.ts';
import { toyProof } from '../reference/toyProofs.ts';
import { TOY1, TOY2 } from '../reference/toyRows.ts';

const LONG = { timeout: 600_000 };
const START = 'falconry/proof/v3';
const ended = ({ bytes }: SectionInput) => ({ ok: true, length: bytes.length });

const changedAt =
  (of: string, at: number): AbsorbAs =>
  ({ label, data }) => ({
    label,
    data: label === of ? data.map((x, i) => (i === at ? x ^ 1 : x)) : data,
  });
const relabelled =
  (of: string, to: string): AbsorbAs =>
  ({ label, data }) => ({ label: label === of ? to : label, data });

const others: readonly (readonly [string, AbsorbAs, 'short' | 'long'])[] = [
  ['another row of the table', changedAt(START, 17), 'short'],
  ['another set', changedAt(START, 32), 'short'],
  ['another bucket', changedAt(START, 33), 'short'],
  ['another count of items', changedAt(START, 35), 'short'],
  ['another statement in the header', changedAt('header', 20), 'short'],
  ['a salt of the header', changedAt('header', 50), 'short'],
  ['another protocol', relabelled(START, 'falconry/proof/v2'), 'short'],
  ...['header', 'retry', 'uA', 'uB', 'counter', 'y', 'b', 'u2', 't', 'h'].map(
    (label) => [`another label of ${label}`, relabelled(label, `${label}.`), 'short'] as const,
  ),
  ['u1 under the label of u2', relabelled('u1', 'u2'), 'long'],
];

// a few in every run
const tried = NIGHTLY ? others : others.filter((_, i) => i % 8 === 0 && i < 16);

test.each(tried)('bound: %s', LONG, (_name, absorbAs, row) => {
  const proof = toyProof(row === 'short' ? TOY1 : TOY2, { faults: { absorb: absorbAs } });
  expect(verifyReferenceSection(proof).ok).toBe(false);
  expect(verifyReferenceSection({ ...proof, absorbAs })).toEqual(ended(proof));
});

test(
  'a proof without a fault is accepted, and by no verifier with another transcript',
  LONG,
  () => {
    const proof = toyProof(TOY1);
    expect(verifyReferenceSection(proof)).toEqual(ended(proof));
    for (const [, absorbAs, row] of tried) {
      if (row === 'long') continue;
      expect(verifyReferenceSection({ ...proof, absorbAs }).ok).toBe(false);
    }
  },
);

test('bits between fields: no second encoding of the same proof', LONG, () => {
  const fields: { readonly name: string; readonly end: number }[] = [];
  const trace = (event: TraceEvent): void => {
    if (event.kind !== 'field') return;
    fields.push({ name: event.name, end: (fields.at(-1)?.end ?? 0) + event.bytes.length });
  };
  const proof = toyProof(TOY1, { trace });
  // the lifts of level 0: all other fields are whole bytes
  const { end } = fields.find(({ name }) => name === 'b')!;
  for (const bit of [0x10, 0x80]) {
    const bytes = proof.bytes.slice();
    bytes[end - 1]! ^= bit;
    const verdict = verifyReferenceSection({ ...proof, bytes });
    expect(verdict).toMatchObject({ ok: false, why: expect.stringMatching(/^fill/) });
    // the transcript takes them in, too
    const weak = verifyReferenceSection({ ...proof, bytes, checks: { fill: false } });
    expect(weak).toMatchObject({ ok: false, why: expect.stringMatching(/^seal/) });
  }
});
