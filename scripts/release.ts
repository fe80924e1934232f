/**
 * What has to be true before a version is released; docs/releasing.md has the steps around it.
 *
 * - `node scripts/release.ts --check`: before the tag is made. Exit code 1 lists what is wrong.
 * - `node scripts/release.ts --check --tag v1.2.3`: the same for a tag that is there.
 * - `node scripts/release.ts --notes`: prints what the changelog says of the version.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = new URL('../', import.meta.url);

/** What a release is judged by. */
export interface ReleaseFacts {
  readonly packageJson: string;
  readonly jsrJson: string;
  readonly changelog: string;
  /** What `git status --porcelain` prints. */
  readonly changes: string;
  /** Every tag of the repository. */
  readonly tags: readonly string[];
  /** The tag that is being released; undefined before it is made. */
  readonly tag?: string | undefined;
}

/** The part of the changelog about a version: its date, null if it has none, and its text. */
export function changelogOf(
  changelog: string,
  version: string,
): { date: string | null; text: string } | undefined {
  for (const section of changelog.split(/^## /m).slice(1)) {
    const [heading = '', ...lines] = section.split('\n');
    const [, named, note = ''] = /^(\S+)(?: \((.*)\))?$/.exec(heading.trim()) ?? [];
    if (named !== version) continue;
    const date = /^\d{4}-\d{2}-\d{2}$/.test(note) ? note : null;
    return { date, text: lines.join('\n').trim() };
  }
  return undefined;
}

/** @returns what keeps a version from being released, a line each; none if all is well */
export function releaseFaults(facts: ReleaseFacts): string[] {
  const { version } = JSON.parse(facts.packageJson) as { version: string };
  const faults: string[] = [];
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
    faults.push(`package.json: "${version}" is not a version`);
  }
  const jsr = (JSON.parse(facts.jsrJson) as { version: string }).version;
  if (jsr !== version) faults.push(`jsr.json has version ${jsr}, package.json ${version}`);
  for (const [name, text] of [
    ['package.json', facts.packageJson],
    ['jsr.json', facts.jsrJson],
  ] as const) {
    if (/\bowner\b/i.test(text)) faults.push(`${name}: OWNER stands for a name that is not set`);
  }
  const section = changelogOf(facts.changelog, version);
  if (section === undefined) faults.push(`CHANGELOG.md: no heading "## ${version} (date)"`);
  else if (section.date === null) faults.push(`CHANGELOG.md: "## ${version}" has no date`);
  else if (section.text === '') faults.push(`CHANGELOG.md: nothing is said of ${version}`);
  if (facts.changes.trim() !== '')
    faults.push(`the tree is not clean:\n${facts.changes.trimEnd()}`);
  const wanted = `v${version}`;
  if (facts.tag === undefined) {
    if (facts.tags.includes(wanted)) faults.push(`the tag ${wanted} is there already`);
  } else if (facts.tag !== wanted) {
    faults.push(`the tag is ${facts.tag}, the version ${version}`);
  }
  return faults;
}

function factsHere(tag: string | undefined): ReleaseFacts {
  const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: fileURLToPath(ROOT), encoding: 'utf8' });
  return {
    packageJson: read('package.json'),
    jsrJson: read('jsr.json'),
    changelog: read('CHANGELOG.md'),
    changes: git('status', '--porcelain'),
    tags: git('tag', '--list').split('\n'),
    tag,
  };
}

function main(): void {
  const options = {
    check: { type: 'boolean', default: false },
    notes: { type: 'boolean', default: false },
    tag: { type: 'string' },
  } as const;
  const { check, notes, tag } = parseArgs({ options }).values;
  if (check === notes)
    throw new Error('usage: node scripts/release.ts --check [--tag TAG] | --notes');
  const facts = factsHere(tag);
  const { version } = JSON.parse(facts.packageJson) as { version: string };
  if (notes) {
    const section = changelogOf(facts.changelog, version);
    if (section === undefined) throw new Error(`CHANGELOG.md has nothing of ${version}`);
    process.stdout.write(`${section.text}\n`);
    return;
  }
  const faults = releaseFaults(facts);
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
  else process.stdout.write(`${version} may be released\n`);
}

if (import.meta.main) main();
