/**
 * Real batches for the tests of this folder: signatures of @noble/post-quantum from fixed seeds, so
 * that every run sees the same bytes, brought into the wanted form by the reference. The keys are
 * this library's, which makes the same ones as noble from a seed, forty times as fast.
 */
import { createHash } from 'node:crypto';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { type Degree, nobleSign } from '../support/peers.ts';
import { joinSignature, splitSignature } from './referenceBundle.ts';

export interface Item {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

export type Form = 'compressed' | 'padded' | 'constantTime';

const FORM_NUMBER = { compressed: 0, padded: 1, constantTime: 2 };

/** Bytes that depend on their label alone. */
export function bytesOf(label: string, length: number): Uint8Array {
  return new Uint8Array(createHash('shake256', { outputLength: length }).update(label).digest());
}

const keys = new Map<string, { publicKey: Uint8Array; secretKey: Uint8Array }>();

export function keyPair(n: Degree, number: number) {
  const label = `key ${n} ${number}`;
  const known = keys.get(label);
  if (known !== undefined) return known;
  const made = (n === 512 ? falcon512 : falcon1024).keygen(bytesOf(label, 48));
  keys.set(label, made);
  return made;
}

/** The same signature in another form. */
export function inForm(signature: Uint8Array, form: Form): Uint8Array {
  return joinSignature({ ...splitSignature(signature), form: FORM_NUMBER[form] });
}

/** Item `number` of a set, by one of three keys. */
export function makeItem(n: Degree, form: Form, number: number): Item {
  const { publicKey, secretKey } = keyPair(n, number % 3);
  const message = bytesOf(`message ${n} ${number}`, (number * 7) % 50);
  // The few signatures that are too long for the padded form are made again with another salt.
  for (let attempt = 0; ; attempt++) {
    const label = `${n} ${number} ${attempt}`;
    const salt = bytesOf(`salt ${label}`, 40);
    const signature = nobleSign(n, message, secretKey, salt, bytesOf(`sampler ${label}`, 48));
    if (form === 'padded' && signature.length > (n === 512 ? 666 : 1280)) continue;
    return { publicKey, message, signature: inForm(signature, form) };
  }
}

export function statementsOf(items: readonly Item[]) {
  return items.map(({ publicKey, message }) => ({ publicKey, message }));
}
