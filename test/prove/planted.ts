/** Branches and addresses that depend on secrets, planted in functions of falcon.wasm. */
import type { Instruction, Module } from '../../scripts/prove/decode.ts';
import { functionNamed } from '../../scripts/prove/kernel.ts';

type Code = readonly Omit<Instruction, 'at'>[];

/** The module, whose function of this name begins with these instructions. */
export function withStart(module: Module, name: string, ...start: Code): Module {
  const index = functionNamed(module, name);
  const body = module.bodies[index]!;
  const later = (at: number | undefined) => (at === undefined ? at : at + start.length);
  const code = body.code.map((one) => ({
    ...{ ...one, end: later(one.end), otherwise: later(one.otherwise) },
  }));
  const planted = start.map((one) => ({ ...one, at: 0 }));
  const changed = { ...body, code: [...planted, ...code] as Instruction[] };
  return { ...module, bodies: module.bodies.with(index, changed) };
}

/** A byte of the sampler's seed. */
const secret = [
  { op: 'i32.const', value: 18_632n },
  { op: 'i32.load8_u', offset: 0 },
];
export const address: Code = [...secret, { op: 'i32.load8_u', offset: 0 }, { op: 'drop' }];
export const branch: Code = [...secret, { op: 'if', results: 0, end: 3 }, { op: 'end' }];
