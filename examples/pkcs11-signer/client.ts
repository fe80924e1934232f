/** Has more messages signed at once than the token has sessions, and one that it refuses. */
import { falcon512 } from 'falconry';
import { createClient, isClientError } from 'falconry/client';

const baseUrl = process.env.FALCONRY_URL ?? 'http://localhost:3000';
const apiKey = process.env.FALCONRY_API_KEY;
if (apiKey === undefined) throw new Error('FALCONRY_API_KEY is missing: see the README');
// Repeats what was answered with a 503, after the time that `Retry-After` gives.
const client = createClient({ baseUrl, apiKey });

const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const messages = Array.from({ length: 5 }, (_, i) => new TextEncoder().encode(`order ${i}`));
const signed = await Promise.all(messages.map((message) => client.sign(message)));
const valid = signed.filter(({ signature, public_key }, i) =>
  falcon512.verify(bytes(signature), messages[i]!, bytes(public_key)),
);
console.log(`valid signatures: ${valid.length} of ${messages.length}`);

try {
  await client.sign(new Uint8Array(2000));
} catch (error) {
  if (!isClientError(error)) throw error;
  console.log(`refused: ${error.status} ${error.code}, ${error.message}`);
}
