/**
 * Says at the start of a run how long it takes and at its end what it has left out, ends a run that
 * hangs, and writes `build/test-results/<run>.json` for `scripts/summary.ts`.
 *
 * A test that waits for ever is ended by its own limit. One that computes for ever lets no timer of
 * its process run: so this process looks after it, and ends the run when nothing has been heard of
 * any test for too long, or when the whole of it takes far longer than a slow machine needs.
 */
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';
import type {} from './facts.ts';

/** Minutes: what it takes on two quiet cores, when it is ended, and when a silence ends it. */
const RUNS = {
  short: { takes: 'about 5 minutes', whole: 30, silence: 10 },
  long: { takes: 'about 24 minutes', whole: 58, silence: 15 },
  nightly: { takes: 'hours', whole: 24 * 60, silence: 4 * 60 },
} as const;
type Run = keyof typeof RUNS;

const MINUTE = 60_000;
const root = new URL('../../', import.meta.url).pathname;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** What `scripts/summary.ts` adds up. */
export interface RunResults {
  readonly run: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly peers: readonly string[];
  /** The longest first. */
  readonly files: readonly { readonly name: string; readonly seconds: number }[];
}

export class RunReporter implements Reporter {
  #run: Run | undefined;
  #whole = true;
  #started = 0;
  #heard = 0;
  readonly #running = new Set<string>();
  #watchdog: NodeJS.Timeout | undefined;

  onInit(vitest: Vitest): void {
    const [run, ...others] = new Set(vitest.projects.map((part) => part.getProvidedContext().run));
    if (others.length === 0) this.#run = run;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#started = performance.now();
    this.#whole = specifications.length > 10;
    const run = this.#run;
    if (run === undefined) return;
    if (this.#whole) {
      const { takes } = RUNS[run];
      say(` The ${run} run: ${specifications.length} files, ${takes} on two quiet cores.\n`);
    }
    this.#hear();
    this.#watchdog = setInterval(() => this.#look(RUNS[run]), MINUTE / 6);
  }

  onTestModuleQueued(module: TestModule): void {
    this.#running.add(module.moduleId);
    this.#hear();
  }
  onTestCaseReady(): void {
    this.#hear();
  }
  onTestCaseResult(): void {
    this.#hear();
  }
  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.moduleId);
    this.#hear();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    clearInterval(this.#watchdog);
    if (this.#run === undefined) return;
    this.#write(this.#run, modules);
    if (this.#run === 'short' && this.#whole) sayWhatIsLeft();
  }

  #hear(): void {
    this.#heard = performance.now();
  }

  #look({ whole, silence }: { readonly whole: number; readonly silence: number }): void {
    const now = performance.now();
    const silent = now - this.#heard > silence * MINUTE;
    if (!silent && now - this.#started < whole * MINUTE) return;
    const files = [...this.#running].map((id) => relative(root, id));
    say(
      silent
        ? `\n Hung: nothing was heard for ${silence} minutes of ${files.join(', ')}`
        : `\n Hung: ${whole} minutes have passed, in work are ${files.join(', ')}`,
    );
    for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGKILL');
    process.exit(1);
  }

  #write(run: Run, modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const peers = new Set<string>();
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed' || state === 'failed' || state === 'skipped') counts[state]++;
        for (const { topic, text } of test.meta().facts ?? [])
          if (topic === 'peers') peers.add(text);
      }
    }
    const results: RunResults = {
      run,
      seconds: Math.round((performance.now() - this.#started) / 1000),
      ...counts,
      peers: [...peers].sort(),
      files: modules
        .map((module) => ({
          name: relative(root, module.moduleId),
          seconds: Math.round(module.diagnostic().duration / 100) / 10,
        }))
        .sort((a, b) => b.seconds - a.seconds),
    };
    mkdirSync(`${root}build/test-results`, { recursive: true });
    writeFileSync(`${root}build/test-results/${run}.json`, JSON.stringify(results, null, 2));
  }
}

function sayWhatIsLeft(): void {
  const files = globSync('test/**/*.long.test.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  });
  const names = files.map((file) => basename(file, '.long.test.ts')).sort();
  say(` Left to the long run (npm run test:all, ${RUNS.long.takes}), ${names.length} files:`);
  say(`   ${names.join(', ')}`);
  say(' Left to the nightly run (npm run test:nightly): all of it in numbers that take hours.\n');
}

/** Linux tells; elsewhere only the run itself is ended. */
function childrenOf(parent: number): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      })
      .map(Number);
  } catch {
    return [];
  }
}
