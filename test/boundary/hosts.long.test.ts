/** On hosts that lack something, importing never throws, and a call says what is missing. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { afterAll, describe, expect, test } from 'vitest';
import { findChromium, openBrowser } from '../support/chromium.ts';
import { bundle } from './bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'falconry-hosts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script as a file, in a Node of its own. @returns what it prints */
async function node(flags: readonly string[], name: string, script: string): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, script);
  return (await promisify(execFile)(process.execPath, [...flags, path])).stdout;
}

// One script: what strips the types in Node needs WebAssembly itself.
writeFileSync(join(folder, 'falconry.mjs'), await bundle('index.ts', 'esm'));

/** What happened: the code and the words of an error, or the result. */
type Outcome = { code?: string; message?: string; name?: string; value?: unknown };

/** To be put into a script: tells how each call ends. */
const TELL = `
  const tell = async (calls) => {
    const outcomes = {};
    for (const [name, call] of Object.entries(calls)) {
      try {
        outcomes[name] = { value: await call() };
      } catch ({ code, message, name: kind }) {
        outcomes[name] = { code, message, name: kind };
      }
    }
    return JSON.stringify(outcomes);
  };
  const calls = (falconry) => {
    const message = new Uint8Array(3);
    const item = { publicKey: new Uint8Array(897), message, signature: new Uint8Array(666) };
    return {
      module: () => falconry.falcon512.module,
      keygen: () => falconry.falcon512.keygen().publicKey.length,
      verify: () => falconry.falcon512.verify(item.signature, message, item.publicKey),
      verifyBatch: () => falconry.falcon1024.verifyBatch([item]).length,
      ready: () => falconry.ready(),
      use: () => falconry.useFalconModule({}),
    };
  };`;

/** How the calls end in a Node of its own. */
async function inNode(flags: readonly string[], before: string): Promise<Record<string, Outcome>> {
  const script = `${TELL} ${before}; const falconry = await import('./falconry.mjs');
    console.log(await tell(calls(falconry)));`;
  return JSON.parse(await node(flags, 'calls.mjs', script));
}

const lacking = (message: RegExp) => ({
  code: 'NO_WEBASSEMBLY',
  name: 'CodedError',
  message: expect.stringMatching(message),
});

describe('Node', () => {
  test.each<[string, readonly string[], string]>([
    ['with WebAssembly deleted', [], 'delete globalThis.WebAssembly'],
    ['with --jitless', ['--jitless'], ''],
  ])('%s', async (_, flags, before) => {
    const outcomes = await inNode(flags, before);
    const none = lacking(/^This host has no WebAssembly\..*jitless.*Lockdown/);
    expect(outcomes).toEqual({
      module: { value: 'plain' },
      keygen: none,
      verify: none,
      verifyBatch: none,
      ready: none,
      use: none,
    });
  });

  test.skipIf(process.arch !== 'x64')('on a processor without SIMD', async () => {
    const none = lacking(/no WebAssembly SIMD.*Chrome 91.*SSE4\.1/);
    expect(await inNode(['--no-enable-sse4-1'], '')).toEqual({
      module: { value: 'plain' },
      keygen: none,
      verify: none,
      verifyBatch: none,
      ready: none,
      use: expect.objectContaining({ name: 'TypeError' }),
    });
  });

  test('that has no memory to give', async () => {
    const none = expect.objectContaining({
      code: 'OUT_OF_MEMORY',
      message: expect.stringMatching(/no memory left/),
    });
    const outcomes = await inNode(['--wasm-max-mem-pages=5'], '');
    expect(outcomes.keygen).toEqual(none);
    expect(outcomes.verify).toEqual(none);
  });

  test.each<[string, string]>([
    ['no crypto', 'delete globalThis.crypto'],
    ['crypto without getRandomValues', 'Object.defineProperty(globalThis, "crypto", {value: {}})'],
    ['randomness that throws', 'crypto.getRandomValues = () => { throw new Error("no entropy") }'],
    ['randomness that fills nothing', 'crypto.getRandomValues = (array) => array'],
  ])('with %s: verifies, and signs nothing', async (_, before) => {
    const outcomes = await inNode([], before);
    expect(outcomes.keygen).toEqual({
      code: 'NO_RANDOMNESS',
      name: 'CodedError',
      message: expect.stringMatching(/no crypto\.getRandomValues that works.*polyfill/),
    });
    expect(outcomes.verify).toEqual({ value: false });
    expect(outcomes.ready).toEqual({});
  });

  test('the aggregate refuses in the same words, and gives no verdict', async () => {
    const script = `${TELL} delete globalThis.WebAssembly;
      const falconry = await import('./falconry.mjs');
      const item = { publicKey: new Uint8Array(897), message: new Uint8Array(3) };
      const signed = { ...item, signature: new Uint8Array(666) };
      const pool = falconry.createAggregatePool({ threads: 1 });
      const bundle = new Uint8Array(100).fill(0);
      bundle.set([0x46, 0x4c, 0x52, 0x59, 1, 2]);
      bundle[39] = 1;
      console.log(await tell({
        aggregate: () => falconry.aggregate([signed]),
        aggregateSync: () => falconry.aggregateSync([signed]),
        findInvalid: () => falconry.findInvalid([signed]),
        verifyAggregate: () => falconry.verifyAggregate(bundle, [item]),
        verifyAggregateAsync: () => falconry.verifyAggregateAsync(bundle, [item]),
        statementCommitment: () => falconry.statementCommitment([item]),
        pool: () => pool.aggregate([signed]),
        use: () => falconry.useLabradorModule({}),
      }));`;
    const outcomes = Object.entries(JSON.parse(await node([], 'aggregate.mjs', script)));
    expect(outcomes).toHaveLength(8);
    for (const [name, outcome] of outcomes) {
      expect(outcome, name).toEqual(lacking(/^This host has no WebAssembly/));
    }
  });
});

describe.each(['index.ts', 'falcon/index.ts'])('one script of src/%s', (entry) => {
  test('runs in a realm that has JavaScript and nothing else', async () => {
    const realm = createContext({});
    runInContext(await bundle(entry, 'iife'), realm);
    const call = (code: string) => runInContext(`falconry.${code}`, realm);
    expect(call('falcon512.keygen(new Uint8Array(48)).publicKey.length')).toBe(897);
    expect(call('falcon512.verify(new Uint8Array(9), new Uint8Array(9), new Uint8Array(9))')).toBe(
      false,
    );
    expect(() => call('falcon512.keygen()')).toThrow(
      expect.objectContaining({ code: 'NO_RANDOMNESS' }),
    );
  });

  test('is refused by a policy, and told how to allow it', async () => {
    const realm = createContext({}, { codeGeneration: { strings: true, wasm: false } });
    runInContext(await bundle(entry, 'iife'), realm);
    const script = `(async () => { ${TELL} return tell(calls(falconry)); })()`;
    const ending = await runInContext(script, realm);
    const none = lacking(/forbids compiling.*'wasm-unsafe-eval'.*useFalconModule\(\)/);
    const all = { keygen: none, verify: none, verifyBatch: none, ready: none };
    expect(JSON.parse(ending)).toMatchObject(all);
  });

  test.each(['cjs', 'iife'] as const)('loads as %s', async (format) => {
    const text = await bundle(entry, format);
    const script = `${text};
      {
        const { falcon512 } = ${format === 'cjs' ? 'module.exports' : 'falconry'};
        const { publicKey, secretKey } = falcon512.keygen();
        const signature = falcon512.sign(publicKey, secretKey);
        console.log(falcon512.verify(signature, publicKey, publicKey));
      }`;
    expect(await node([], `${format}.cjs`, script)).toBe('true\n');
  });
});

const chromium = findChromium();

describe.skipIf(chromium === undefined)('a page in Chromium', () => {
  test('with and without the permission in its policy', { timeout: 300_000 }, async () => {
    const text = await bundle('index.ts', 'iife');
    const page = '<!doctype html><script src="falconry.js"></script>';
    const server = createServer((request, response) => {
      const allows = request.url!.includes('allowed') ? " 'wasm-unsafe-eval'" : '';
      response.setHeader('content-security-policy', `script-src 'self'${allows}`);
      response.setHeader(
        'content-type',
        request.url!.endsWith('.js') ? 'text/javascript' : 'text/html',
      );
      response.end(request.url!.endsWith('.js') ? `${text}; window.falconry = falconry` : page);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const browser = await openBrowser(chromium!);
    try {
      const outcomes = async (folder: string) => {
        const tab = await browser.newPage();
        await tab.goto(`http://127.0.0.1:${port}/${folder}/`);
        // The text is run by the tools of the browser, which no policy binds.
        return JSON.parse(await tab.evaluate(`${TELL} tell(calls(falconry))`));
      };
      const none = lacking(/forbids compiling.*'wasm-unsafe-eval'/);
      expect(await outcomes('forbidden')).toMatchObject({
        module: { value: expect.any(String) },
        keygen: none,
        verify: none,
        verifyBatch: none,
        ready: none,
      });
      expect(await outcomes('allowed')).toMatchObject({
        keygen: { value: 897 },
        verify: { value: false },
        verifyBatch: { value: 1 },
      });
    } finally {
      await browser.close();
      server.close();
    }
  });
});
