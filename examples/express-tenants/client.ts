/** Two users of one tenant and one of another: who sees whose task. */
import { createClient, isClientError } from 'falconry/client';

const baseUrl = process.env.FALCONRY_URL ?? 'http://localhost:3000/falcon';

/** Logs in and returns a client that sends the session cookie, as a browser would. */
async function login(name: string, password: string) {
  const answer = await fetch(new URL('/login', baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, password }),
  });
  if (!answer.ok) throw new Error(`${name} cannot log in: ${answer.status}`);
  const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!;
  return createClient({
    baseUrl,
    fetch: (url, init) => {
      const headers = new Headers(init.headers);
      // Uploads may go to a bucket, which must not get the cookie.
      if (url.startsWith(baseUrl)) {
        headers.set('cookie', cookie);
        headers.set('origin', new URL(baseUrl).origin);
      }
      return fetch(url, { ...init, headers });
    },
  });
}

const ada = await login('ada', 'correct horse');
const alan = await login('alan', 'enigma variations');
const bob = await login('bob', 'battery staple');

const message = new TextEncoder().encode('the contract');
const byAda = await ada.sign(message);
const byAlan = await alan.sign(message);
const byBob = await bob.sign(message);

const { process_id } = await ada.aggregate([byAda, byAlan, byBob]);
await alan.waitFor(process_id); // a task belongs to the tenant
const { checked } = await alan.result(process_id, { statements: [byAda, byAlan, byBob] });
console.log(`alan verifies the aggregate that ada asked for: ${checked}`);

await bob.task(process_id).catch((error: unknown) => {
  if (!isClientError(error)) throw error;
  console.log(`bob asks for the task: ${error.status}`);
});
