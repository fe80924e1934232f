/**
 * Other implementations of Falcon behind one shape, for differential tests and benchmarks.
 *
 * - `noble` @noble/post-quantum, JavaScript; the only one with a seed for keys and randomness for
 *   signatures
 * - `oqs`     @oqs/liboqs-js, liboqs compiled to WebAssembly
 * - `pqclean` pqclean, PQClean's portable C as a native add-on; its synchronous call is its fastest
 *   on one thread
 *
 * `verify` answers false both for "false" and for an exception, because packages differ in which
 * bytes they throw at.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as nobleFalcon from '@noble/post-quantum/falcon.js';
import { packageFolders } from './programs.ts';

export type Degree = 512 | 1024;

export interface Peer {
  readonly name: 'noble' | 'oqs' | 'pqclean';
  readonly version: string;
  readonly degree: Degree;
  readonly padded: boolean;
  /** `seed` (48 bytes) is honoured by noble and refused by the others. */
  keygen(seed?: Uint8Array): { publicKey: Uint8Array; secretKey: Uint8Array };
  sign(message: Uint8Array, secretKey: Uint8Array): Uint8Array;
  verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
  close(): void;
}

const require = createRequire(import.meta.url);

/** The version of a package this project installs. */
export function versionOf(name: string): string {
  const [folder = ''] = packageFolders(name);
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function answer(verify: () => boolean): boolean {
  try {
    return verify();
  } catch {
    return false;
  }
}

/** Key generation of a peer that takes no seed. */
const seedless =
  (keygen: () => ReturnType<Peer['keygen']>): Peer['keygen'] =>
  (seed) => {
    if (seed !== undefined) throw new TypeError('this peer takes no seed');
    return keygen();
  };

/**
 * noble's own object, for what the common shape leaves out: seeds, attached signatures, public
 * keys.
 */
export function nobleObject(degree: Degree, padded = false): nobleFalcon.Falcon {
  if (degree === 512) return padded ? nobleFalcon.falcon512padded : nobleFalcon.falcon512;
  return padded ? nobleFalcon.falcon1024padded : nobleFalcon.falcon1024;
}

/** A signature of noble with chosen randomness, in the order in which it asks for it. */
export function nobleSign(
  degree: Degree,
  message: Uint8Array,
  secretKey: Uint8Array,
  salt: Uint8Array,
  samplerSeed: Uint8Array,
): Uint8Array {
  const draws = [salt, samplerSeed];
  const random = (): Uint8Array<ArrayBuffer> => Uint8Array.from(draws.shift()!);
  return nobleObject(degree).sign(message, secretKey, { random } as never);
}

export function noblePeer(degree: Degree, padded = false): Peer {
  const falcon = nobleObject(degree, padded);
  return {
    name: 'noble',
    version: versionOf('@noble/post-quantum'),
    degree,
    padded,
    keygen: (seed) => falcon.keygen(seed),
    sign: (message, secretKey) => falcon.sign(message, secretKey),
    verify: (signature, message, publicKey) =>
      answer(() => falcon.verify(signature, message, publicKey)),
    close: () => undefined,
  };
}

interface OqsFalcon {
  generateKeyPair(): { publicKey: Uint8Array; secretKey: Uint8Array };
  sign(message: Uint8Array, secretKey: Uint8Array): Uint8Array;
  verify(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean;
  destroy(): void;
}

export async function oqsPeer(degree: Degree, padded = false): Promise<Peer> {
  const create = `createFalcon${padded ? 'Padded' : ''}${degree}`;
  const oqs = (await import('@oqs/liboqs-js')) as unknown as Record<
    string,
    () => Promise<OqsFalcon>
  >;
  const falcon = await oqs[create]!();
  return {
    name: 'oqs',
    version: versionOf('@oqs/liboqs-js'),
    degree,
    padded,
    keygen: seedless(() => falcon.generateKeyPair()),
    sign: (message, secretKey) => falcon.sign(message, secretKey),
    verify: (signature, message, publicKey) =>
      answer(() => falcon.verify(message, signature, publicKey)),
    close: () => falcon.destroy(),
  };
}

interface PqcleanSign {
  keypair(): { publicKey: Uint8Array; privateKey: Uint8Array };
  sign(privateKey: Uint8Array, message: Uint8Array): Uint8Array;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

export function pqcleanPeer(degree: Degree, padded = false): Peer {
  const { Sign } = require('pqclean') as { Sign: new (name: string) => PqcleanSign };
  const falcon = new Sign(`falcon-${padded ? 'padded-' : ''}${degree}`);
  return {
    name: 'pqclean',
    version: versionOf('pqclean'),
    degree,
    padded,
    keygen: seedless(() => {
      const { publicKey, privateKey } = falcon.keypair();
      return { publicKey, secretKey: privateKey };
    }),
    sign: (message, secretKey) => falcon.sign(secretKey, message),
    verify: (signature, message, publicKey) =>
      answer(() => falcon.verify(publicKey, message, signature)),
    close: () => undefined,
  };
}

/**
 * Whether pqclean runs as the native add-on; it falls back to WebAssembly where it could not be
 * compiled.
 */
export function pqcleanIsNative(): boolean {
  const config = require('pqclean/install-config.gen.js') as { backend: string };
  if (config.backend === 'wasm') return false;
  try {
    require('pqclean');
    return Object.keys(require.cache).some((path) => path.endsWith('node_pqclean.node'));
  } catch {
    return false;
  }
}

export async function loadPeers(degree: Degree, padded = false): Promise<Peer[]> {
  return [noblePeer(degree, padded), await oqsPeer(degree, padded), pqcleanPeer(degree, padded)];
}
