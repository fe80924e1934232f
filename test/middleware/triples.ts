/** Signed triples in wire form, made with the library. */
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { decodeWireHex } from '../../src/wire/hex.ts';
import { type TaskItem, type Triple, toTriple } from '../../src/wire/triple.ts';

const text = new TextEncoder();

/** `count` triples of as many messages under `keys` keys. */
export function makeItems(count: number, keys = 1, falcon = falcon512): TaskItem[] {
  const pairs = Array.from({ length: keys }, () => falcon.keygen());
  return Array.from({ length: count }, (_, index) => {
    const { publicKey, secretKey } = pairs[index % keys]!;
    const message = text.encode(`message ${index}`);
    return { publicKey, message, signature: falcon.sign(message, secretKey) };
  });
}

export function makeTriples(count: number, keys = 1): Triple[] {
  return makeItems(count, keys).map(toTriple);
}

export const bytesOf = (hex: string) => decodeWireHex(hex, 1 << 24) as Uint8Array;

/** What the aggregate of these triples states. */
export const statementsOf = (triples: readonly Triple[]) =>
  triples.map(({ digest, public_key }) => ({
    publicKey: bytesOf(public_key),
    message: bytesOf(digest),
  }));

/** Falcon-512 and Falcon-1024 in turn. */
export function makeMixedTriples(count: number): Triple[] {
  const small = makeItems(count, 1, falcon512);
  const large = makeItems(count, 1, falcon1024);
  return small.map((item, index) => toTriple(index % 2 === 0 ? item : large[index]!));
}

/** The same triple with one bit of its signature changed, in the middle. */
export function spoil(triple: Triple): Triple {
  const at = triple.signature.length >> 1;
  const digit = triple.signature[at] === '0' ? '1' : '0';
  return {
    ...triple,
    signature: triple.signature.slice(0, at) + digit + triple.signature.slice(at + 1),
  };
}
