/**
 * Writes the vectors for other implementations, all files of `vectors/` but the table and README:
 *
 *   node test/reference/writeVectors.ts            items, good, bad, series, merged, large.json
 *   node test/reference/writeVectors.ts small      without large.json
 *   node test/reference/writeVectors.ts series     series.json alone, from the others
 *   node test/reference/writeVectors.ts merged     merged.json alone, from the others
 *   node test/reference/writeVectors.ts large      large.json alone
 *   node test/reference/writeVectors.ts large DIR  and the files whose hashes it has, in DIR
 *   node test/reference/writeVectors.ts --into DIR any of these, but into DIR
 *
 * Small ones are made by the slow prover, and the slow verifier says which rule a wrong proof
 * breaks; large and merged ones are made by the library.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  aggregate,
  aggregateParts,
  mergeParts,
  type PartToMerge,
} from '../../src/aggregate/index.ts';
import { formatResultFile, makeResultFile } from '../../src/wire/resultFile.ts';
import { formatTaskFile } from '../../src/wire/triple.ts';
import { badBounds } from './badBounds.ts';
import { badBundleBounds } from './badBundleBounds.ts';
import {
  badHeaders,
  badLists,
  badProofHeaders,
  changedProofs,
  cheatingProvers,
  flippedBits,
} from './badCases.ts';
import { badHeaderBounds } from './badHeaderBounds.ts';
import { badHidden } from './badHidden.ts';
import { badBundles, goodBundles } from './bundleCases.ts';
import {
  type Case,
  goodCases,
  LARGE_BATCHES,
  largeBatch,
  largeCases,
  type Reason,
} from './cases.ts';
import {
  type FrozenEdit,
  type LargeCase,
  type StoredCase,
  type StoredItem,
  VECTORS,
} from './frozenCases.ts';
import { MERGED_PARTS, mergedCases } from './mergedCases.ts';
import { seriesCases } from './seriesCases.ts';
import { TABLE } from './table.ts';
import { verifyReferenceProof } from './verifier/proof.ts';

/** More bytes than an edit may put in; what differs in more is stored whole. */
const LONGEST_EDIT = 200;
/** What the slow verifier says of bytes that are no proof at all, whatever is proved. */
const UNREADABLE =
  /((retry|counter|cut|residue|quarter|b32)Range|states|[fF]ill|centredG|end of|left over)/;

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));

function* good(): Generator<Case> {
  yield* goodCases();
  yield* largeCases();
  yield* goodBundles();
}

function* bad(): Generator<Case> {
  yield* badHeaders(changedProofs());
  yield* badProofHeaders();
  yield* badLists();
  yield* flippedBits();
  yield* cheatingProvers();
  yield* badHidden();
  yield* badBundles();
  yield* badBounds();
  yield* badBundleBounds();
  yield* badHeaderBounds();
}

/** Items by number, each once. */
class Items {
  readonly #numbers = new Map<string, number>();

  numberOf({ digest, public_key, signature }: StoredItem): number {
    const text = JSON.stringify({
      digest: `0x${digest}`,
      public_key: `0x${public_key}`,
      signature: `0x${signature}`,
    });
    const known = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, known);
    return known;
  }

  lines(): string[] {
    return [...this.#numbers.keys()];
  }
}

/** The shortest edit of a good aggregate, if it is short. */
function editOf(bytes: Buffer, goods: ReadonlyMap<string, Buffer>): FrozenEdit | undefined {
  const edits = Array.from(goods, ([of, base]): FrozenEdit => {
    const shorter = Math.min(base.length, bytes.length);
    let at = 0;
    while (at < shorter && base[at] === bytes[at]) at++;
    let same = 0;
    while (same < shorter - at && base.at(-1 - same) === bytes.at(-1 - same)) same++;
    const put = bytes.subarray(at, bytes.length - same).toString('hex');
    return { of, at, remove: base.length - same - at, put };
  });
  const size = ({ remove, put }: FrozenEdit) => put.length + (remove > 0 ? 1 : 0);
  const best = edits.reduce((a, b) => (size(b) < size(a) ? b : a));
  return best.put.length <= 2 * LONGEST_EDIT ? best : undefined;
}

/** The rule that a wrong proof breaks first, where the case does not say it. */
function reasonOf({ task, aggregate, reason, name }: Case): Reason | undefined {
  if (reason !== undefined || name.startsWith('bundle') || name.startsWith('proof:')) return reason;
  const verdict = verifyReferenceProof({
    table: TABLE,
    statements: task.map(({ public_key, digest }) => ({
      publicKey: bytesOf(public_key),
      message: bytesOf(digest),
    })),
    bytes: bytesOf(aggregate),
  });
  if (verdict.ok) throw new Error(`${name} is accepted`);
  return UNREADABLE.test(verdict.why) ? 'bytes' : 'proof';
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { into: { type: 'string' } },
});
const [part = 'all', directory] = positionals;
const folder = values.into === undefined ? VECTORS : pathToFileURL(`${values.into}/`);

/** A JSON array with one entry a line. */
const arrayOf = (lines: readonly string[]): string => `[\n${lines.join(',\n')}\n]\n`;

function write(name: string, lines: readonly string[]): void {
  writeFileSync(new URL(name, folder), arrayOf(lines));
}

function writeSmall(): void {
  const items = new Items();
  const goods = new Map<string, Buffer>();
  const goodLines: string[] = [];
  for (const { name, task, aggregate } of good()) {
    const bytes = Buffer.from(aggregate, 'hex');
    console.log(`${name}: ${bytes.length} bytes`);
    if (goods.has(name)) throw new Error(`two cases are called ${name}`);
    goods.set(name, bytes);
    const numbers = task.map((item) => items.numberOf(item));
    goodLines.push(JSON.stringify({ name, items: numbers, aggregate: bytes.toString('base64') }));
  }
  const badLines: string[] = [];
  for (const one of bad()) {
    const bytes = Buffer.from(one.aggregate, 'hex');
    const edit = editOf(bytes, goods);
    const reason = reasonOf(one);
    console.log(`${one.name}: ${reason}`);
    const stored: StoredCase = {
      name: one.name,
      items: one.task.map((item) => items.numberOf(item)),
      ...(edit ? { edit } : { aggregate: bytes.toString('base64') }),
      ...(reason && { reason }),
    };
    badLines.push(JSON.stringify(stored));
  }
  write('items.json', items.lines());
  write('good.json', goodLines);
  write('bad.json', badLines);
}

function writeSeries(): void {
  const goods = JSON.parse(readFileSync(new URL('good.json', folder), 'utf8')) as StoredCase[];
  const lines = seriesCases(goods).map((one) => JSON.stringify(one));
  write('series.json', lines);
}

async function writeMerged(): Promise<void> {
  const stored = JSON.parse(readFileSync(new URL('items.json', folder), 'utf8')) as StoredItem[];
  const parts: PartToMerge[] = [];
  for (const numbers of MERGED_PARTS) {
    const items = numbers.map((number) => {
      const { public_key, digest, signature } = stored[number]!;
      const [publicKey, message, own] = [public_key, digest, signature].map((x) => {
        return bytesOf(x.slice(2));
      });
      return { publicKey: publicKey!, message: message!, signature: own! };
    });
    for await (const part of aggregateParts(items)) parts.push({ part, statements: items });
  }
  const lines = mergedCases(await mergeParts(parts)).map((one) => JSON.stringify(one));
  write('merged.json', lines);
}

const sha256 = (data: Uint8Array | string): string =>
  createHash('sha256').update(data).digest('hex');

async function writeLarge(directory?: string): Promise<void> {
  const lines: string[] = [];
  for (const { set, count } of LARGE_BATCHES) {
    const items = largeBatch(set, count);
    const task = formatTaskFile(items);
    const made = await aggregate(items, { format: 'proof' });
    const name = `${set}, ${count} items`;
    console.log(`${name}: ${made.length} bytes`);
    const large: LargeCase = {
      name,
      parameter_set: set,
      count,
      task_sha256: sha256(task),
      aggregate_bytes: made.length,
      aggregate_sha256: sha256(made),
    };
    lines.push(JSON.stringify(large));
    if (directory === undefined) continue;
    const result = makeResultFile({ processId: null, aggregate: made, items, timings: {} });
    writeFileSync(join(directory, `${set}-${count}.task.json`), task);
    writeFileSync(join(directory, `${set}-${count}.result.json`), formatResultFile(result));
  }
  write('large.json', lines);
}

if (!['all', 'small', 'series', 'merged', 'large'].includes(part)) {
  throw new RangeError('all, small, series, merged or large?');
}
if (part === 'all' || part === 'small') writeSmall();
if (part !== 'large' && part !== 'merged') writeSeries();
if (part === 'all' || part === 'merged') await writeMerged();
if (part === 'all' || part === 'large') await writeLarge(directory);
