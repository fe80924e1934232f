/** Polynomials in and out of the memory of a test build. */
import { D } from '../../../scripts/generate/labradorPlan.ts';
import { compileEntry } from '../../support/assembly.ts';
import type { Poly } from './plain.ts';

export async function labradorModule(module: 'plain' | 'relaxed') {
  const { exports, at } = await compileEntry('labrador', module);
  let next = at('AREA');
  const { buffer } = exports.memory;
  const view = () => new DataView(buffer);
  /** Room of that many bytes, kept. */
  const room = (bytes: number): number => {
    const here = next;
    next += (bytes + 63) & ~63;
    if (next > at('AREA') + 4194304) throw new Error('AREA is full');
    return here;
  };
  return {
    exports,
    at,
    buffer,
    room,
    /** Three of them. */
    rooms: (a: number, b: number, c: number) => [room(a), room(b), room(c)] as const,
    writeSmall: (to: number, a: Poly) => new Int16Array(buffer, to, D).set(a.map(Number)),
    readSmall: (from: number): Poly => [...new Int16Array(buffer, from, D)].map(BigInt),
    writeCoefs: (to: number, a: Poly) => new BigInt64Array(buffer, to, D).set(a),
    readCoefs: (from: number): Poly => [...new BigInt64Array(buffer, from, D)],
    lanes: (from: number, count: number) => new Int16Array(buffer, from, count),
    view,
  };
}
