/**
 * Secret independence over all paths. Everything but the module's static data is a secret, and so
 * are all parameters that the instance doesn't give. Addresses and lengths don't depend on secrets;
 * so many branches and shift counts do, and what these reveal is all that is revealed.
 */
import { Flow } from './flow.ts';
import { addressOf, choices, exported, functionNamed, isStatic, type Kernel } from './kernel.ts';
import type { Statement } from './statements.ts';
import type { Term } from './terms.ts';
import { addressesOf, SECRET, SECRET_CELL, type Value, World } from './worlds.ts';

/** Where pointers point to, and how far apart. */
const FIRST = 2_097_152;
const APART = 262_144;

/**
 * Exactly so many branches depend on secrets: `reveals(3)`. What else is declared:
 *
 *   shifts 1               so many shift counts depend on secrets
 *   f & 7                  these bits of the result of f are revealed
 *   A..B at f              so is the memory between two exported addresses, when f is called
 *   after f(logn, 2, IN)   f has run before; its branches count. Arguments are numbers, names of
 *                          the instance or exported addresses
 */
const reveals: Statement = (kernel, [count, ...declared]) => {
  const { module, instance, index } = kernel;
  const bits = new Map<number, bigint>();
  const opened = new Map<number, [from: number, to: number][]>();
  const before: (readonly [index: number, args: Value[]])[] = [];
  let shifts = 0;
  for (const text of declared) {
    const match = DECLARED.exec(text);
    if (match === null) throw new Error(`not a declaration: ${text}`);
    const [, number, masked, mask, from, to, at, name, list] = match;
    if (number !== undefined) shifts = Number(number);
    else if (masked !== undefined) bits.set(functionNamed(module, masked), BigInt(mask!));
    else if (at !== undefined) {
      const range = [from!, to!].map((one) => addressOf(module, one)) as [number, number];
      const place = functionNamed(module, at);
      opened.set(place, [...(opened.get(place) ?? []), range]);
    } else before.push(earlier(kernel, name!, list!));
  }
  const flow = new Flow(module, bits, opened);
  const args = parametersOf(kernel).map(({ name, type }, i) => {
    const value = instance[name] ?? (type === 'usize' ? FIRST + APART * i : undefined);
    return value === undefined ? SECRET : BigInt(value);
  });
  let world = initialWorld(kernel);
  for (const call of [...before, [index, args] as const]) [, world] = flow.call(...call, world);
  const read = [...world.touched].flatMap(addressesOf).filter((at) => isStatic(module, at));
  kernel.machines.push({ touched: flow.called, memory: { everRead: new Set(read) } });
  const compare = (what: string, places: ReadonlySet<string>, expected: number) =>
    kernel.check(places.size === expected, () => {
      const list = [...places].join('; ');
      return `${places.size} ${what} depend on inputs instead of ${expected}: ${list}`;
    });
  compare('branches', flow.revealing, Number(count));
  compare('shift counts', flow.shifting, shifts);
  const unused = [...bits.keys(), ...opened.keys()].find((index) => !flow.called.has(index));
  kernel.check(unused === undefined, () => 'a function that reveals something is not called');
};

const DECLARED = /^(?:shifts (\d+)|(\w+) & (\d+)|(\w+)\.\.(\w+) at (\w+)|after (\w+)\((.*)\))$/;

/** A call that comes before. */
function earlier({ module, instance }: Kernel, name: string, list: string) {
  const index = functionNamed(module, name);
  const args = list.split(', ').map((text) => {
    const address = exported(module, text);
    return BigInt(address ?? (Object.hasOwn(instance, text) ? instance[text]! : text));
  });
  const { length } = module.types[module.functions[index]!]!.parameters;
  if (args.length !== length) throw new Error(`${name} has ${length} parameters`);
  return [index, args] as const;
}

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
