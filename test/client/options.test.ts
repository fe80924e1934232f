/** Every option of the client and of its methods: wrong ones are refused before any request. */
import { expect, test } from 'vitest';
import { type Client, createClient } from '../../src/client/index.ts';

const requests: string[] = [];
const baseUrl = 'http://localhost';
const fetch = async (input: unknown) => {
  requests.push(String(input));
  throw new Error('no request is expected');
};
const make = (options: object) => createClient({ baseUrl, fetch, ...options } as never);

const NO_NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, -1, '5', {}, [], null, true, 5n];
const NO_TEXTS = [5, {}, null, true];
const NO_HOOKS = [5, {}, null, 'f'];
const NO_SIGNALS = [5, {}, null, 'f', new EventTarget()];

const refused = (call: () => unknown) => async () => call();

test.each<[string, readonly unknown[]]>([
  ['timeoutMs', [...NO_NUMBERS, 0, 2 ** 31]],
  ['transferTimeoutMs', [...NO_NUMBERS, 0, 2 ** 31]],
  ['apiKey', [...NO_TEXTS, '', 'a\nb']],
  ['serviceName', [...NO_TEXTS, '', 'a/b', '..']],
  ['fetch', NO_HOOKS],
  ['idempotencyKeys', [5, 'yes', null]],
  ['uploadBy', [5, 'magic', null]],
  ['compress', [5, 'br', null, true]],
  ['signal', NO_SIGNALS],
  ['retries', [5, 'x', null, true, [], { tries: 1 }]],
  ['baseUrl', [5, null, {}, 'nowhere', 'ftp://x', undefined]],
  ['unknown', [1]],
])('createClient: %s', (name, values) => {
  for (const value of values) {
    const call = () => make({ [name]: value });
    expect(call, String(value)).toThrow(/^(?!.*reading).*"/);
  }
});

test.each(['times', 'baseMs', 'maxMs', 'maxRetryAfterMs'])('createClient: retries.%s', (name) => {
  for (const value of NO_NUMBERS) {
    expect(() => make({ retries: { [name]: value } }), String(value)).toThrow(`"retries.${name}"`);
  }
  expect(make({ retries: { [name]: 0 } }).baseUrl).toBe(baseUrl);
  expect(make({ retries: { [name]: undefined } }).baseUrl).toBe(baseUrl);
});

const client = make({});
const item = { publicKey: new Uint8Array(897), message: new Uint8Array(1) };
const items = [{ ...item, signature: new Uint8Array(666) }];
/** Each method with options, and the options that it has besides `signal`. */
const METHODS: readonly [keyof Client, readonly string[], (options: never) => unknown][] = [
  ['sign', [], (o) => client.sign('0x00', o)],
  ['createTask', ['idempotencyKey'], (o) => client.createTask(o)],
  ['renewUpload', [], (o) => client.renewUpload(1, o)],
  ['upload', ['onProgress'], (o) => client.upload(baseUrl, items, o)],
  ['notify', [], (o) => client.notify(1, o)],
  ['aggregate', ['idempotencyKey'], (o) => client.aggregate(items, o)],
  ['submit', ['idempotencyKey', 'onProgress'], (o) => client.submit(items, o)],
  ['task', [], (o) => client.task(1, o)],
  ['tasks', ['status', 'limit', 'order'], (o) => client.tasks(o)],
  ['page', ['status', 'limit', 'order', 'cursor'], (o) => client.page(o)],
  ['cancel', [], (o) => client.cancel(1, o)],
  ['remove', [], (o) => client.remove(1, o)],
  ['events', [], (o) => client.events(1, o)],
  ['waitFor', ['onProgress', 'by', 'pollMs', 'patienceMs'], (o) => client.waitFor(1, o)],
  ['result', ['statements'], (o) => client.result(1, o)],
  ['verify', [], (o) => client.verify('0x00', [item], o)],
];
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  signal: NO_SIGNALS,
  idempotencyKey: NO_TEXTS,
  status: NO_TEXTS,
  cursor: NO_TEXTS,
  limit: [...NO_NUMBERS, 0, 1001, 1.5],
  order: [5, 'up', null],
  onProgress: NO_HOOKS,
  statements: [5, 'x', null, {}],
  by: [5, 'post', null],
  patienceMs: NO_NUMBERS,
  pollMs: [5, null, [], [1], [2, 1], [1, Number.NaN], [0, 1], ['1', '2'], [1, 2, 3]],
};

test.each(METHODS)('%s', async (_, names, call) => {
  for (const name of Object.keys(WRONG)) {
    const known = name === 'signal' || names.includes(name);
    for (const value of known ? WRONG[name]! : [undefined, 1]) {
      const options = { [name]: value } as never;
      const error: unknown = await refused(() => call(options))().catch((reason) => reason);
      expect(error, `${name}: ${String(value)}`).toSatisfy(
        (e) => e instanceof TypeError || e instanceof RangeError,
      );
      expect((error as Error).message).toContain(`"${name}`);
    }
  }
  for (const options of [null, 5, 'x', []]) {
    await expect(refused(() => call(options as never))()).rejects.toThrow('"options"');
  }
  expect(requests).toEqual([]);
});
