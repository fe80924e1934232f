/** Runs mutants: two at a time, each against its tests until one of them fails. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildAnswer, type BuildQuestion, COMPILED } from './buildKernels.ts';
import { Child } from './child.ts';
import { type Mutant, mutated } from './enumerate.ts';
import { read } from './map.ts';
import type { TestAnswer, TestQuestion } from './runTests.ts';

/** What became of a mutant. */
export interface Outcome {
  readonly mutant: Mutant;
  /** `same`: it changes nothing; the compiler makes the same module of it, or it was explained */
  readonly state: 'killed' | 'survived' | 'same';
  /** what noticed it */
  readonly by?: string;
}

/** How long a test may take before its mutant counts as endless: a multiple, and a time to start. */
const LIMIT = { times: 6, plusMs: 15_000, firstMs: 180_000 } as const;

type Purpose = BuildQuestion['purpose'];

/** The kernels' own tests use a module of their own. */
const purposeOf = (test: string): Purpose =>
  /from '\.\/area\.ts'|compileEntry/.test(read(test)) ? 'tests' : 'product';

/** A pair of processes: one runs tests, the other compiles kernels. */
export class Lane {
  readonly #folder = mkdtempSync(join(tmpdir(), 'falconry-mutants-'));
  readonly #tests: Child<TestQuestion, TestAnswer>;
  readonly #builds: Child<BuildQuestion, BuildAnswer>;

  constructor() {
    const here = (name: string): URL => new URL(name, import.meta.url);
    this.#tests = new Child(here('runTests.ts'), { COMPILED_ENTRIES: this.#folder });
    this.#builds = new Child(here('buildKernels.ts'));
  }

  /**
   * Runs a test on the sources as they are.
   *
   * @returns how many milliseconds it may take with a mutant
   * @throws Error if it does not pass
   */
  async limitOf(test: string): Promise<number> {
    const start = performance.now();
    const answer = await this.#tests.ask({ test, sources: {} }, LIMIT.firstMs);
    const why = typeof answer === 'string' ? answer : answer.failed;
    if (why !== undefined || (answer as TestAnswer).passed === 0) {
      throw new Error(`${test} does not pass as it is: ${why ?? 'no tests'}`);
    }
    return LIMIT.plusMs + LIMIT.times * (performance.now() - start);
  }

  /** The hash of the module as it is. */
  async hashOf(purpose: Purpose): Promise<string> {
    const built = await this.#build({ purpose, folder: this.#folder });
    rmSync(join(this.#folder, COMPILED), { force: true });
    if (built.hash === undefined) throw new Error(`the kernels do not compile: ${built.error}`);
    return built.hash;
  }

  async try(
    mutant: Mutant,
    tests: readonly string[],
    limits: ReadonlyMap<string, number>,
    hashes: ReadonlyMap<Purpose, string>,
  ): Promise<Outcome> {
    const text = mutated(read(mutant.file), mutant);
    const sources: Record<string, string> = { [mutant.file]: text };
    const built = new Set<Purpose>();
    try {
      for (const test of tests) {
        const purpose = purposeOf(test);
        if (mutant.file.startsWith('assembly/') && !built.has(purpose)) {
          const { file } = mutant;
          const module = await this.#build({ purpose, file, text, folder: this.#folder });
          if (module.error !== undefined) return { mutant, state: 'killed', by: module.error };
          if (module.hash === hashes.get(purpose)) return { mutant, state: 'same' };
          Object.assign(sources, module.sources);
          built.add(purpose);
        }
        const answer = await this.#tests.ask({ test, sources }, limits.get(test)!);
        const failed = typeof answer === 'string' ? answer : answer.failed;
        if (failed !== undefined) return { mutant, state: 'killed', by: `${test}: ${failed}` };
      }
      return { mutant, state: 'survived' };
    } finally {
      rmSync(join(this.#folder, COMPILED), { force: true });
    }
  }

  end(): void {
    this.#tests.end();
    this.#builds.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #build(question: BuildQuestion): Promise<BuildAnswer> {
    const answer = await this.#builds.ask(question, LIMIT.firstMs);
    return typeof answer === 'string' ? { error: `the compiler is ${answer}` } : answer;
  }
}

/** Gives every lane the next of the jobs as soon as it has done one. */
export async function spread<T>(
  lanes: readonly Lane[],
  jobs: Iterable<T>,
  work: (lane: Lane, job: T) => Promise<void>,
): Promise<void> {
  const queue = jobs[Symbol.iterator]();
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = queue.next(); !next.done; next = queue.next()) await work(lane, next.value);
    }),
  );
}

/** The time limits of tests, which pass, and the hashes of the modules that are needed. */
export async function prepare(
  lanes: readonly Lane[],
  tests: readonly string[],
  hasKernels: boolean,
): Promise<{ limits: Map<string, number>; hashes: Map<Purpose, string> }> {
  const limits = new Map<string, number>();
  const hashes = new Map<Purpose, string>();
  const jobs = [...tests, ...(hasKernels ? (['product', 'tests'] as const) : [])];
  await spread(lanes, jobs, async (lane, job) => {
    if (job === 'product' || job === 'tests') hashes.set(job, await lane.hashOf(job));
    else limits.set(job, await lane.limitOf(job));
  });
  return { limits, hashes };
}
