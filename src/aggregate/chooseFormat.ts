/**
 * Selects an aggregate's format: the requested one, or the smaller of proof and bundle. A bundle
 * takes milliseconds to make, so its size is known exactly. The size of a proof is first estimated
 * from the parameter table, and compared again once the proof is complete.
 */
import { CodedError } from '../shared/errors.ts';
import type { VerifiedBatch } from './batch.ts';
import { encodeBundle } from './bundle.ts';
import type { AggregateFormat } from './container.ts';
import { MAX_SECTION_ITEMS } from './proof/index.ts';
import {
  encodeProof,
  estimateProofBytes,
  isTooLongForProof,
  type ProofHooks,
} from './proofFormat.ts';
import type { Statement } from './statement.ts';

/** A format, or `auto` for the smaller one. */
export type AggregateFormatOption = AggregateFormat | 'auto';

/** The reason for an aggregate's format, and the sizes of both formats. */
export interface FormatChoice {
  readonly format: AggregateFormat;
  /**
   * `asked`: requested by the caller. `smaller`: smaller than the other format. `tooMany`: more
   * signatures of one set than a proof can hold. `noProof`: the prover found no proof, which
   * practically never happens.
   */
  readonly reason: 'asked' | 'smaller' | 'tooMany' | 'noProof';
  /** Bytes of the bundle; absent if none was made. */
  readonly bundleBytes?: number;
  /** Bytes of the proof, an estimate if none was made; absent if no proof is possible. */
  readonly proofBytes?: number;
}

export interface FormattedAggregate {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly choice: FormatChoice;
}

/**
 * Rejects a batch that is too long for a requested proof, before any work is done.
 *
 * @throws CodedError `NO_PROOF`
 */
export function requireFormat(
  statements: readonly Statement[],
  format: AggregateFormatOption,
): void {
  if (format !== 'proof' || !isTooLongForProof(statements)) return;
  const { falcon512, falcon1024 } = MAX_SECTION_ITEMS;
  throw new CodedError('NO_PROOF', {
    message:
      `A proof takes at most ${falcon512} signatures of Falcon-512, ` +
      `${falcon1024} of Falcon-1024`,
  });
}

/**
 * Encodes a verified batch as an aggregate.
 *
 * @internal
 * @throws CodedError `NO_PROOF` if a proof was requested and none was found, `ABORTED`
 */
export async function encodeAggregate(
  batch: VerifiedBatch,
  format: AggregateFormatOption,
  hooks: ProofHooks = {},
): Promise<FormattedAggregate> {
  if (format === 'proof') {
    requireFormat(batch.items, format);
    const bytes = await encodeProof(batch, hooks);
    if (bytes === undefined) throw new CodedError('NO_PROOF');
    return { bytes, choice: { format, reason: 'asked', proofBytes: bytes.length } };
  }

  const bundle = encodeBundle(batch);
  const bundleBytes = bundle.length;
  const keep = (reason: FormatChoice['reason'], proofBytes?: number): FormattedAggregate => ({
    bytes: bundle,
    choice: {
      format: 'bundle',
      reason,
      bundleBytes,
      ...(proofBytes !== undefined && { proofBytes }),
    },
  });
  if (format === 'bundle') return keep('asked');
  if (isTooLongForProof(batch.items)) return keep('tooMany');
  const estimate = estimateProofBytes(batch);
  if (estimate >= bundleBytes) return keep('smaller', estimate);
  const bytes = await encodeProof(batch, hooks);
  if (bytes === undefined) return keep('noProof');
  if (bytes.length >= bundleBytes) return keep('smaller', bytes.length);
  const choice = {
    format: 'proof',
    reason: 'smaller',
    bundleBytes,
    proofBytes: bytes.length,
  } as const;
  return { bytes, choice };
}
