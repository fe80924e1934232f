/**
 * The program of docs/hosts.md whose clients log in at the host: run as it stands there, and called
 * by two users with nothing but their session cookies.
 */
import { expect, test } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import { toTriple } from '../../src/wire/triple.ts';
import { fixedItems } from '../runtimes/check.ts';
import { layOut, readRecipes } from './recipes.ts';

const recipes = await readRecipes();

/** Logs in at the host; @returns the cookie, or null if it refuses */
async function login(base: string, user: string, password: string): Promise<string | null> {
  const answer = await fetch(new URL('/login', base), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user, password }),
  });
  expect(answer.headers.get('set-cookie') ?? 'SameSite=Strict').toContain('SameSite=Strict');
  return answer.headers.get('set-cookie')?.split(';')[0] ?? null;
}

interface Told {
  readonly client_id: number;
  readonly process_id: number;
  readonly status: string;
}

test('sessions of a host name the clients', { timeout: 300_000 }, async () => {
  const recipe = recipes.find(({ heading }) => heading === 'Sessions of the host')!;
  const kitchen = await layOut(recipe.source, [process.execPath, '{file}']);
  try {
    let running = await kitchen.start();
    const ask = async (method: string, path: string, cookie: string | null, more = {}) => {
      const headers = {
        'content-type': 'application/json',
        ...(cookie !== null && { cookie }),
        ...more,
      };
      const body = method === 'POST' ? { body: JSON.stringify({ data }) } : {};
      const answer = await fetch(`${running.base}/v1/svc/${path}`, { method, headers, ...body });
      return { status: answer.status, told: (await answer.json()) as Told };
    };
    const data = fixedItems(falcon512, 2).map(toTriple);
    const ada = (await login(running.base, 'ada', 'correct horse'))!;
    const bob = (await login(running.base, 'bob', 'battery staple'))!;
    expect(await login(running.base, 'ada', 'battery staple')).toBeNull();
    expect(await login(running.base, 'eve', 'correct horse')).toBeNull();

    const { status, told: task } = await ask('POST', 'aggsign', ada);
    expect(status).toBe(202);
    const path = `tasks/${task.process_id}`;
    let record = task;
    while (record.status !== 'completed') {
      expect(record.status).not.toBe('failed');
      await new Promise((resolve) => setTimeout(resolve, 50));
      record = (await ask('GET', path, ada)).told;
    }
    // The two first numbers belong to API keys in the same store.
    expect(record.client_id).toBeGreaterThan(2);
    const others = (await ask('POST', 'aggsign', bob)).told;
    expect(others.client_id).toBeGreaterThan(2);
    expect(others.client_id).not.toBe(record.client_id);

    expect((await ask('GET', path, bob)).status).toBe(404);
    const [text = '', mac = ''] = ada.slice('session='.length).split('.');
    const forged = Buffer.from('{"user":"ada","until":9e15}').toString('base64url');
    const wrong = [null, 'session=', 'session=x.y', `session=${text}.`, `session=${text}.${mac}x`];
    for (const cookie of [...wrong, `session=${forged}.${mac}`, `other=${ada.slice(8)}`]) {
      expect((await ask('GET', path, cookie)).status, String(cookie)).toBe(401);
    }
    expect((await ask('GET', path, null, { authorization: kitchen.alice })).status).toBe(401);
    expect((await ask('GET', path, `theme=dark; ${ada}`)).status).toBe(200);

    const ended = await running.end('SIGTERM');
    expect(ended.code, ended.output).toBe(0);
    expect(ended.output).not.toMatch(/\b(ada|bob)\b/);
    running = await kitchen.start();
    // Another secret, so another session; the same client.
    expect((await ask('GET', path, ada)).status).toBe(401);
    const again = (await login(running.base, 'ada', 'correct horse'))!;
    expect((await ask('GET', path, again)).told.client_id).toBe(record.client_id);
  } finally {
    await kitchen.close();
  }
});
