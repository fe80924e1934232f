/**
 * The independent part of the demo: the fetched result is judged by the library and by the demo's
 * own list of what was signed, never by what the service says of it. Every check can fail, and one
 * that fails is named.
 */
import {
  extractSignatures,
  inspectAggregate,
  statementCommitment,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { equal } from '../../src/shared/bytes.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { parseResultFile } from '../../src/wire/resultFile.ts';
import type { TaskItem } from '../../src/wire/triple.ts';

export interface Check {
  readonly name: string;
  readonly held: boolean;
}

/**
 * Copies with one byte changed, spread over the aggregate; most of a proof's take its whole check
 * to refuse.
 */
const TAMPERED_COPIES = { bundle: 24, proof: 6, series: 6, merged: 6 } as const;

export function checkResult(file: string, items: readonly TaskItem[], processId: number) {
  const result = parseResultFile(file);
  const { aggregate } = result;
  const startMs = performance.now();
  const valid = verifyAggregate(aggregate, items);
  const verifyMs = performance.now() - startMs;

  const { format, elements, statement } = inspectAggregate(aggregate);
  const copies = TAMPERED_COPIES[format];
  let refused = 0;
  for (let copy = 0; copy < copies; copy++) {
    const tampered = aggregate.slice();
    const at = Math.floor((copy * (aggregate.length - 1)) / (copies - 1));
    tampered[at]! ^= 1 << (copy % 8);
    if (!verifyAggregate(tampered, items)) refused++;
  }
  const checks: Check[] = [
    { name: 'the library accepts the aggregate', held: valid },
    {
      name: 'the result names this task and its count',
      held: result.processId === processId && result.count === items.length,
    },
    {
      name: 'it commits to our keys and messages, in our order',
      // That of a series depends on its division, and is checked with it.
      held: equal(result.statement, elements ? statement : statementCommitment(items)),
    },
    format === 'proof' || elements?.some((element) => element.format === 'proof')
      ? { name: 'it keeps no signature, and says so', held: hasNoSignatures(aggregate, items) }
      : { name: 'it gives back every signature, byte for byte', held: givesBack(aggregate, items) },
    { name: `${copies} tampered copies are refused`, held: refused === copies },
    { name: 'a cut-off copy is refused', held: !verifyAggregate(aggregate.slice(0, -1), items) },
    ...changedLists(items).map(({ name, list }) => ({
      name,
      held: !verifyAggregate(aggregate, list),
    })),
  ];
  return { result, verifyMs, checks };
}

function givesBack(aggregate: Uint8Array, items: readonly TaskItem[]): boolean {
  const signatures = extractSignatures(aggregate, items);
  return (
    signatures.length === items.length &&
    signatures.every((signature, index) => equal(signature, items[index]!.signature))
  );
}

function hasNoSignatures(aggregate: Uint8Array, items: readonly TaskItem[]): boolean {
  try {
    extractSignatures(aggregate, items);
    return false;
  } catch (error) {
    return isCodedError(error) && error.code === 'NO_SIGNATURES';
  }
}

function changedLists(items: readonly TaskItem[]) {
  const [first, ...rest] = items;
  const message = Uint8Array.of(...first!.message, 0);
  const lists = [{ name: 'another message is refused', list: [{ ...first!, message }, ...rest] }];
  if (rest.length > 0) {
    lists.push({ name: 'a missing item is refused', list: rest });
    lists.push({ name: 'another order is refused', list: [...rest, first!] });
  }
  return lists;
}
