/**
 * The light client. It knows the signers' keys, downloads one aggregate instead of all signatures,
 * and does not trust the publisher.
 */
import { inspectAggregate, verifyAggregate } from 'falconry/verify-aggregate';
import { type Batch, fromBase64, messageOf } from './batch.ts';

const KEYS = 'signers';

/** The keys of the first visit. It is better to build them into the page. */
async function pinnedKeys(): Promise<Uint8Array[]> {
  let text = localStorage.getItem(KEYS);
  if (text === null) {
    text = await (await fetch('/keys')).text();
    localStorage.setItem(KEYS, text);
  }
  return (JSON.parse(text) as string[]).map(fromBase64);
}

async function check(): Promise<string> {
  const keys = await pinnedKeys();
  const batch = (await (await fetch('/batch')).json()) as Batch;
  const aggregate = fromBase64(batch.aggregate);
  const statements = batch.reports.map(({ signer, text }) => {
    const publicKey = keys[signer];
    if (publicKey === undefined) throw new Error(`signer ${signer} is unknown`);
    return { publicKey, message: messageOf(signer, text) };
  });
  if (!verifyAggregate(aggregate, statements)) return 'NOT VALID';
  const { format } = inspectAggregate(aggregate);
  return `valid: ${statements.length} reports, a ${format} of ${aggregate.length} bytes`;
}

const verdict = document.querySelector('#verdict')!;
check().then(
  (text) => {
    verdict.textContent = text;
  },
  (error: unknown) => {
    verdict.textContent = `not checked: ${error}`;
  },
);
