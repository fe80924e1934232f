/**
 * Loaded before a process's own code (`node --import`), on its threads as well: its clock on the
 * wall is wrong by as many milliseconds as the file CHAOS_CLOCK says, which may change at any time.
 */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 50;
const file = process.env.CHAOS_CLOCK;
const Real = globalThis.Date;
const realNow = Real.now.bind(Real);
let stepMs = 0;
let lookMs = Number.NEGATIVE_INFINITY;

function now(): number {
  const steadyMs = performance.now();
  if (file !== undefined && steadyMs - lookMs > LOOK_EVERY_MS) {
    lookMs = steadyMs;
    const step = Number(readFileSync(file, 'utf8'));
    // Half a file: the last step stands.
    if (Number.isFinite(step)) stepMs = step;
  }
  return realNow() + stepMs;
}

Real.now = now;
globalThis.Date = new Proxy(Real, {
  construct: (target, args, self) => Reflect.construct(target, args.length ? args : [now()], self),
  apply: () => new Real(now()).toString(),
});
