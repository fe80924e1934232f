/**
 * Rebuilds NIST's response file of Falcon from a signer, entry by entry, and returns the SHA-256 of
 * the whole text.
 *
 * The request half (count, seed, mlen, msg) comes from one generator over 00..2f; every entry then
 * has its own generator over its seed: key generation draws 48 bytes, signing draws the salt (40)
 * and the sampler seed (48). Two layouts exist: the submission's (a header line, an empty line
 * after every entry, `sm` attached) and liboqs's for the padded form (no header, no empty line at
 * the end, `sm` = signature || message).
 */
import { createHash } from 'node:crypto';
import { createDrbg, katEntropy } from './drbg.ts';

/** What the file needs of an implementation. `sign` returns a detached signature. */
export interface KatSigner {
  keygen(seed: Uint8Array): { publicKey: Uint8Array; secretKey: Uint8Array };
  sign(
    message: Uint8Array,
    secretKey: Uint8Array,
    salt: Uint8Array,
    samplerSeed: Uint8Array,
  ): Uint8Array;
}

export interface KatEntry {
  count: number;
  seed: Uint8Array;
  message: Uint8Array;
  publicKey: Uint8Array;
  secretKey: Uint8Array;
  signature: Uint8Array;
}

export interface KatFile {
  sha256: string;
  bytes: number;
  entries: KatEntry[];
}

export type KatLayout =
  /** The submission's: `header` is its first line, `# Falcon-512`. */
  | { kind: 'submission'; header: string }
  /** The one of liboqs's `kat_sig --all` for its padded sets. */
  | { kind: 'liboqs' };

export const KAT_ENTRIES = 100;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

/**
 * The attached form of the submission (`sm`): length of the coded half (2 bytes, big-endian), salt,
 * message, 0x20 + logn, coded s2.
 */
export function attach(signature: Uint8Array, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const salt = signature.subarray(1, 41);
  const coded = signature.subarray(41);
  const out = new Uint8Array(2 + 40 + message.length + 1 + coded.length);
  new DataView(out.buffer).setUint16(0, 1 + coded.length);
  out.set(salt, 2);
  out.set(message, 42);
  out[42 + message.length] = 0x20 | (signature[0]! & 0x0f);
  out.set(coded, 43 + message.length);
  return out;
}

/**
 * The requests: the seed and message of every entry, independent of the implementation and of the
 * parameter set.
 */
export function* katRequests(): Generator<{
  count: number;
  seed: Uint8Array;
  message: Uint8Array;
}> {
  const draw = createDrbg(katEntropy());
  for (let count = 0; count < KAT_ENTRIES; count++) {
    const seed = draw(48);
    yield { count, seed, message: draw(33 * (count + 1)) };
  }
}

export function buildKatFile(signer: KatSigner, layout: KatLayout): KatFile {
  const hash = createHash('sha256');
  const entries: KatEntry[] = [];
  let bytes = 0;
  const write = (text: string): void => {
    hash.update(text);
    bytes += text.length;
  };

  if (layout.kind === 'submission') write(`${layout.header}\n\n`);
  for (const { count, seed, message } of katRequests()) {
    const draw = createDrbg(seed);
    const { publicKey, secretKey } = signer.keygen(draw(48));
    const salt = draw(40);
    const signature = signer.sign(message, secretKey, salt, draw(48));
    const sm =
      layout.kind === 'submission'
        ? attach(signature, message)
        : Uint8Array.from([...signature, ...message]);
    write(
      `count = ${count}\nseed = ${hex(seed)}\nmlen = ${message.length}\nmsg = ${hex(message)}\n` +
        `pk = ${hex(publicKey)}\nsk = ${hex(secretKey)}\nsmlen = ${sm.length}\nsm = ${hex(sm)}\n`,
    );
    if (layout.kind === 'submission' || count < KAT_ENTRIES - 1) write('\n');
    entries.push({ count, seed, message, publicKey, secretKey, signature });
  }
  return { sha256: hash.digest('hex'), bytes, entries };
}
