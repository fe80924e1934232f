/** The urls that the service serves itself: each gives its right, and no other. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { resultKey } from '../../src/middleware/blobs/port/blobStore.ts';
import { checkSignedUrl, signUrl } from '../../src/middleware/http/signedUrls.ts';

const secret = new Uint8Array(32).fill(7);
const base = 'https://example.test/mount/v1/svc';
const nowMs = Date.UTC(2026, 10, 21);
const expiresAtMs = nowMs + 60_000;
const queryOf = (url: string) => new URL(url).searchParams;
const put = { method: 'PUT', taskId: 42 } as const;

describe('signed urls', () => {
  it('give their right, and no other', () => {
    const url = signUrl(secret, put, { base, expiresAtMs });
    expect(url.startsWith(`${base}/uploads/42?`)).toBe(true);
    const query = queryOf(url);
    const check = (right: Parameters<typeof checkSignedUrl>[1], atMs = nowMs) =>
      checkSignedUrl(secret, right, query, atMs);
    expect(check(put)).toBe('ok');
    expect(check({ method: 'PUT', taskId: 43 })).toBe('forged');
    expect(check({ method: 'GET', key: 'uploads/42' })).toBe('forged');
    expect(check(put, nowMs + 61_000)).toBe('expired');
    expect(checkSignedUrl(new Uint8Array(32), put, query, nowMs)).toBe('forged');
  });

  it('are HMACs of a domain, the method, the path and the time', () => {
    const url = signUrl(secret, put, { base, expiresAtMs });
    const expires = expiresAtMs / 1000;
    const mac = (text: string) => createHmac('sha256', secret).update(text).digest('base64url');
    const text = `PUT\nuploads/42\n${expires}`;
    expect(queryOf(url).get('signature')).toBe(mac(`falconry url v1\n${text}`));
    const bare = new URLSearchParams({ expires: String(expires), signature: mac(text) });
    expect(checkSignedUrl(secret, put, bare, nowMs)).toBe('forged');
  });

  it('of results end in the id of the task', () => {
    const key = resultKey(77, 3);
    const url = signUrl(secret, { method: 'GET', key }, { base, expiresAtMs });
    expect(new URL(url).pathname.endsWith('/77.json')).toBe(true);
    expect(checkSignedUrl(secret, { method: 'GET', key }, queryOf(url), nowMs)).toBe('ok');
    const other = { method: 'GET', key: resultKey(77, 4) } as const;
    expect(checkSignedUrl(secret, other, queryOf(url), nowMs)).toBe('forged');
  });

  it('are forged by any change of their query', () => {
    const url = signUrl(secret, put, { base, expiresAtMs });
    const expires = queryOf(url).get('expires')!;
    const signature = queryOf(url).get('signature')!;
    const forged: string[] = ['', `expires=${expires}`, `signature=${signature}`];
    forged.push(`expires=${Number(expires) + 1}&signature=${signature}`);
    for (const text of [`0${expires}`, `${expires}.0`, `+${expires}`, `${expires}e0`, '', '-1']) {
      forged.push(`expires=${encodeURIComponent(text)}&signature=${signature}`);
    }
    for (let i = 0; i < signature.length; i++) {
      const other = signature[i] === 'A' ? 'B' : 'A';
      const text = signature.slice(0, i) + other + signature.slice(i + 1);
      forged.push(`expires=${expires}&signature=${text}`);
    }
    const longer = [`${signature}A`, `${signature}=`, `${signature}%20`];
    for (const text of [signature.slice(1), ...longer]) {
      forged.push(`expires=${expires}&signature=${text}`);
    }
    forged.push(`expires=${expires}&signature=${signature}&signature=${signature}`);
    forged.push(`expires=${expires}&expires=${expires}&signature=${signature}`);
    for (const query of forged) {
      expect(checkSignedUrl(secret, put, new URLSearchParams(query), nowMs), query).toBe('forged');
    }
    expect(forged.length).toBe(59);
  });
});
