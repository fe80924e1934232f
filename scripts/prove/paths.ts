/**
 * Secret independence over all paths. Everything but the module's static data is unknown: whatever
 * the function reads before it writes it is an input. Addresses, lengths and shift counts must be
 * known all the same; where a branch depends on an input, both ways are taken. So the function has
 * a number of paths, and which one is taken is all that the flow of control and addresses reveal.
 */
import { choices, type Kernel } from './kernel.ts';
import type { Statement } from './statements.ts';

/** Where pointers point to, and how far apart. */
const FIRST = 2_097_152;
const APART = 262_144;

/** The most decisions on a path. */
const DEPTH = 16;

/** There are exactly so many paths. */
const paths: Statement = (kernel, [count]) => {
  const open: boolean[][] = [[]];
  let found = 0;
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    follow(kernel, path, open);
    found++;
  }
  kernel.check(found === Number(count), () => `${found} paths instead of ${count}`);
};

/** Runs one path, which begins with these decisions; adds the ways that it doesn't take. */
function follow(kernel: Kernel, path: boolean[], open: boolean[][]): void {
  const { module, instance, index } = kernel;
  const machine = kernel.newMachine();
  machine.memory.forget(module.data);
  machine.terms.isShallow = true;
  let taken = 0;
  machine.decide = (_, where) => {
    if (taken === DEPTH) throw new Error(`more than ${DEPTH} branches depend on inputs: ${where}`);
    if (taken === path.length) {
      open.push([...path, false]);
      path.push(true);
    }
    return path[taken++]!;
  };
  const args = parametersOf(kernel).map(({ name, type }, i) => {
    const value = instance[name] ?? (type === 'usize' ? FIRST + APART * i : undefined);
    const width = type.endsWith('64') ? 64 : 32;
    return value === undefined
      ? machine.terms.input(width, name, 0)
      : machine.terms.constant(width, value);
  });
  machine.call(index, args);
  const { touched, memory } = machine;
  // Only what the proof depends on is kept: there may be many paths.
  kernel.machines[kernel.machines.indexOf(machine)] = {
    ...{ touched, memory: { everRead: memory.everRead } },
  };
  const faults = machine.terms.faults;
  kernel.check(faults.length === 0, () => faults[0]!);
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

export const PATHS: Readonly<Record<string, Statement>> = { paths };
