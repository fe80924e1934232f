/**
 * An Algorand payment in canonical msgpack: sorted names, without empty members. With algosdk this
 * is `encodeUnsignedTransaction(transaction)`.
 */
import { decodeAddress } from 'falconry/algorand';

type Value = number | string | Uint8Array;

export interface Payment {
  readonly from: string;
  readonly to: string;
  /** In microalgos. */
  readonly amount: number;
  /** The first round in which it is valid; it is valid for a thousand. */
  readonly firstRound: number;
}

const FEE = 1000;
const ROUNDS = 1000;
const GENESIS_ID = 'example-v1';
const GENESIS_HASH = new Uint8Array(32).fill(7);

function encode(value: Value): number[] {
  if (typeof value === 'number') {
    if (value < 0x80) return [value];
    if (value < 0x1_0000) return value < 0x100 ? [0xcc, value] : [0xcd, value >> 8, value & 255];
    return [0xce, value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
  }
  if (typeof value === 'string') return [0xa0 + value.length, ...new TextEncoder().encode(value)];
  return [0xc4, value.length, ...value];
}

export function encodePayment({ from, to, amount, firstRound }: Payment): Uint8Array {
  const members: Record<string, Value> = {
    amt: amount,
    fee: FEE,
    fv: firstRound,
    gen: GENESIS_ID,
    gh: GENESIS_HASH,
    lv: firstRound + ROUNDS,
    rcv: decodeAddress(to),
    snd: decodeAddress(from),
    type: 'pay',
  };
  const present = Object.entries(members).filter(([, value]) => value !== 0);
  return Uint8Array.from([
    0x80 + present.length,
    ...present.flatMap(([name, value]) => [...encode(name), ...encode(value)]),
  ]);
}
