/** Runs mutants: two at a time, each against its tests until one of them fails. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildAnswer, BuildQuestion } from './buildKernels.ts';
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

/**
 * How long a test may compute before its mutant counts as endless: a multiple, and time to start
 * a process.
 */
const LIMIT = { times: 4, plusMs: 4000, firstMs: 180_000 } as const;

type Purpose = BuildQuestion['purpose'];

/** The kernels' own tests use a module of their own. */
const purposeOf = (test: string): Purpose =>
  /from '\.\/area\.ts'|compileEntry/.test(read(test)) ? 'tests' : 'product';

/** A pair of processes: one runs tests, the other compiles kernels. */
export class Lane {
  readonly #folder: string;
  /** the modules for the kernels' own tests, as they are */
  readonly #pristine: string;
  readonly #tests: Child<TestQuestion, TestAnswer>;
  readonly #builds: Child<BuildQuestion, BuildAnswer>;

  /** @param pristine the folder of the modules as they are; empty until `buildAll` */
  constructor(pristine: string) {
    this.#pristine = pristine;
    this.#folder = mkdtempSync(join(tmpdir(), 'falconry-mutants-'));
    const here = (name: string): URL => new URL(name, import.meta.url);
    this.#tests = new Child(here('runTests.ts'), { COMPILED_ENTRIES: this.#folder });
    this.#builds = new Child(here('buildKernels.ts'));
  }

  /**
   * Runs a test on the sources as they are.
   *
   * @returns how many milliseconds of the processor it may take with a mutant
   * @throws Error if it does not pass
   */
  async limitOf(test: string): Promise<number> {
    const answer = await this.#tests.ask({ test, sources: {} }, LIMIT.firstMs);
    const why = typeof answer === 'string' ? answer : answer.failed;
    if (typeof answer === 'string' || why !== undefined || answer.passed === 0) {
      throw new Error(`${test} does not pass as it is: ${why ?? 'no tests'}`);
    }
    return LIMIT.plusMs + LIMIT.times * answer.usedMs;
  }

  /** Compiles the kernels as they are. @returns the hashes of what mutants will replace */
  async buildAll(): Promise<Map<Purpose, string>> {
    const hashes = new Map<Purpose, string>();
    for (const [purpose, module] of [
      ['tests', 'plain'],
      ['tests', 'relaxed'],
      ['product', 'relaxed'],
    ] as const) {
      const { hash, error } = await this.#build({ purpose, module, folder: this.#pristine });
      if (hash === undefined) throw new Error(`the kernels do not compile: ${error}`);
      hashes.set(purpose, hash);
    }
    return hashes;
  }

  /** Brings back the modules as they are. */
  restore(): void {
    cpSync(this.#pristine, this.#folder, { recursive: true });
  }

  async try(
    mutant: Mutant,
    tests: readonly string[],
    hashes: ReadonlyMap<Purpose, string>,
    limits: Limits,
  ): Promise<Outcome> {
    const text = mutated(read(mutant.file), mutant);
    const sources: Record<string, string> = { [mutant.file]: text };
    const built = new Set<Purpose>();
    // These find the module in a folder, which still has the one as it is.
    for (const test of tests) if (purposeOf(test) === 'tests') await limits.of(test, this);
    try {
      for (const test of tests) {
        const limit = await limits.of(test, this);
        const purpose = purposeOf(test);
        if (mutant.file.startsWith('assembly/') && !built.has(purpose)) {
          const { file } = mutant;
          const module = await this.#build({ purpose, file, text, folder: this.#folder });
          if (module.error !== undefined) return { mutant, state: 'killed', by: module.error };
          if (module.hash === hashes.get(purpose)) return { mutant, state: 'same' };
          Object.assign(sources, module.sources);
          built.add(purpose);
        }
        const answer = await this.#tests.ask({ test, sources }, limit);
        const failed = typeof answer === 'string' ? answer : answer.failed;
        if (failed !== undefined) return { mutant, state: 'killed', by: `${test}: ${failed}` };
      }
      return { mutant, state: 'survived' };
    } finally {
      if (built.size > 0) this.restore();
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

/** The time limits of tests: each passes once on the sources as they are before it counts. */
export class Limits {
  readonly #known = new Map<string, Promise<number>>();

  /** @throws as `limitOf` */
  of(test: string, lane: Lane): Promise<number> {
    const known = this.#known.get(test) ?? lane.limitOf(test);
    this.#known.set(test, known);
    return known;
  }
}

/** Lanes, and how to end them. */
export function openLanes(count: number): { lanes: readonly Lane[]; end: () => void } {
  const pristine = mkdtempSync(join(tmpdir(), 'falconry-mutants-'));
  const lanes = Array.from({ length: count }, () => new Lane(pristine));
  const end = (): void => {
    for (const lane of lanes) lane.end();
    rmSync(pristine, { recursive: true, force: true });
  };
  return { lanes, end };
}
