/**
 * Verification of aggregates and statements that arrive in pieces, in memory that does not depend
 * on their number: one element of a series, the sums of its verifier, and one block of statements.
 */
import { equal } from '../shared/bytes.ts';
import { Slices } from '../shared/threads/slices.ts';
import { readStatement } from './arguments.ts';
import { invalidItems } from './batch.ts';
import { BundleReader } from './bundle.ts';
import type { ParsedHeader } from './container.ts';
import { openMergedProof } from './mergedFormat.ts';
import { haveSets, openElement } from './openAggregate.ts';
import type { checkStreamOptions } from './options.ts';
import { statedItems } from './proof/index.ts';
import { openProof, type ProofInBlocks } from './proofFormat.ts';
import { areCodedAs, completeSalts, sliceSalts } from './salts.ts';
import {
  type Element,
  isOneProfile,
  isSeries,
  LENGTH_BYTES,
  lengthAt,
  MAX_ELEMENT_BYTES,
  MAX_ELEMENTS,
  START_BYTES,
} from './series.ts';
import { ByteReader, type Source, withSources } from './sources.ts';
import { StatementBlock, StatementHash } from './statement.ts';

/** Statements that are read before they are folded: at most so many, or so many bytes. */
const BLOCK_ITEMS = 128;
const BLOCK_BYTES = 2 ** 20;

type CheckedOptions = ReturnType<typeof checkStreamOptions>;

/** Implements `verifyAggregateStream` of index.ts, for arguments that have been checked. */
export const verifyStream = (
  bytes: object,
  statements: object,
  options: CheckedOptions,
): Promise<boolean> =>
  withSources([bytes, statements], options.signal, (ofBytes, list) =>
    new StreamVerifier(new ByteReader(ofBytes!), list!, options).run(),
  );

class StreamVerifier {
  readonly #bytes: ByteReader;
  readonly #list: Source;
  readonly #options: CheckedOptions;
  readonly #slices: Slices;
  #first: ParsedHeader | undefined;
  readonly #block = new StatementBlock();
  /** number of statements that have been read */
  #count = 0;

  constructor(bytes: ByteReader, list: Source, options: CheckedOptions) {
    const { signal, onProgress } = options;
    this.#bytes = bytes;
    this.#list = list;
    this.#options = options;
    this.#slices = new Slices(signal, () => onProgress?.({ done: this.#count }));
  }

  async run(): Promise<boolean> {
    const start = await this.#bytes.upTo(START_BYTES);
    const isValid = await (isSeries(start) ? this.#series() : this.#single(start));
    if (!isValid || !(await this.#bytes.isAtEnd())) return false;
    if ((await this.#list.next()) !== undefined) return false;
    this.#options.onProgress?.({ done: this.#count, total: this.#count });
    return true;
  }

  async #series(): Promise<boolean> {
    for (let elements = 0; ; elements++) {
      const length = lengthAt(await this.#bytes.upTo(LENGTH_BYTES), 0);
      if (length === 0) return elements > 0;
      if (!(length <= MAX_ELEMENT_BYTES) || elements === MAX_ELEMENTS) return false;
      // If the element is cut off, no length follows it, and the series is refused.
      if (!(await this.#element(await this.#bytes.upTo(length)))) return false;
    }
  }

  /** An aggregate that is not in a series. */
  async #single(start: Uint8Array): Promise<boolean> {
    const rest = await this.#bytes.upTo(MAX_ELEMENT_BYTES);
    const bytes = new Uint8Array(start.length + rest.length);
    bytes.set(start);
    bytes.set(rest, start.length);
    return this.#element(bytes);
  }

  /** An element of a series, or an aggregate that stands alone. */
  async #element(bytes: Uint8Array): Promise<boolean> {
    const element = openElement(bytes);
    if (typeof element === 'string') return false;
    const { parts, merged } = element;
    const { header } = parts[0]!;
    if (!this.#options.profiles.includes(header.profile)) return false;
    this.#first ??= header;
    if (!isOneProfile(this.#first, header)) return false;
    const body = merged === undefined ? bodyOf(parts[0]!) : openMergedProof(merged);
    if (body === undefined) return false;
    try {
      for (const part of parts) {
        if (!(await this.#statements(part.header, body))) return false;
      }
      return body instanceof BundleReader ? body.isAtEnd() : body.conclude();
    } finally {
      if (!(body instanceof BundleReader)) body.close();
    }
  }

  /** Takes the statements of an element. @returns false if they are refused */
  async #statements(header: ParsedHeader, body: Body): Promise<boolean> {
    const own = new ElementStatements(header, body);
    for (let left = header.kinds.length; left > 0; ) {
      if (!(await this.#read(left))) return false;
      if (!(await this.#run(own.add(this.#block)))) return false;
      left -= this.#block.statements.length;
    }
    return own.areRight();
  }

  /** Reads the next block of statements, at most `most`. @returns false if they end in it */
  async #read(most: number): Promise<boolean> {
    const block = this.#block;
    block.clear();
    const count = Math.min(most, BLOCK_ITEMS);
    while (block.statements.length < count && block.length < BLOCK_BYTES) {
      const next = await this.#list.next();
      if (next === undefined) return false;
      block.add(readStatement(next.value, this.#count++));
    }
    return true;
  }

  async #run(work: Generator<number, boolean>): Promise<boolean> {
    for (;;) {
      await this.#slices.pause();
      const { done, value } = work.next();
      if (done) return value;
    }
  }
}

type Body = BundleReader | ProofInBlocks;

const bodyOf = (element: Element): Body | undefined =>
  element.header.format === 'bundle'
    ? new BundleReader(element.bytes, element.header)
    : openProof(element);

/** The statements of one aggregate or of one part, which arrive in blocks. */
class ElementStatements {
  readonly #header: ParsedHeader;
  readonly #body: Body;
  readonly #hash: StatementHash;
  #count = 0;

  constructor(header: ParsedHeader, body: Body) {
    this.#header = header;
    this.#body = body;
    this.#hash = new StatementHash(header.kinds.length);
  }

  /** Takes the next statements; yields the progress. @returns false if they are refused */
  *add(block: StatementBlock): Generator<number, boolean> {
    const { kinds, profile } = this.#header;
    const { statements } = block;
    const from = this.#count;
    this.#count += statements.length;
    if (!haveSets(statements, kinds.subarray(from))) return false;
    const coded = sliceSalts(this.#header.salts, from, this.#count);
    const salts = completeSalts(coded, statements);
    if (!areCodedAs(coded.runs, salts, statements)) return false;
    this.#hash.add(block);
    if (!(this.#body instanceof BundleReader)) {
      return yield* this.#body.add(statedItems(statements, salts));
    }
    const signatures = this.#body.read(salts);
    if (signatures === undefined) return false;
    const items = statements.map((statement, i) => ({ ...statement, signature: signatures[i]! }));
    return invalidItems(items, profile).length === 0;
  }

  /** Returns whether the header is about them, after all of them. */
  areRight(): boolean {
    return equal(this.#hash.digest(), this.#header.statement);
  }
}
