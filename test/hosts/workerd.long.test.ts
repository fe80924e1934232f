/**
 * The library in Cloudflare's workerd, which compiles nothing at run time and has no threads: the
 * worker of docs/hosts.md, bundled and served by the commands that stand there, asked over HTTP.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { aggregate } from '../../src/aggregate/index.ts';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { encodeWireHex } from '../../src/wire/hex.ts';
import { toTriple } from '../../src/wire/triple.ts';
import { fixedItems } from '../runtimes/check.ts';
import { fact } from '../support/facts.ts';
import { installed, projectFolder, readRecipes } from './recipes.ts';

const MODULES = ['falcon', 'falcon.relaxed', 'labrador', 'labrador.relaxed'];
/** The program itself: the script of its name does not pass signals on. */
const { default: program } = createRequire(import.meta.url)('workerd') as { default: string };
const { publicKey, secretKey } = falcon512.keygen();

let folder: string;
let stop: () => Promise<unknown>;
let base: string;

/** The package as it would be installed: sources for JavaScript, the built modules. */
async function install(): Promise<void> {
  const place = join(folder, 'node_modules/falconry');
  await mkdir(join(place, 'dist'), { recursive: true });
  await symlink(join(projectFolder, 'src'), join(place, 'src'));
  for (const name of MODULES) {
    const built = join(projectFolder, `build/${name}.wasm`);
    await symlink(built, join(place, `dist/${name}.wasm`));
  }
  const exports = { '.': './src/index.ts', './*.wasm': './dist/*.wasm' };
  const manifest = { name: 'falconry', version: '0.0.0', type: 'module', exports };
  await writeFile(join(place, 'package.json'), JSON.stringify(manifest));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'falconry-workerd-'));
  await install();
  const recipes = await readRecipes();
  const recipe = (language: string): string =>
    recipes.find((block) => /workerd/.test(block.heading) && block.language === language)!.source;
  await writeFile(join(folder, 'worker.ts'), recipe('ts'));
  await writeFile(join(folder, 'config.capnp'), recipe('capnp'));
  const [npx, bundler = '', ...args] = recipe('sh')
    .trim()
    .split(/[\\\s]+/);
  expect(npx).toBe('npx');
  execFileSync(installed(bundler), args, { cwd: folder, stdio: 'pipe' });

  const SECRET_KEY = encodeWireHex(secretKey);
  const child = spawn(
    program,
    ['serve', 'config.capnp', '--socket-addr=http=127.0.0.1:0', '--control-fd=1'],
    { cwd: folder, env: { ...process.env, SECRET_KEY }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise((resolve) => child.on('close', resolve));
  stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  let output = '';
  base = await new Promise<string>((resolve, reject) => {
    const look = (text: string) => {
      output += text;
      const port = /"event":"listen".*"port":(\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    };
    child.stdout.setEncoding('utf8').on('data', look);
    child.stderr.setEncoding('utf8').on('data', look);
    void ended.then(() => reject(new Error(`ended:\n${output}`)));
  });
}, 300_000);

afterAll(async () => {
  await stop?.();
  await rm(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into
async function ask(path: string, body: unknown): Promise<any> {
  const response = await fetch(base + path, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text);
}

describe('workerd', { timeout: 300_000 }, () => {
  test('signs and verifies', async () => {
    const digest = '0x0123456789';
    const { signature } = await ask('/sign', { digest });
    const message = Buffer.from(digest.slice(2), 'hex');
    expect(falcon512.verify(Buffer.from(signature.slice(2), 'hex'), message, publicKey)).toBe(true);
    const public_key = encodeWireHex(publicKey);
    expect(await ask('/verify', { signature, digest, public_key })).toEqual({ valid: true });
    const other = { signature, digest: '0x01', public_key };
    expect(await ask('/verify', other)).toEqual({ valid: false });
  });

  test('verifies aggregates: a bundle, a proof, and a proof of both sets', async (context) => {
    const mixed = [...fixedItems(falcon512, 40), ...fixedItems(falcon1024, 30)];
    const checked: string[] = [];
    for (const [name, items, format] of [
      ['a bundle of 70', mixed, 'bundle'],
      ['a proof of 150', fixedItems(falcon512, 150), 'proof'],
      ['a proof of both sets', mixed, 'proof'],
    ] as const) {
      const bytes = await aggregate(items, { format });
      const statements = items.map(toTriple);
      const good = { aggregate: encodeWireHex(bytes), statements };
      expect(await ask('/verify-aggregate', good), name).toEqual({ valid: true });
      const others = { ...good, statements: statements.toReversed() };
      expect(await ask('/verify-aggregate', others), name).toEqual({ valid: false });
      bytes[bytes.length - 9]! ^= 1;
      const damaged = { aggregate: encodeWireHex(bytes), statements };
      expect(await ask('/verify-aggregate', damaged), name).toEqual({ valid: false });
      checked.push(name);
    }
    const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
    fact(context, 'hosts really started', `${version}: signs, verifies, ${checked.join(', ')}`);
  });
});

describe('modules that the host has compiled', () => {
  const empty = new WebAssembly.Module(
    Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00),
  );

  test('must be ours', async () => {
    vi.resetModules();
    const library = await import('../../src/index.ts');
    for (const use of [library.useFalconModule, library.useLabradorModule]) {
      for (const wrong of [undefined, null, new Uint8Array(8), {}]) {
        expect(() => use(wrong as never)).toThrow(TypeError);
      }
      expect(() => use(empty)).toThrow(RangeError);
    }
    const { useFalconModule, useLabradorModule } = library;
    const compiled = async (name: string) =>
      new WebAssembly.Module(await readFile(join(projectFolder, `build/${name}.wasm`)));
    const [falcon, labrador] = [await compiled('falcon'), await compiled('labrador')];
    expect(() => useFalconModule(labrador)).toThrow(RangeError);
    expect(() => useLabradorModule(falcon)).toThrow(RangeError);

    // The library then compiles nothing.
    useFalconModule(falcon);
    useLabradorModule(labrador);
    const compile = vi.spyOn(WebAssembly, 'Module');
    const keys = library.falcon512.keygen();
    const message = Uint8Array.of(1);
    const signature = library.falcon512.sign(message, keys.secretKey);
    const items = Array(3).fill({ ...keys, message, signature });
    const proof = await library.aggregate(items, { format: 'proof' });
    expect(library.verifyAggregate(proof, items)).toBe(true);
    expect(compile).not.toHaveBeenCalled();
    compile.mockRestore();
  });
});
