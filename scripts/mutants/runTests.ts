/**
 * A process that runs test files, one at a time, with some sources replaced in memory: nothing is
 * written. Vitest stays; each test file gets a thread of its own, whose modules are all new.
 */
import { join } from 'node:path';
import { createVitest, type TestModule, type Vite } from 'vitest/node';
import { ROOT } from '../generated.ts';
import { serve, usedSince } from './child.ts';

export interface TestQuestion {
  readonly test: string;
  /** the texts of sources that are not those of the disk */
  readonly sources: Readonly<Record<string, string>>;
}

export interface TestAnswer {
  /** what failed first; none: all passed */
  readonly failed?: string;
  /** tests that passed */
  readonly passed: number;
  /** milliseconds of the processor */
  readonly usedMs: number;
}

let sources: TestQuestion['sources'] = {};

const replacing: Vite.Plugin = {
  name: 'mutant',
  enforce: 'pre',
  load: (id) => sources[id.replace(/\?.*$/, '').slice(ROOT.length)],
};

const vitest = await createVitest(
  'test',
  {
    config: false,
    root: ROOT,
    watch: false,
    // Its keys are the files on the disk.
    fsModuleCache: false,
    bail: 1,
    provide: { run: 'short' },
    include: ['test/**/*.test.ts'],
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: [{}],
  },
  { plugins: [replacing] },
);
await vitest.standalone();
const project = vitest.projects[0]!;

serve(async ({ test, sources: next }: TestQuestion): Promise<TestAnswer> => {
  for (const file of Object.keys({ ...sources, ...next })) vitest.invalidateFile(join(ROOT, file));
  sources = next;
  const used = usedSince();
  const path = join(ROOT, test);
  const run = await vitest.runTestSpecifications([project.createSpecification(path)]);
  const module = run.testModules.find(({ moduleId }) => moduleId === path);
  const passed = module === undefined ? 0 : [...module.children.allTests('passed')].length;
  const failed = firstFailure(module) ?? firstError(run.unhandledErrors);
  return { passed, usedMs: used(), ...(failed !== undefined && { failed }) };
});

function firstFailure(module: TestModule | undefined): string | undefined {
  if (module === undefined) return 'did not run';
  for (const test of module.children.allTests('failed')) return test.fullName;
  if (module.state() === 'passed') return undefined;
  return firstError(module.errors()) ?? module.state();
}

const firstError = (errors: readonly unknown[]): string | undefined =>
  errors.length === 0 ? undefined : String((errors[0] as { message?: unknown }).message);
