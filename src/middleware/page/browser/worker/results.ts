/** The result files in the worker, and their verification. */
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
import type { ResultSummary, TamperVerdict, Verdict } from './protocol.ts';

/** Proofs are verified on a few threads, which run this worker's own script under another name. */
const MAX_THREADS = 4;
const pool = createAggregatePool({
  threads: Math.max(1, Math.min(MAX_THREADS, navigator.hardwareConcurrency ?? 1)),
  workerUrl: globalThis.location.href,
});

const results = new Map<number, ResultFile>();
let lastNumber = 0;

/** @throws CodedError like parseResultFile */
export function readResult(bytes: ArrayBuffer): ResultSummary {
  const result = parseResultFile(new Uint8Array(bytes));
  results.set(++lastNumber, result);
  const { sizes } = result;
  return {
    result: lastNumber,
    processId: result.processId === null ? null : String(result.processId),
    count: result.count,
    format: result.format,
    parameterSet: result.parameterSet,
    statement: encodeWireHex(result.statement),
    sizes: {
      aggregate: sizes.aggregate,
      salts: sizes.salts,
      signatures: sizes.signatures,
      publicKeys: sizes.public_keys,
      digests: sizes.digests,
    },
    timings: result.timings,
  };
}

function resultOf(number: number): ResultFile {
  const result = results.get(number);
  if (result === undefined) throw new Error('there is no such result');
  return result;
}

/** Verifies a result file against the statements of a batch. */
export async function verifyResult(resultNumber: number, batchNumber: number): Promise<Verdict> {
  const result = resultOf(resultNumber);
  const statements = statementsOf(batchNumber);
  const startMs = performance.now();
  const valid = await verifyResultFileWith(pool.verifyAggregate, result, statements);
  const ms = performance.now() - startMs;
  const { threads } = pool;
  return valid
    ? { valid, ms, threads }
    : { valid, ms, threads, reason: whyNot(result, statements) };
}

/** Changes one random byte of the aggregate and verifies it. */
export async function tamper(resultNumber: number, batchNumber: number): Promise<TamperVerdict> {
  const result = resultOf(resultNumber);
  const statements = statementsOf(batchNumber);
  const [place = 0, bit = 0] = crypto.getRandomValues(new Uint32Array(2));
  const at = place % result.aggregate.length;
  const aggregate = result.aggregate.slice();
  const before = aggregate[at]!;
  const after = before ^ (1 << (bit % 8));
  aggregate[at] = after;
  const startMs = performance.now();
  const valid = await pool.verifyAggregate(aggregate, statements);
  const ms = performance.now() - startMs;
  return { valid, ms, threads: pool.threads, at, before, after };
}

function statementsOf(batchNumber: number): readonly Statement[] {
  return batchOf(batchNumber).items;
}

/** The verifier gives no reason; this recognises common mistakes from outside. */
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
