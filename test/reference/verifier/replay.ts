/**
 * Section 4: what is absorbed, in its order, and the seeds that come out. Every value that is
 * absorbed was sent or is part of the statement, so this needs no arithmetic.
 */
import type { OrdinaryMessage, SectionMessage, TailMessage } from './parse.ts';
import { DEGREE, mod } from './ring.ts';
import type { Shapes } from './shapes.ts';
import { type AbsorbAs, i32s, type Trace, type Transcript, transcript, u16 } from './transcript.ts';

/** Seeds of a level; alpha and rho only at level 0. */
export interface Seeds {
  readonly alpha?: Uint8Array;
  readonly rho?: Uint8Array;
  readonly jl: Uint8Array;
  readonly lift: Uint8Array;
  readonly combine: Uint8Array;
  readonly amortise: Uint8Array;
}

/** The states under which the seals of the tail were made. */
export interface TailSeeds extends Seeds {
  readonly stateOfT: Uint8Array;
  readonly stateOfH: Uint8Array;
}

export interface SectionSeeds {
  readonly levels: readonly Seeds[];
  readonly tail: TailSeeds;
}

export interface Opening {
  readonly rowHash: Uint8Array;
  /** the container's bytes before the body */
  readonly header: Uint8Array;
  readonly count: number;
}

export function replay(
  shapes: Shapes,
  { rowHash, header, count }: Opening,
  message: SectionMessage,
  trace?: Trace,
  absorbAs?: AbsorbAs,
): SectionSeeds {
  const t = transcript(trace, absorbAs);
  t.absorb(
    'falconry/proof/v3',
    Buffer.concat([rowHash, Uint8Array.of(shapes.logn), u16(shapes.bucket), u16(count)]),
  );
  t.absorb('header', header);
  const levels = message.levels.map((level, i) =>
    i === 0 ? replayFirst(t, level) : replayOrdinary(t, level),
  );
  return { levels, tail: replayTail(t, message.tail) };
}

export function replayFirst(t: Transcript, message: OrdinaryMessage): Seeds {
  t.absorb('retry', Uint8Array.of(message.retry));
  t.absorb('uA', message.u[0]!.bytes);
  const alpha = t.seed('alpha');
  t.absorb('uB', message.u[1]!.bytes);
  const rho = t.seed('rho');
  return { alpha, rho, ...replayRest(t, message) };
}

export function replayOrdinary(t: Transcript, message: OrdinaryMessage): Seeds {
  t.absorb('retry', Uint8Array.of(message.retry));
  t.absorb('u1', message.u[0]!.bytes);
  return replayRest(t, message);
}

function replayRest(t: Transcript, message: OrdinaryMessage) {
  const { jl, lift } = absorbProjection(t, message, message.w);
  t.absorb('b', Buffer.concat([message.b.bytes, message.b32.bytes]));
  const combine = t.seed('combine');
  t.absorb('u2', message.u2.bytes);
  const amortise = t.seed('amortise');
  return { jl, lift, combine, amortise };
}

export function replayTail(t: Transcript, message: TailMessage): TailSeeds {
  t.absorb('retry', Uint8Array.of(message.retry));
  const stateOfT = t.state();
  t.absorb('t', Buffer.concat([message.t.bytes, residues(message.g), message.sealT]));
  const { jl, lift } = absorbProjection(t, message, []);
  t.absorb('b', message.b.bytes);
  const combine = t.seed('combine');
  const stateOfH = t.state();
  t.absorb('h', Buffer.concat([message.h.bytes, message.sealH]));
  const amortise = t.seed('amortise');
  return { jl, lift, combine, amortise, stateOfT, stateOfH };
}

/** yUV, then yUV_x behind a hidden level, or w_j at level 0 */
function absorbProjection(
  t: Transcript,
  { counter, y, yOfX }: Pick<OrdinaryMessage, 'counter' | 'y' | 'yOfX'>,
  w: readonly number[],
): { jl: Uint8Array; lift: Uint8Array } {
  t.absorb('counter', Uint8Array.of(counter));
  const jl = t.seed('jl');
  const numbers = [y, yOfX].flatMap((sent) => (sent ? [...sent.rows, sent.U, sent.V] : []));
  t.absorb('y', i32s([...numbers, ...w]));
  return { jl, lift: t.seed('lift') };
}

/** pack_44 of integers taken modulo q */
export function residues(list: readonly (readonly (number | bigint)[])[]): Uint8Array {
  const each = (44 * DEGREE) / 8;
  const bytes = new Uint8Array(each * list.length);
  for (const [i, poly] of list.entries()) {
    let packed = 0n;
    for (const [j, x] of poly.entries()) packed |= mod(BigInt(x)) << BigInt(44 * j);
    const hex = packed.toString(16).padStart(2 * each, '0');
    bytes.set(Buffer.from(hex, 'hex').reverse(), each * i);
  }
  return bytes;
}
