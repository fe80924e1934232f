/**
 * Secret independence over all paths. Everything but the module's static data is a secret, and so
 * are all parameters that the instance doesn't give. Addresses and lengths don't depend on secrets;
 * so many branches and shift counts do, and what these reveal is all that is revealed.
 */
import { Flow } from './flow.ts';
import { choices, functionNamed, isStatic, type Kernel } from './kernel.ts';
import type { Statement } from './statements.ts';
import type { Term } from './terms.ts';
import { addressesOf, SECRET, SECRET_CELL, World } from './worlds.ts';

/** Where pointers point to, and how far apart. */
const FIRST = 2_097_152;
const APART = 262_144;

/**
 * Exactly so many branches depend on secrets. Bits of the results of some functions are declared to
 * be revealed, and so many shift counts may depend on secrets: `reveals(3, shifts 1, f & 7)`.
 */
const reveals: Statement = (kernel, [count, ...declared]) => {
  const { module, instance, index } = kernel;
  const shifts = declared.map((text) => /^shifts (\d+)$/.exec(text)?.[1]).find(Boolean);
  const masks = declared.filter((text) => text.includes('&'));
  const bits = masks.map((text): [number, bigint] => {
    const [, name, mask] = /^(\w+) & (\d+)$/.exec(text)!;
    return [functionNamed(module, name!), BigInt(mask!)];
  });
  const flow = new Flow(module, new Map(bits));
  const world = initialWorld(kernel);
  const args = parametersOf(kernel).map(({ name, type }, i) => {
    const value = instance[name] ?? (type === 'usize' ? FIRST + APART * i : undefined);
    return value === undefined ? SECRET : BigInt(value);
  });
  const [, after] = flow.call(index, args, world);
  const read = [...after.touched].flatMap(addressesOf).filter((at) => isStatic(module, at));
  kernel.machines.push({ touched: flow.called, memory: { everRead: new Set(read) } });
  const compare = (what: string, places: ReadonlySet<string>, expected: number) =>
    kernel.check(places.size === expected, () => {
      const list = [...places].join('; ');
      return `${places.size} ${what} depend on inputs instead of ${expected}: ${list}`;
    });
  compare('branches', flow.revealing, Number(count));
  compare('shift counts', flow.shifting, Number(shifts ?? 0));
  const unused = bits.find(([index]) => !flow.called.has(index));
  kernel.check(unused === undefined, () => 'a function whose result is revealed is not called');
};

/** Memory and globals after the module's start. */
function initialWorld({ module, machine }: Kernel): World {
  const { bytes } = machine.memory;
  const cells = new Uint16Array(bytes.length).fill(SECRET_CELL);
  // Zeros at the ends of segments aren't stored: these are on multiples of 16.
  for (const segment of module.data) {
    const [from, to] = [segment.at & ~15, (segment.at + segment.bytes.length + 15) & ~15];
    cells.set(bytes.subarray(from, to), from);
  }
  const initial = ({ value }: Term): bigint => {
    if (value === undefined) throw new Error('a global is not known');
    return value;
  };
  return World.of(machine.globals.map(initial), cells);
}

/**
 * The parameters that the compiler has left. It removes pointers that are always the same; which of
 * them makes no difference here, unless numbers change their places.
 */
function parametersOf({ contract: { parameters, name }, instance, module, index }: Kernel) {
  const left = module.types[module.functions[index]!]!.parameters.length;
  const pointers = parameters.filter((one) => one.type === 'usize' && !(one.name in instance));
  const ways = choices(pointers, parameters.length - left).map((removed) =>
    parameters.filter((one) => !removed.includes(one)),
  );
  const kinds = new Set(
    ways.map((way) => way.map((one) => pointers.includes(one) || one.name).join()),
  );
  if (kinds.size !== 1) throw new Error(`${name}: parameters aren't found`);
  return ways[0]!;
}

export const PATHS: Readonly<Record<string, Statement>> = { reveals };
