/** Signs readings, makes a series of proofs of them, and publishes both with the page. */
import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { aggregateStream, falcon512 } from 'falconry';
import { Hono } from 'hono';
import { encoder, lineOf, type Reading, signedText, toBase64 } from './reading.ts';

const COUNT = Number(process.env.COUNT ?? 20_000);

// In reality each station has its own key, and the publisher none.
const stations = Array.from({ length: 10 }, () => falcon512.keygen());
const readings = Array.from({ length: COUNT }, (_, i): Reading => {
  return { station: i % stations.length, text: `${i}: ${(15 + (i % 7) / 10).toFixed(1)} degrees` };
});

/** Signed as they are needed. Salts that follow from the message take no bytes in the proofs. */
function* signed() {
  for (const reading of readings) {
    const { publicKey, secretKey } = stations[reading.station]!;
    const message = encoder.encode(signedText(reading));
    const signature = falcon512.sign(message, secretKey, { salt: 'derived' });
    yield { publicKey, message, signature };
  }
}

const pieces: Uint8Array[] = [];
for await (const piece of aggregateStream(signed(), { threads: 2 })) pieces.push(piece);
const series = Buffer.concat(pieces);
console.log(`${COUNT} readings, a series of ${series.length} bytes`);

const app = new Hono();
app.get('/keys', (c) => c.json(stations.map(({ publicKey }) => toBase64(publicKey))));
app.get('/series', (c) => c.body(series, 200, { 'content-type': 'application/octet-stream' }));
app.get('/readings', (c) =>
  c.text(readings.map(lineOf).join(''), 200, { 'x-count': String(readings.length) }),
);
app.use(serveStatic({ root: 'dist' }));

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`http://localhost:${port}`);
});
process.once('SIGTERM', () => server.close());
