/** Verifies a log from first line to last; exit code 1 at the first fault. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { falcon512, verifyAggregate } from 'falconry';
import {
  type Entry,
  hashOf,
  messageOf,
  readOpen,
  readTexts,
  readWriters,
  sealedBatches,
} from './log.ts';

const folder = process.argv[2] ?? 'log';
const writers = await readWriters(folder);
let number = 0;
let previous = hashOf('');

/** Returns the statement of a line, if it continues the chain. */
function follow(text: string, where: string) {
  const entry = JSON.parse(text) as Entry;
  const publicKey = writers.get(entry.writer);
  if (publicKey === undefined) throw new Error(`${where}: no key of ${entry.writer}`);
  if (entry.number !== number + 1 || entry.previous !== previous) {
    throw new Error(`${where}: entry ${entry.number} does not follow entry ${number}`);
  }
  number = entry.number;
  previous = hashOf(text);
  return { publicKey, message: messageOf(text) };
}

try {
  for (const batch of (await sealedBatches(folder)).toSorted()) {
    const statements = (await readTexts(folder, batch)).map((text) => follow(text, batch));
    const aggregate = new Uint8Array(await readFile(join(folder, `${batch}.aggregate`)));
    if (!verifyAggregate(aggregate, statements)) throw new Error(`${batch}: not what was signed`);
    console.log(`${batch}: ${statements.length} entries, ${aggregate.length} bytes for all`);
  }
  const open = await readOpen(folder);
  for (const { text, signature } of open) {
    const { publicKey, message } = follow(text, 'open');
    const bytes = new Uint8Array(Buffer.from(signature, 'base64'));
    if (!falcon512.verify(bytes, message, publicKey)) throw new Error(`open: entry ${number}`);
  }
  console.log(`open: ${open.length} entries, each with its signature`);
  console.log(`good: ${number} entries, the last has the hash ${previous}`);
} catch (error) {
  console.log(`BAD: ${(error as Error).message}`);
  process.exitCode = 1;
}
