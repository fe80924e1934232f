/** Keys as `falconry keygen` writes them: JSON with the raw keys in hex with 0x. */
import { fromHex, toHex } from '../../shared/bytes.ts';
import { charCodeAt, sliceText } from '../../shared/intrinsics.ts';
import type { ParameterSet } from '../index.ts';
import { badKey, FALCONS } from './forms.ts';
import type { KeyFields } from './jwk.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A public key in a file of `falconry keygen`. */
export interface PublicKeyFile {
  readonly parameter_set: ParameterSet;
  readonly public_key: string;
}

/** A key pair in a file of `falconry keygen`. */
export interface SecretKeyFile extends PublicKeyFile {
  readonly secret_key: string;
}

/**
 * Decodes the members of a key file. Each may be missing; unknown members are ignored.
 *
 * @param member returns the value of a member
 * @throws CodedError `BAD_KEY` for members that do not decode, or of different parameter sets
 */
export function decodeKeyFile(member: (name: string) => unknown): KeyFields {
  const set = member('parameter_set');
  const secret = member('secret_key');
  const open = member('public_key');
  const fits = (value: unknown, length: number) =>
    typeof value !== 'string' || value.length === 2 + 2 * length;
  const falcon = FALCONS.find(({ name, lengths }) =>
    set === undefined
      ? fits(secret, lengths.secretKey) && fits(open, lengths.publicKey)
      : set === name,
  );
  if (falcon === undefined) {
    const what = set === undefined ? 'the keys have' : '"parameter_set" is not';
    throw badKey('json', `${what} ${set === undefined ? 'no known length' : NAMES}`);
  }
  const { lengths } = falcon;
  const publicKey = decodeMember('public_key', open, lengths.publicKey);
  return {
    form: 'json',
    falcon,
    publicKey,
    secretKey: decodeMember('secret_key', secret, lengths.secretKey),
  };
}

const NAMES = 'falcon512 or falcon1024';

function decodeMember(name: string, value: unknown, length: number): Bytes | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw badKey('json', `"${name}" is not a string`);
  if (charCodeAt(value, 0) !== 0x30 || charCodeAt(value, 1) !== 0x78) {
    throw badKey('json', `"${name}" does not start with 0x`);
  }
  const digits = value.length - 2;
  if (digits !== 2 * length) {
    throw badKey('json', `"${name}" has ${digits} digits instead of ${2 * length}`);
  }
  try {
    return fromHex(sliceText(value, 2));
  } catch {
    throw badKey('json', `"${name}" is not hexadecimal`);
  }
}

export const encodePublicKeyFile = (name: ParameterSet, publicKey: Uint8Array): PublicKeyFile => ({
  parameter_set: name,
  public_key: `0x${toHex(publicKey)}`,
});

export const encodeSecretKeyFile = (
  name: ParameterSet,
  publicKey: Uint8Array,
  secretKey: Uint8Array,
): SecretKeyFile => ({
  ...encodePublicKeyFile(name, publicKey),
  secret_key: `0x${toHex(secretKey)}`,
});
