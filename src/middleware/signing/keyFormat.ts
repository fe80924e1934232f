/** What the files of signing keys hold: the fields, sealed or not, and the checks on reading. */

import { type Falcon, falcon512, falcon1024, type ParameterSet } from '../../falcon/index.ts';
import { wipe } from '../../shared/bytes.ts';
import { decodeWireHex, encodeWireHex } from '../../wire/hex.ts';
import type { KeySeal } from './keySeal.ts';

type Opener = Pick<KeySeal, 'open'>;
type Sealer = Pick<KeySeal, 'seal'>;

/** The names of the files of signing keys. */
export const KEY_FILE = /^signing(?:-\d+)?\.json$/;

const ALGORITHMS: Readonly<Record<ParameterSet, Falcon>> = { falcon512, falcon1024 };

/** The library object of a parameter set. */
export function algorithm(parameterSet: ParameterSet): Falcon {
  return ALGORITHMS[parameterSet];
}

/** A public key that was in use, or is. */
export interface KnownPublicKey {
  readonly parameterSet: ParameterSet;
  readonly publicKey: Uint8Array;
  readonly createdAt: string;
  /** Null: it is in use. */
  readonly retiredAt: string | null;
}

/** A file of a key: with the secret key in it, or with it sealed. */
export interface KeyFile {
  readonly parameterSet: ParameterSet;
  readonly publicKey: Uint8Array;
  /** To be wiped. */
  readonly secretKey: Uint8Array;
  readonly createdAt: string | null;
  readonly isSealed: boolean;
}

/** What a sealed key is: it cannot be moved to another client, or to another public key. */
const sealedAs = (
  name: string,
  { parameterSet, publicKey }: Pick<KeyFile, 'parameterSet' | 'publicKey'>,
) => `falconry signing key v1\n${name}\n${parameterSet}\n${encodeWireHex(publicKey)}`;

export function publicFields({
  parameterSet,
  publicKey,
  createdAt,
}: Pick<KeyFile, 'parameterSet' | 'publicKey' | 'createdAt'>) {
  return {
    parameter_set: parameterSet,
    public_key: encodeWireHex(publicKey),
    ...(createdAt !== null && { created_at: createdAt }),
  };
}

/** What the file of a key holds: the secret key sealed, if there is a seal. */
export async function fieldsOf(name: string, key: Omit<KeyFile, 'isSealed'>, seal: Sealer | null) {
  const known = publicFields(key);
  if (seal === null) return { version: 1, ...known, secret_key: encodeWireHex(key.secretKey) };
  const sealed = await seal.seal(sealedAs(name, key), key.secretKey);
  return { version: 2, ...known, sealed: encodeWireHex(sealed) };
}

const MAX_BYTES = 4096;

/** The key of a file, or null if it holds none that can be opened. */
export async function parseKey(
  name: string,
  text: string,
  opened: () => Promise<Opener | null>,
): Promise<KeyFile | null> {
  const fields = parseFields(text);
  if (fields === null) return null;
  const { parameterSet, createdAt } = fields;
  const { lengths, getPublicKey } = algorithm(parameterSet);
  const isSealed = fields.sealed !== undefined;
  let secretKey: Uint8Array | string | null;
  if (isSealed) {
    const sealed = decodeWireHex(fields.sealed, MAX_BYTES);
    const publicKey = decodeWireHex(fields.public_key, lengths.publicKey);
    if (typeof sealed === 'string' || typeof publicKey === 'string') return null;
    const seal = await opened();
    const about = sealedAs(name, { parameterSet, publicKey });
    secretKey = seal && (await seal.open(about, sealed));
  } else secretKey = decodeWireHex(fields.secret_key, lengths.secretKey);
  if (secretKey === null || typeof secretKey === 'string') return null;
  try {
    if (secretKey.length !== lengths.secretKey) return null;
    const publicKey = getPublicKey(secretKey);
    return { parameterSet, publicKey, secretKey, createdAt, isSealed };
  } catch {
    wipe(secretKey);
    return null;
  }
}

interface Fields {
  readonly parameterSet: ParameterSet;
  readonly createdAt: string | null;
  readonly public_key?: unknown;
  readonly secret_key?: unknown;
  readonly sealed?: unknown;
  readonly retired_at?: unknown;
}

function parseFields(text: string): Fields | null {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(text) ?? {};
  } catch {
    return null;
  }
  const { parameter_set: parameterSet, created_at: createdAt } = fields;
  if (parameterSet !== 'falcon512' && parameterSet !== 'falcon1024') return null;
  return { ...fields, parameterSet, createdAt: typeof createdAt === 'string' ? createdAt : null };
}

/** The public key of a file of a retired key, or null if it holds none. */
export function readRetired(text: string): KnownPublicKey | null {
  const fields = parseFields(text);
  if (fields === null) return null;
  const { parameterSet, createdAt, retired_at: retiredAt } = fields;
  const { lengths } = algorithm(parameterSet);
  const publicKey = decodeWireHex(fields.public_key, lengths.publicKey);
  if (typeof publicKey === 'string' || publicKey.length !== lengths.publicKey) return null;
  if (createdAt === null || typeof retiredAt !== 'string') return null;
  return { parameterSet, publicKey, createdAt, retiredAt };
}
