import { describe, expect, it } from 'vitest';
import {
  createApiKey,
  hashApiKey,
  storedKeyAuthentication,
} from '../../src/middleware/identity/apiKeys.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';

describe('API keys', () => {
  it('are 256 random bits, of which the store has the hash', async () => {
    const store = memoryStore();
    const { key, record } = await createApiKey(store, { name: 'a' });
    expect(key).toMatch(/^falconry_[\w-]{43}$/);
    expect(record.sha256).toBe(hashApiKey(key));
    // SHA-256 of "abc", FIPS 180-4 example.
    expect(hashApiKey('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    const authenticate = storedKeyAuthentication(store, () => {});
    expect(await authenticate(key)).toEqual({ clientId: record.clientId });
    for (const wrong of ['', record.sha256, key.slice(1), `${key}=`, 'k'.repeat(513)]) {
      expect(await authenticate(wrong)).toBeNull();
    }
  });
});
