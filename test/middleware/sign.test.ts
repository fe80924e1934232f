import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { derivedSalt } from '../../src/falcon/salts.ts';
import { memoryStore, type Signer, SignerBusy } from '../../src/middleware/index.ts';
import { resolveOptions } from '../../src/middleware/options/options.ts';
import { decodeWireHex, encodeWireHex } from '../../src/wire/hex.ts';
import { expectProblem, serviceTest } from './support.ts';

const PATH = '/v1/falcon/sign';
const bytesOf = (hex: string) => decodeWireHex(hex, 1 << 20) as Uint8Array;

const { it, http } = serviceTest({ onDisk: true });
describe('POST /v1/falcon/sign', () => {
  it('signs a message, and the library verifies it', async () => {
    const answer = await http.ask('POST', PATH, { digest: '0x68656c6c6f' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(Object.keys(answer.json).sort()).toEqual(['digest', 'public_key', 'signature']);
    expect(answer.json.digest).toBe('0x68656c6c6f');
    const { signature, public_key } = answer.json;
    const message = new TextEncoder().encode('hello');
    expect(falcon512.verify(bytesOf(signature), message, bytesOf(public_key))).toBe(true);
    message[0]! ^= 1;
    expect(falcon512.verify(bytesOf(signature), message, bytesOf(public_key))).toBe(false);
  });

  it('reads hex of either case and writes lower case', async () => {
    const answer = await http.ask('POST', PATH, { digest: '0xABcdEF' });
    expect(answer.status).toBe(200);
    expect(answer.json.digest).toBe('0xabcdef');
    expect(answer.json.signature).toMatch(/^0x[0-9a-f]+$/);
  });

  it('signs the empty message, and 4096 bytes, also when every digit is escaped', async () => {
    const empty = await http.ask('POST', PATH, { digest: '0x' });
    expect(empty.status).toBe(200);
    expect(empty.json.digest).toBe('0x');
    const digest = encodeWireHex(new Uint8Array(4096).fill(0xa5));
    const largest = await http.ask('POST', PATH, { digest });
    expect(largest.status).toBe(200);
    expect(largest.json.digest).toBe(digest);
    const escaped = [...digest].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('');
    const slow = await http.ask('POST', PATH, `{"digest":"${escaped}"}`);
    expect(slow.status).toBe(200);
  });

  it('uses one key for all clients, and keeps it in a file that only its owner reads', async () => {
    const a = await http.ask('POST', PATH, { digest: '0x00' });
    const b = await http.ask('POST', PATH, { digest: '0x00' }, { key: http.bob });
    expect(a.json.public_key).toBe(b.json.public_key);
    expect(a.json.signature).not.toBe(b.json.signature);
    const { mode } = await stat(join(http.directory, 'keys', 'signing.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('derives salts when asked: a message has one signature', async ({ start }) => {
    const own = await start({ onDisk: true, signingSalt: 'derived' });
    const ask = () => own.ask('POST', PATH, { digest: '0x0102' });
    const [first, again] = [await ask(), await ask()];
    expect(first.status).toBe(200);
    expect(again.json).toEqual(first.json);
    const [signature, publicKey] = [first.json.signature, first.json.public_key].map(bytesOf);
    const message = Uint8Array.of(1, 2);
    expect(falcon512.verify(signature!, message, publicKey!)).toBe(true);
    expect(signature!.slice(1, 41)).toEqual(derivedSalt({ publicKey: publicKey!, message }));
  });

  const hexFault = 'must be a string of hex digits';
  const faults: [unknown, string, string, string][] = [
    ...[null, [], 'x', 7, true].map((body): (typeof faults)[number] => {
      return [body, '', 'invalid_type', 'must be an object'];
    }),
    [{}, '/digest', 'invalid_type', 'is missing'],
    ...[null, 7, []].map((digest): (typeof faults)[number] => {
      return [{ digest }, '/digest', 'invalid_type', hexFault];
    }),
    [{ digest: '' }, '/digest', 'prefix', 'must start with 0x'],
    [{ digest: '0X00' }, '/digest', 'prefix', 'must start with 0x'],
    [{ digest: '0xa' }, '/digest', 'oddLength', 'must have an even number of hex digits'],
    [{ digest: '0xzz' }, '/digest', 'digit', 'contains a character that is not a hex digit'],
    [
      { digest: `0x${'00'.repeat(4097)}` },
      '/digest',
      'tooLong',
      'must not be longer than 4096 bytes',
    ],
  ];
  it.each(faults)('names the fault of %.20j', async (body, path, code, message) => {
    const answer = await http.ask('POST', PATH, JSON.stringify(body));
    expectProblem(answer, 422, 'INVALID_BODY');
    expect(answer.json).toMatchObject({ errors: [{ path, code, message }], errors_total: 1 });
  });

  it('can be switched off', async ({ start }) => {
    const off = await start({ signing: false });
    expectProblem(await off.ask('POST', PATH, { digest: '0x00' }), 403, 'SIGNING_DISABLED');
  });

  it('is of Falcon-1024 when asked', async ({ start }) => {
    const own = await start({ onDisk: true, signingSet: 'falcon1024' });
    const { json } = await own.ask('POST', PATH, { digest: '0x68' });
    const [signature, publicKey] = [json.signature, json.public_key].map(bytesOf);
    expect(falcon1024.verify(signature!, Uint8Array.of(0x68), publicKey!)).toBe(true);
    expect(await readdir(join(own.directory, 'keys'))).toEqual(['signing.falcon1024.json']);
  });
});

describe('signing over a store of the host', () => {
  const store = () => memoryStore();
  const signer: Signer = { sign: () => Promise.reject(new SignerBusy()) };

  it('is off unless a key file or a signer is named', async ({ start }) => {
    expect(resolveOptions({ store: store() }).signing).toBe(false);
    expect(resolveOptions({ store: store(), signer }).signing).toBe(true);
    expect(resolveOptions({ store: store(), signingKeyFile: 'key.json' }).signing).toBe(true);
    expect(resolveOptions({ store: store(), signingKeyFile: 'k', signing: false }).signing).toBe(
      false,
    );
    expect(() => resolveOptions({ store: store(), signing: true })).toThrow(
      '"options.signing" with "options.store" needs "options.signingKeyFile" or "options.signer"',
    );
    const hosted = await start({ store: store(), signing: false });
    expectProblem(await hosted.ask('POST', PATH, { digest: '0x00' }), 403, 'SIGNING_DISABLED');
  });

  it('excludes options of key files where there is a signer', () => {
    for (const options of [
      { signingKeyFile: 'key.json' },
      { signingSalt: 'derived' },
      { arithmetic: 'integer' },
    ] as const) {
      expect(() => resolveOptions({ signer, ...options })).toThrow(
        'is for key files and excludes "options.signer"',
      );
    }
    expect(() => resolveOptions({ signer: {} as Signer })).toThrow(
      '"options.signer" must be an object with sign()',
    );
  });
});
