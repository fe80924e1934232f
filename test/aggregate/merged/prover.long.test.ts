/**
 * The prover of merged proofs: its bytes are those of the slow prover, which is written from
 * docs/merged.md alone, and a merger refuses parts that are not what they claim.
 */
import { describe, expect, it } from 'vitest';
import { type MergedParameters, readMergedRow } from '../../../src/aggregate/parameters/rows.ts';
import { type PartOutput, satisfiesClaim } from '../../../src/aggregate/proof/prover/partInput.ts';
import { proveMerge, provePart } from '../../../src/aggregate/proof/prover/prove.ts';
import { foldHere, planItems } from '../../../src/aggregate/proof/verifier/folds.ts';
import { parseZero } from '../../../src/aggregate/proof/verifier/parse.ts';
import { beginPart, claimOfPart } from '../../../src/aggregate/proof/verifier/part.ts';
import { Labrador } from '../../../src/aggregate/wasm.ts';
import { concat } from '../../../src/shared/bytes.ts';
import { type SignedItem, saltOf, signedItem } from '../../reference/items.ts';
import {
  headerOfPart,
  mergeParts,
  type Part,
  provePart as slowPart,
} from '../../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import type { MergedRow } from '../../reference/tableRow.ts';

const lab = new Labrador();

interface Made {
  readonly header: Uint8Array;
  readonly fields: Uint8Array;
  readonly output: Int16Array<ArrayBuffer>;
}

async function partOf(
  items: readonly SignedItem[],
  row: MergedRow,
  parameters: MergedParameters,
): Promise<Made> {
  const header = headerOfPart(items, row[0]);
  const part = await provePart(`falcon${row[0][0]}`, parameters, header, items);
  return { header, ...part! };
}

/** The claim of a part, as a merger verifies it. */
function claimed(
  { header, fields, output }: Made,
  items: readonly SignedItem[],
  parameters: MergedParameters,
): PartOutput {
  const stated = items.map((item) => ({ ...item, salt: saltOf(item) }));
  const parsed = parseZero(parameters, fields, 0)!;
  expect(parsed.end).toBe(fields.length);
  const part = { parameters, profile: 'round3', header, count: items.length } as const;
  const begun = beginPart({ ...part, fields: parsed.fields, items: stated })!;
  const claim = lab.scope(() => {
    const results = planItems(begun.input).map((job) => foldHere(lab, job));
    return claimOfPart(lab, begun, results)!;
  });
  return { ...claim, output };
}

/** The polynomials of the slow prover's output, in one list. */
const polynomialsOf = ({ output }: Part): number[] =>
  output.parts.flat().flatMap((polynomial) => Array.from(polynomial, Number));

describe.each(Object.entries(MERGED_TOY_ROWS))('%s', (_, row) => {
  const [[set, bucket], most] = row;
  const lists = Array.from({ length: most }, (_, part) =>
    Array.from({ length: part === 0 ? bucket : 1 }, (_, i) => {
      return signedItem(`falcon${set}`, bucket * part + i);
    }),
  );

  it('parts and merged proofs are those of the slow prover', async () => {
    const slow = lists.map((items) => slowPart(items, row[0]));
    for (let count = 1; count <= most; count++) {
      const parameters = readMergedRow(row, count);
      const parts: PartOutput[] = [];
      const made: Made[] = [];
      for (const [i, items] of lists.slice(0, count).entries()) {
        const part = await partOf(items, row, parameters);
        expect(Buffer.compare(part.fields, slow[i]!.fields)).toBe(0);
        expect(Array.from(part.output)).toEqual(polynomialsOf(slow[i]!));
        made.push(part);
        parts.push(claimed(part, items, parameters));
      }
      expect(parts.every((part) => satisfiesClaim(lab, parameters, part))).toBe(true);
      const rest = await proveMerge(parameters, parts);
      const fields = concat(...made.map((part) => part.fields), rest!);
      const bytes = mergeParts(slow.slice(0, count), row);
      expect(Buffer.compare(bytes.subarray(-fields.length), fields)).toBe(0);
    }
  });
});

describe('a merger checks of a part', () => {
  const row = MERGED_TOY_ROWS['levels 0 and 1 hidden']!;
  const parameters = readMergedRow(row, 1);
  const zero = parameters.levels[0]!;
  const items = [signedItem('falcon512', 0)];
  const made = (async () => claimed(await partOf(items, row, parameters), items, parameters))();

  it.each([
    ['the norm of its output', { outSq: 1 }],
    ['the norm of x', { xSq: 1 }],
  ])('%s', async (_, bound) => {
    const part = await made;
    const bounded = { ...parameters, levels: [{ ...zero, ...bound }] };
    expect(satisfiesClaim(lab, parameters, part)).toBe(true);
    expect(satisfiesClaim(lab, bounded, part)).toBe(false);
  });

  it('what its fields claim', async () => {
    const part = await made;
    const { claim } = part;
    const { hidden } = claim;
    const plus1 = <T extends { slice(): T; [i: number]: number }>(list: T, at = 0): T => {
      const copy = list.slice();
      copy[at]! += 1;
      return copy;
    };
    const b = claim.b.slice();
    b[0]! += 1n;
    const phi = claim.phi.slice();
    phi[64]! += 1n;
    const [[real, imaginary]] = hidden!.lifts as [readonly [bigint, bigint]];
    const others = hidden!.lifts.slice(1);
    const changed = [
      { b },
      { phi },
      { c: plus1(claim.c) },
      { quadratic: [] },
      { quadratic: [{ ...claim.quadratic[0]!, factor: b }] },
      { hidden: { ...hidden!, beta: plus1(hidden!.beta) } },
      ...hidden!.quarters.map((quarter, i) => ({
        hidden: { ...hidden!, quarters: hidden!.quarters.with(i, plus1(quarter)) },
      })),
      { hidden: { ...hidden!, lifts: [[real + 1n, imaginary] as const, ...others] } },
      { hidden: { ...hidden!, lifts: [[real, imaginary + 1n] as const, ...others] } },
    ];
    for (const change of changed) {
      const wrong = { ...part, claim: { ...claim, ...change } };
      expect(satisfiesClaim(lab, parameters, wrong)).toBe(false);
    }
  });

  it('every coefficient of its output', async () => {
    const part = await made;
    for (let at = 0; at < part.output.length; at += 97) {
      const output = Int16Array.from(part.output);
      output[at]! += 1;
      expect(satisfiesClaim(lab, parameters, { ...part, output })).toBe(false);
    }
  });
});
