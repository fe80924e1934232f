/**
 * A user of the installed package: every entry is imported by its public name, and does its main
 * work. Runs in an empty folder beside `node_modules`, in Node, Deno and Bun.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  aggregate,
  createAggregatePool,
  extractSignatures,
  falcon512,
  falcon1024,
  verifyAggregate,
} from 'falconry';
import { accountFromEntropy, decodeAddress } from 'falconry/algorand';
import { createClient } from 'falconry/client';
import { fnDsaDraft512 } from 'falconry/drafts/fn-dsa-2026-07';
import { ethFalcon512 } from 'falconry/eth-falcon';
import * as integer from 'falconry/integer';
import { exportSecretKey, importSecretKey } from 'falconry/keys';
import { falconService, memoryStore } from 'falconry/middleware';
import * as noble from 'falconry/noble';
import { s3Blobs } from 'falconry/s3';
import { taskStoreContract } from 'falconry/testing';
import * as small from 'falconry/verify';
import * as smallAggregate from 'falconry/verify-aggregate';

const message = new TextEncoder().encode('installed from the tarball');
for (const falcon of [falcon512, falcon1024]) {
  const { publicKey, secretKey } = falcon.keygen();
  const signature = falcon.sign(message, secretKey);
  assert.equal(falcon.verify(signature, message, publicKey), true);
  assert.equal(falcon.verify(signature, message.subarray(1), publicKey), false);
  assert.deepEqual(importSecretKey(exportSecretKey(secretKey)).key, secretKey);
  const fixed = falcon.det.sign(message, secretKey);
  assert.equal(falcon.det.verify(fixed, message, publicKey), true);
  assert.equal(falcon.verify(falcon.det.toRound3(fixed), message, publicKey), true);
  const derived = falcon.sign(message, secretKey, { salt: 'derived' });
  assert.deepEqual(falcon.sign(message, secretKey, { salt: 'derived' }), derived);
  const expanded = falcon.expandSecretKey(secretKey);
  const own = { ...integer }[falcon.name];
  assert.deepEqual(own.sign(message, expanded, { salt: 'derived' }), derived);
  assert.deepEqual(own.det.sign(message, secretKey), fixed);
  assert.equal(own.verify(signature, message, publicKey), true);
  const items = [{ publicKey, message, signature }];
  const bundle = await aggregate(items);
  assert.equal(verifyAggregate(bundle, items), true);
  assert.equal({ ...small }[falcon.name].verify(signature, message, publicKey), true);
  assert.equal({ ...small }[falcon.name].det.verify(fixed, message, publicKey), true);
  assert.equal(smallAggregate.verifyAggregate(bundle, items), true);
  assert.equal({ ...noble }[falcon.name].verify(signature, message, publicKey), true);
  assert.deepEqual(extractSignatures(bundle, items), [signature]);
  const proof = await aggregate([items[0], items[0], items[0]], { format: 'proof' });
  assert.equal(verifyAggregate(proof, [items[0], items[0], items[0]]), true);
  assert.equal(verifyAggregate(proof, [items[0], items[0]]), false);
  assert.equal(smallAggregate.verifyAggregate(proof, [items[0], items[0], items[0]]), true);
  assert.equal(smallAggregate.verifyAggregate(proof, [items[0], items[0]]), false);
}
for (const scheme of [ethFalcon512, fnDsaDraft512]) {
  const { publicKey, secretKey } = scheme.keygen();
  const signature = scheme.sign(message, secretKey);
  assert.equal(scheme.verify(signature, message, publicKey), true);
  const verifier = scheme === ethFalcon512 ? small.ethFalcon512 : small.fnDsaDraft512;
  assert.equal(verifier.verify(signature, message, publicKey), true);
  const item =
    scheme === ethFalcon512
      ? { signature, message, publicKey }
      : scheme.item(signature, message, publicKey);
  const bytes = await aggregate([item], { profile: scheme.profile });
  assert.equal(verifyAggregate(bytes, [item], { profiles: [scheme.profile] }), true);
  assert.equal(verifyAggregate(bytes, [item]), false);
}
{
  const { publicKey, secretKey } = falcon512.keygen();
  const items = Array.from({ length: 250 }, (_, i) => {
    const message = Uint8Array.of(i);
    return { publicKey, message, signature: falcon512.sign(message, secretKey) };
  });
  const pool = createAggregatePool({ threads: 2 });
  let threads;
  const onStats = (stats) => ({ threads } = stats);
  const proof = await pool.aggregate(items, { format: 'proof', onStats });
  assert.equal(threads, 2);
  assert.deepEqual(proof, await aggregate(items, { format: 'proof' }));
  assert.equal(await pool.verifyAggregate(proof, items), true);
  await pool.close();
}
for (const name of ['falcon', 'labrador'].flatMap((n) => [n, `${n}.relaxed`, `${n}.verify`])) {
  const bytes = readFileSync(new URL(import.meta.resolve(`falconry/${name}.wasm`)));
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
}
const account = accountFromEntropy(new Uint8Array(32));
assert.deepEqual(decodeAddress(account.address), account.bytes);
const service = falconService({ dataDirectory: './data' });
await service.start();
assert.equal((await service.app.request('/v1/svc/tasks')).status, 401);
const page = await (await service.app.request('/v1/ui')).text();
for (const [, file] of page.matchAll(/(?:src|href)="((?:[^":]*\/)?[\w.-]+\.(?:js|css))"/g)) {
  const asset = await service.app.request(new URL(file, 'http://localhost/v1/ui').pathname);
  assert.equal(asset.status, 200, file);
}
for (const path of ['/v1/ui', '/v1/openapi.json']) {
  assert.equal((await service.app.request(path)).status, 200, path);
}
const { key } = await service.apiKeys.create({ name: 'consumer' });
const client = createClient({
  baseUrl: 'http://localhost',
  apiKey: key,
  fetch: async (input, init) => service.app.fetch(new Request(input, init)),
});
const { publicKey, secretKey } = falcon512.keygen();
const items = [{ publicKey, message, signature: falcon512.sign(message, secretKey) }];
const { process_id } = await client.submit(items);
await client.waitFor(process_id);
assert.equal((await client.result(process_id, { statements: items })).checked, true);
await service.stop();
const suite = [];
const runner = { describe: (_, body) => body(), it: (_, body) => suite.push(body) };
taskStoreContract(runner, 'memory', async (nowMs) => {
  const store = memoryStore({ nowMs, wallMs: nowMs });
  return { store, other: store, close: () => store.close() };
});
for (const body of suite) await body();
assert.ok(suite.length > 25);
// What needs an optional peer says which; nothing else has needed it.
await assert.rejects(import('falconry/postgres'), /'pg'/);
// The signer of a bucket's requests is the host's own to install.
const bucket = s3Blobs({
  bucket: 'somewhere',
  credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
});
await assert.rejects(bucket.uploads.url(1, { expiresAtMs: Date.now() }), /npm install aws4fetch/);
console.log(
  'the installed package signs, verifies, aggregates (also on two threads), serves, ' +
    'and is a client of itself',
);
