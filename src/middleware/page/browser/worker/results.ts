/** Result files in the worker, and their verification. */
import { createAggregatePool, statementCommitment } from '../../../../aggregate/index.ts';
import { equal } from '../../../../shared/bytes.ts';
import { isCodedError } from '../../../../shared/errors.ts';
import { encodeWireHex } from '../../../../wire/hex.ts';
import {
  parseResultFile,
  type ResultFile,
  refusalOf,
  verifyResultFileWith,
} from '../../../../wire/resultFile.ts';
import { count, counted } from '../../../../wire/sizes.ts';
import type { Statement } from '../../../../wire/triple.ts';
import { batchOf } from './batches.ts';
import type { ResultSummary } from './protocol.ts';

/** Threads that verify proofs. They run the script of this worker under another name. */
const MAX_THREADS = 4;
const pool = createAggregatePool({
  threads: Math.max(1, Math.min(MAX_THREADS, navigator.hardwareConcurrency ?? 1)),
  workerUrl: globalThis.location.href,
});

const results = new Map<number, ResultFile>();
let lastNumber = 0;

/** @throws CodedError like parseResultFile */
export function readResult({ bytes }: { readonly bytes: ArrayBuffer }): ResultSummary {
  const result = parseResultFile(new Uint8Array(bytes));
  results.set(++lastNumber, result);
  const { processId, format, parameterSet, sizes, timings } = result;
  const statement = encodeWireHex(result.statement);
  const own = { result: lastNumber, count: result.count, statement };
  return { ...own, processId, format, parameterSet, sizes, timings };
}

/** The numbers of a result and of a batch. */
interface Pair {
  readonly result: number;
  readonly batch: number;
}

function lookUp(pair: Pair): { result: ResultFile; statements: readonly Statement[] } {
  const result = results.get(pair.result);
  if (result === undefined) throw new Error('there is no such result');
  return { result, statements: batchOf(pair.batch).items };
}

/** Verifies a result file against the statements of a batch. */
export async function verifyResult(pair: Pair) {
  const { result, statements } = lookUp(pair);
  const startMs = performance.now();
  const valid = await verifyResultFileWith(pool.verifyAggregate, result, statements);
  const ms = performance.now() - startMs;
  return { valid, ms, threads: pool.threads, reason: valid ? '' : whyNot(result, statements) };
}

/** Changes one random bit of the aggregate, and verifies it. */
export async function tamper(pair: Pair) {
  const { result, statements } = lookUp(pair);
  const [place = 0, bit = 0] = crypto.getRandomValues(new Uint32Array(2));
  const at = place % result.aggregate.length;
  const aggregate = result.aggregate.slice();
  const before = aggregate[at]!;
  const after = (aggregate[at] = before ^ (1 << (bit % 8)));
  const startMs = performance.now();
  const valid = await pool.verifyAggregate(aggregate, statements);
  return { valid, ms: performance.now() - startMs, at, before, after };
}

/** Returns the likely reason for a rejection; the verifier itself gives none. */
function whyNot(result: ResultFile, statements: readonly Statement[]): string {
  if (statements.length !== result.count) {
    const items = counted(statements.length, 'item');
    return `The task file has ${items}, but the result is about ${count(result.count)}`;
  }
  try {
    if (!equal(statementCommitment(statements), result.statement)) {
      return 'The result is about a different task file: keys, digests or their order differ';
    }
  } catch (error) {
    if (isCodedError(error) || error instanceof RangeError) {
      return 'The task file contains a public key of the wrong length';
    }
    throw error;
  }
  const reason = refusalOf(result.aggregate);
  return reason ?? 'The result is about this task file, but its aggregate does not verify';
}
