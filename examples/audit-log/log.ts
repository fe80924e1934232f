/**
 * The log: lines of JSON, each signed by the program that wrote it and bound to the previous line.
 * A full batch is sealed: an aggregate replaces its signatures.
 *
 *   open.jsonl        lines of the current batch: {"text": …, "signature": …}
 *   000001.jsonl      the texts of a sealed batch
 *   000001.aggregate  the aggregate of their signatures
 *   writers.json      public keys by name; auditors keep a copy elsewhere
 */
import { createHash } from 'node:crypto';
import { appendFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { aggregate, type ExpandedSecretKey, falcon512 } from 'falconry';

export interface Entry {
  readonly number: number;
  /** SHA-256 of the previous text; of the empty text for the first. */
  readonly previous: string;
  readonly writer: string;
  readonly time: string;
  readonly event: unknown;
}

interface Line {
  readonly text: string;
  readonly signature: string;
}

export type Writers = Readonly<Record<string, string>>;

export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** The bytes that are signed. The label keeps the signature from being valid elsewhere. */
export const messageOf = (text: string) => new TextEncoder().encode(`audit log: ${text}`);

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

export async function sealedBatches(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => /^\d{6}\.aggregate$/.test(name)).map((name) => name.slice(0, 6));
}

export async function readWriters(folder: string): Promise<Map<string, Uint8Array>> {
  const writers = JSON.parse(await readFile(join(folder, 'writers.json'), 'utf8')) as Writers;
  return new Map(
    Object.entries(writers).map(([name, key]) => [
      name,
      new Uint8Array(Buffer.from(key, 'base64')),
    ]),
  );
}

export const readTexts = async (folder: string, batch: string): Promise<string[]> =>
  linesOf(await readFile(join(folder, `${batch}.jsonl`), 'utf8'));

export async function readOpen(folder: string): Promise<Line[]> {
  const text = await readFile(join(folder, 'open.jsonl'), 'utf8').catch(() => '');
  return linesOf(text).map((line) => JSON.parse(line) as Line);
}

/** Writes a file completely or not at all, and durably. */
async function writeWhole(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(`${path}.new`, 'w');
  await file.writeFile(data);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
}

/** The writers and their keys. */
export interface Writer {
  readonly publicKey: Uint8Array;
  readonly signer: ExpandedSecretKey;
}

/** A log for one writing process, whose calls run one after the other. */
export class AuditLog {
  readonly #folder: string;
  readonly #batchSize: number;
  readonly #writers: ReadonlyMap<string, Writer>;
  #open: Line[] = [];
  #number = 0;
  #previous = hashOf('');

  private constructor(folder: string, writers: ReadonlyMap<string, Writer>, batchSize: number) {
    this.#folder = folder;
    this.#writers = writers;
    this.#batchSize = batchSize;
  }

  /** Opens the log in a folder, or creates one. */
  static async open(
    folder: string,
    writers: ReadonlyMap<string, Writer>,
    batchSize: number,
  ): Promise<AuditLog> {
    await mkdir(folder, { recursive: true });
    const log = new AuditLog(folder, writers, batchSize);
    const keys: Writers = Object.fromEntries(
      [...writers].map(([name, { publicKey }]) => {
        return [name, Buffer.from(publicKey).toString('base64')];
      }),
    );
    await writeWhole(join(folder, 'writers.json'), JSON.stringify(keys));
    const last = (await sealedBatches(folder)).toSorted().at(-1);
    const sealed = last === undefined ? [] : await readTexts(folder, last);
    // A crash after sealing may have left lines that are already sealed.
    const known = new Set(sealed);
    log.#open = (await readOpen(folder)).filter(({ text }) => !known.has(text));
    const text = log.#open.at(-1)?.text ?? sealed.at(-1);
    if (text !== undefined) {
      log.#number = (JSON.parse(text) as Entry).number;
      log.#previous = hashOf(text);
    }
    return log;
  }

  async append(writer: string, event: unknown): Promise<void> {
    const known = this.#writers.get(writer);
    if (known === undefined) throw new RangeError(`no key of ${writer}`);
    const number = this.#number + 1;
    const time = new Date().toISOString();
    const entry: Entry = { number, previous: this.#previous, writer, time, event };
    const text = JSON.stringify(entry);
    // Derived salts take no room in an aggregate.
    const signature = falcon512.sign(messageOf(text), known.signer, { salt: 'derived' });
    const line = { text, signature: Buffer.from(signature).toString('base64') };
    await appendFile(join(this.#folder, 'open.jsonl'), `${JSON.stringify(line)}\n`);
    this.#open.push(line);
    this.#number = number;
    this.#previous = hashOf(text);
    if (this.#open.length >= this.#batchSize) await this.#seal();
  }

  /** @throws CodedError INVALID_SIGNATURES if a line was changed after it was written */
  async #seal(): Promise<void> {
    const items = this.#open.map(({ text, signature }) => ({
      publicKey: this.#writers.get((JSON.parse(text) as Entry).writer)!.publicKey,
      message: messageOf(text),
      signature: new Uint8Array(Buffer.from(signature, 'base64')),
    }));
    const bytes = await aggregate(items);
    const count = (await sealedBatches(this.#folder)).length;
    const path = join(this.#folder, String(count + 1).padStart(6, '0'));
    await writeWhole(`${path}.jsonl`, this.#open.map(({ text }) => `${text}\n`).join(''));
    await writeWhole(`${path}.aggregate`, bytes);
    await rm(join(this.#folder, 'open.jsonl'));
    this.#open = [];
  }
}
