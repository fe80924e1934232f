/** A browser project that uses the package by its types, as they are published. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The compiler of this project. */
export const OUR_TSC = join(root, 'node_modules/typescript/bin/tsc');

/** Whatever a page does with results: each line is one that has not compiled once. */
const PAGE = `
import {
  aggregate, aggregateSync, type AggregateItem, CodedError, createAggregatePool, createVerifyPool,
  type ExpandedSecretKey, extractSignatures, falcon512, falcon1024, inspectAggregate, ready,
  statementCommitment, useFalconModule, useLabradorModule, verifyAggregateAsync,
} from 'falconry';
import { verifyAggregate } from 'falconry/aggregate';
import { createClient } from 'falconry/client';
import { fnDsaDraft1024 } from 'falconry/drafts/fn-dsa-2026-07';
import { ethFalcon512 } from 'falconry/eth-falcon';
import { falcon512 as same } from 'falconry/falcon';
import relaxed from 'falconry/falcon.relaxed.wasm';
import plain from 'falconry/falcon.wasm';
import labradorRelaxed from 'falconry/labrador.relaxed.wasm';
import labrador from 'falconry/labrador.wasm';

for (const module of [plain, relaxed]) useFalconModule(module);
for (const module of [labrador, labradorRelaxed]) useLabradorModule(module);
await ready();
const { publicKey, secretKey } = falcon512.keygen();
const message = new TextEncoder().encode('text');
const signature = same.sign(message, secretKey, { format: 'padded' });
const digest: ArrayBuffer = await crypto.subtle.digest('SHA-256', signature);
const blob = new Blob([signature, publicKey, falcon1024.getPublicKey(secretKey)]);
await fetch('/keys', { method: 'POST', body: publicKey });
await fetch('/keys', { method: 'POST', body: falcon512.attached.seal(message, secretKey) });
new Response(falcon512.preparePublicKey(publicKey).publicKey);
const opened: Uint8Array<ArrayBuffer> = falcon512.attached.open(signature, publicKey);
const key: ExpandedSecretKey = falcon512.expandSecretKey(secretKey);
key.destroy();
key[Symbol.dispose]();
const items: AggregateItem[] = [{ publicKey, message, signature }];
const signal = AbortSignal.timeout(5);
const made = await aggregate(items, { threads: 2, signal, workerUrl: new URL('x', location.href) });
await crypto.subtle.digest('SHA-256', made);
new Blob([made, aggregateSync(items), ...extractSignatures(made, items)]);
new Blob([inspectAggregate(made).statement, statementCommitment(items)]);
const pool = createAggregatePool({ threads: 2 });
new Blob([await pool.aggregate(items)]);
await pool[Symbol.asyncDispose]();
const valid: boolean = (await verifyAggregateAsync(made, items)) && verifyAggregate(made, items);
const draft = fnDsaDraft1024.item(signature, message, publicKey, { preHash: 'SHA-512' });
new Blob([await aggregate([draft], { profile: fnDsaDraft1024.profile }), draft.signature]);
await verifyAggregateAsync(made, items, { profiles: [ethFalcon512.profile] });
const verifyPool = createVerifyPool({ threads: 2 });
await verifyPool.verifyBatch(items);
const client = createClient({ baseUrl: 'http://localhost', apiKey: 'k' });
const { aggregate: bytes } = await client.result('1');
console.log(digest, blob, opened, valid, bytes, new CodedError('NO_WEBASSEMBLY').code);
// Bytes of shared memory are arguments, too.
falcon512.verify(new Uint8Array(new SharedArrayBuffer(9)), message, publicKey);
// @ts-expect-error there are no options to verify with
falcon512.verify(signature, message, publicKey, { context: message });
// @ts-expect-error nor to open with
falcon512.attached.open(signature, publicKey, { context: message });
`;

/** Lays the project out in a folder, with the package's types as they are built. */
export async function layOut(folder: string): Promise<void> {
  const installed = join(folder, 'node_modules/falconry');
  mkdirSync(join(installed, 'dist'), { recursive: true });
  const args = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly'];
  await run(OUR_TSC, root, ...args, '--outDir', join(installed, 'dist'));
  copyFileSync(join(root, 'src/shared/wasmModule.d.ts'), join(installed, 'dist/wasmModule.d.ts'));
  copyFileSync(join(root, 'package.json'), join(installed, 'package.json'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(folder, 'page.ts'), PAGE);
}

/**
 * Compiles the project, the package's declarations included.
 *
 * @returns what the compiler says: nothing when all is well
 */
export function compile(tsc: string, folder: string, resolution: string): Promise<string> {
  const options = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    module: resolution === 'bundler' ? 'esnext' : resolution,
    moduleResolution: resolution,
    strict: true,
    skipLibCheck: false,
    types: [],
    noEmit: true,
  };
  const config = { compilerOptions: options, files: ['page.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  return run(tsc, folder, '-p', '.');
}

async function run(tsc: string, cwd: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, ...args], { cwd });
    return stdout;
  } catch (error) {
    return (error as { stdout?: string }).stdout || String(error);
  }
}
