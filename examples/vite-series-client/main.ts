/**
 * The light client. It knows the stations' keys, reads list and series as they arrive, and does not
 * trust the publisher.
 */
import { type Statement, verifyAggregateStream } from 'falconry/verify-aggregate';
import { encoder, fromBase64, readingOf, signedText } from './reading.ts';

const KEYS = 'stations';
/** The most characters of a signed text. */
const LONGEST = 1000;

/** The keys of the first visit. It is better to build them into the page. */
async function pinnedKeys(): Promise<Uint8Array[]> {
  let text = localStorage.getItem(KEYS);
  if (text === null) {
    text = await (await fetch('/keys')).text();
    localStorage.setItem(KEYS, text);
  }
  return (JSON.parse(text) as string[]).map(fromBase64);
}

/** The lines of a text that arrives in pieces. */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    await reader.cancel();
  }
}

async function* statementsOf(readings: Response): AsyncGenerator<Statement> {
  const keys = await pinnedKeys();
  // The library copies every statement before it asks for the next one.
  const buffer = new Uint8Array(3 * LONGEST);
  for await (const line of linesOf(readings)) {
    const reading = readingOf(line);
    const publicKey = keys[reading.station];
    if (publicKey === undefined) throw new Error(`station ${reading.station} is unknown`);
    const text = signedText(reading);
    if (text.length > LONGEST) throw new Error('a reading is too long');
    yield { publicKey, message: buffer.subarray(0, encoder.encodeInto(text, buffer).written) };
  }
}

async function check(): Promise<string> {
  const [readings, series] = await Promise.all([fetch('/readings'), fetch('/series')]);
  const total = Number(readings.headers.get('x-count'));
  const bar = document.querySelector<HTMLProgressElement>('#progress')!;
  let count = 0;
  const isValid = await verifyAggregateStream(series.body!, statementsOf(readings), {
    onProgress({ done }) {
      count = done;
      bar.value = done / total;
    },
  });
  return isValid ? `valid: ${count} readings` : 'NOT VALID';
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
