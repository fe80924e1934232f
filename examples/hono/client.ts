/** Sends a batch of signatures to the service and verifies the aggregate. */
import { falcon512 } from 'falconry';
import { createClient, isClientError } from 'falconry/client';

const baseUrl = process.env.FALCONRY_URL ?? 'http://localhost:3000/falcon';
const apiKey = process.env.FALCONRY_API_KEY;
if (apiKey === undefined) throw new Error('FALCONRY_API_KEY is missing: see the README');
const client = createClient({ baseUrl, apiKey });

const { publicKey, secretKey } = falcon512.keygen();
const items = Array.from({ length: 100 }, (_, i) => {
  const message = new TextEncoder().encode(`order ${i}`);
  return { publicKey, message, signature: falcon512.sign(message, secretKey) };
});

const { process_id } = await client.submit(items);
await client.waitFor(process_id, { onProgress: ({ status }) => console.log(status) });
const { checked, file } = await client.result(process_id, { statements: items });
console.log(`checked: ${checked}, ${file?.count} signatures in one ${file?.format}`);

// With one invalid signature, the service names it.
items[42]!.signature[100]! ^= 1;
const { process_id: bad } = await client.submit(items);
try {
  await client.waitFor(bad);
} catch (error) {
  if (!isClientError(error) || error.code !== 'TASK_FAILED') throw error;
  console.log(`refused: ${JSON.stringify(error.invalid)}`);
}
