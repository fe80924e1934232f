/**
 * The programs of docs/hosts.md that authenticate callers themselves, run as written. Cookies are
 * tested with the example express-tenants.
 */
import { sign } from 'hono/jwt';
import { afterEach, expect, vi } from 'vitest';
import { it as test } from '../middleware/support.ts';
import { openServer } from '../support/openServer.ts';
import { commandOf, layOut, type Recipe, withSessions } from './recipes.ts';

/** With the host's own tokens, with a provider's tokens, with what a hook of Fastify finds. */
const [OWN_TOKENS, PROVIDER, HOOK] = withSessions as [Recipe, Recipe, Recipe];

interface Told {
  readonly client_id: number;
  readonly process_id: number;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Creates a task with these headers; @returns the status, and the number of the client */
async function asked(base: string, headers: Record<string, string>) {
  const given = await fetch(`${base}/v1/svc/aggsign/task`, { method: 'POST', headers });
  const { process_id } = (await given.json()) as Partial<Told>;
  if (given.status !== 201) return { status: given.status, client: null };
  const record = await fetch(`${base}/v1/svc/tasks/${process_id}`, { headers });
  return { status: 201, client: ((await record.json()) as Told).client_id };
}

test('bearer tokens name the clients', { timeout: 300_000 }, async ({ defer }) => {
  const secret = 'a secret of more than thirty-two characters';
  vi.stubEnv('TOKEN_SECRET', secret);
  const kitchen = await layOut(OWN_TOKENS.source, commandOf(OWN_TOKENS));
  defer(kitchen.close);
  const { base, stop } = await kitchen.start();
  const nowS = Math.floor(Date.now() / 1000);
  const exp = nowS + 3600;
  const bearer = async (claims: object, key = secret) =>
    asked(base, { authorization: `Bearer ${await sign({ ...claims }, key, 'HS256')}` });
  const ada = await bearer({ sub: 'ada', exp });
  expect(ada.status).toBe(201);
  expect((await bearer({ sub: 'ada', exp: exp + 1 })).client).toBe(ada.client);
  expect((await bearer({ sub: 'bob', exp })).client).not.toBe(ada.client);
  for (const claims of [{ sub: 'ada', exp: nowS - 5 }, { sub: 'ada' }, { sub: '', exp }, {}]) {
    expect((await bearer(claims)).status, JSON.stringify(claims)).toBe(401);
  }
  expect((await bearer({ sub: 'ada', exp }, `${secret}!`)).status).toBe(401);
  const none = `${btoa('{"alg":"none","typ":"JWT"}')}.${btoa(`{"sub":"ada","exp":${exp}}`)}.`;
  const right = await sign({ sub: 'ada', exp }, secret, 'HS256');
  for (const authorization of ['', 'Bearer', `Bearer ${none}`, right, kitchen.alice]) {
    expect((await asked(base, { authorization })).status, authorization).toBe(401);
  }
  await stop();
});

/** An identity provider with one key; `answers` may be turned off. */
async function startProvider() {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const made = { ...algorithm, modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) };
  const pair = await crypto.subtle.generateKey(made, true, ['sign', 'verify']);
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const provider = { answers: true, asked: 0 };
  const { address, close } = await openServer((_request, response) => {
    provider.asked++;
    response.statusCode = provider.answers ? 200 : 500;
    response.end(JSON.stringify({ keys: [{ ...jwk, kid: 'one', alg: 'RS256', use: 'sig' }] }));
  });
  const privateKey = { ...(await crypto.subtle.exportKey('jwk', pair.privateKey)), kid: 'one' };
  return {
    provider,
    jwk,
    url: `${address}/jwks.json`,
    token: (claims: object, kid = 'one') =>
      sign({ ...claims }, { ...privateKey, kid } as never, 'RS256'),
    close,
  };
}

test("a provider's tokens name the clients", { timeout: 300_000 }, async ({ defer }) => {
  const idp = await startProvider();
  const issuer = 'https://id.test/';
  vi.stubEnv('ISSUER', issuer);
  vi.stubEnv('JWKS_URI', idp.url);
  const kitchen = await layOut(PROVIDER.source, commandOf(PROVIDER));
  defer(idp.close);
  defer(kitchen.close);
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const good = { sub: 'ada', iss: issuer, aud: 'falconry', exp };
  idp.provider.answers = false;
  const { base, stop } = await kitchen.start();
  const bearer = async (token: string) => asked(base, { authorization: `Bearer ${token}` });
  expect((await bearer(await idp.token(good))).status).toBe(503);
  idp.provider.answers = true;
  const ada = await bearer(await idp.token(good));
  expect(ada.status).toBe(201);
  const bob = await bearer(await idp.token({ ...good, sub: 'bob' }));
  expect([bob.status, bob.client === ada.client]).toEqual([201, false]);
  for (const wrong of [
    { iss: 'https://else.test/' },
    { aud: 'another' },
    { sub: '' },
    { exp: exp - 7200 },
    { exp: undefined },
  ]) {
    const claims = JSON.parse(JSON.stringify({ ...good, ...wrong }));
    expect((await bearer(await idp.token(claims))).status, JSON.stringify(wrong)).toBe(401);
  }
  expect((await bearer(await idp.token(good, 'two'))).status).toBe(401);
  // A secret that everybody has: the public key.
  const confused = await sign(good, JSON.stringify(idp.jwk), 'HS256');
  expect((await bearer(confused)).status).toBe(401);
  expect((await asked(base, {})).status).toBe(401);
  // Once without an answer, once for all others.
  expect(idp.provider.asked).toBe(2);
  await stop();
});

test('what a hook of Fastify found out names the clients', { timeout: 300_000 }, async ({
  defer,
}) => {
  const kitchen = await layOut(HOOK.source, commandOf(HOOK));
  defer(kitchen.close);
  const { base, stop } = await kitchen.start();
  const ada = await asked(base, { 'x-access-token': 'open sesame' });
  const bob = await asked(base, { 'x-access-token': 'xyzzy' });
  expect([ada.status, bob.status]).toEqual([201, 201]);
  expect(ada.client).not.toBe(bob.client);
  expect((await asked(base, { 'x-access-token': 'open sesame' })).client).toBe(ada.client);
  const strangers: Record<string, string>[] = [{}, { 'x-access-token': 'sesame' }];
  for (const headers of [...strangers, { authorization: kitchen.alice }]) {
    expect((await asked(base, headers)).status).toBe(401);
  }
  await stop();
});
