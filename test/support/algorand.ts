/**
 * The cases of Algorand's known answers: test_deterministic.c of algorand/falcon. Key i is that of
 * the seed "key-%04u", message i is the first i bytes of SHAKE256("msg-%04u").
 */
import { createHash } from 'node:crypto';
import type { Falcon } from '../../src/falcon/index.ts';

/** @returns SHAKE256 of an ASCII text, `length` bytes */
export const shakeOf = (text: string, length: number): Uint8Array<ArrayBuffer> =>
  length === 0
    ? new Uint8Array(0)
    : Uint8Array.from(createHash('shake256', { outputLength: length }).update(text).digest());

export const asciiOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(text, 'latin1'));

export const digits = (number: number): string => String(number).padStart(4, '0');

/** @returns key pair and message of case number i */
export const officialCase = (falcon: Falcon, i: number) => ({
  ...falcon.keygen(asciiOf(`key-${digits(i)}`)),
  message: shakeOf(`msg-${digits(i)}`, i),
});

/** SHA-256 of lines of lower-case hex, one for each array. */
export function hashOfLines(arrays: Iterable<Uint8Array>): string {
  const hash = createHash('sha256');
  for (const bytes of arrays) hash.update(`${Buffer.from(bytes).toString('hex')}\n`);
  return hash.digest('hex');
}
