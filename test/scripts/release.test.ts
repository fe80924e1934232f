/** What keeps a version from being released, and what its notes are. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { changelogOf, type ReleaseFacts, releaseFaults } from '../../scripts/release.ts';

const ROOT = new URL('../../', import.meta.url);

const GOOD: ReleaseFacts = {
  packageJson: '{ "version": "1.2.3", "bugs": "https://example.com/falconry/issues" }',
  jsrJson: '{ "version": "1.2.3" }',
  changelog: '# Changelog\n\n## 1.2.3 (2027-01-02)\n\n- New.\n\n## 1.2.2 (2027-01-01)\n\n- Old.\n',
  changes: '',
  tags: ['v1.2.2', ''],
};

describe('the check', () => {
  it('has nothing against a version for which all is ready, before its tag and with it', () => {
    expect(releaseFaults(GOOD)).toEqual([]);
    expect(releaseFaults({ ...GOOD, tags: ['v1.2.3'], tag: 'v1.2.3' })).toEqual([]);
  });

  it.each<[string, Partial<ReleaseFacts>, RegExp]>([
    [
      'a version that is none',
      { packageJson: '{ "version": "1.2" }' },
      /not a version|has version 1.2.3|no heading/,
    ],
    ['another version at JSR', { jsrJson: '{ "version": "1.2.2" }' }, /jsr.json has version 1.2.2/],
    [
      'a name that nobody filled in',
      { jsrJson: '{ "name": "@owner/falconry", "version": "1.2.3" }' },
      /jsr.json: OWNER/,
    ],
    ['no heading', { changelog: '# Changelog\n' }, /no heading "## 1.2.3 \(date\)"/],
    ['no date', { changelog: '## 1.2.3 (unreleased)\n\n- New.\n' }, /has no date/],
    ['nothing to say', { changelog: '## 1.2.3 (2027-01-02)\n\n' }, /nothing is said/],
    ['changed files', { changes: ' M src/index.ts\n' }, /not clean:\n M src\/index.ts/],
    ['a tag that is there', { tags: ['v1.2.3'] }, /there already/],
    ['a tag of another version', { tag: 'v1.2.4' }, /the tag is v1.2.4, the version 1.2.3/],
  ])('finds %s, and nothing else', (_, change, message) => {
    const faults = releaseFaults({ ...GOOD, ...change });
    expect(faults.join('\n')).toMatch(message);
    expect(faults.filter((fault) => !message.test(fault)).length).toBe(0);
  });

  it('says what is missing here, as a command', () => {
    const script = fileURLToPath(new URL('scripts/release.ts', ROOT));
    const run = () =>
      execFileSync(process.execPath, [script, '--check', '--tag', 'v0.0.0'], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    expect(run).toThrow(expect.objectContaining({ status: 1 }));
    try {
      run();
    } catch (error) {
      expect((error as { stdout: string }).stdout).toContain('the tag is v0.0.0');
    }
  });
});

describe('the notes', () => {
  it('are those of one version alone', () => {
    expect(changelogOf(GOOD.changelog, '1.2.3')).toEqual({ date: '2027-01-02', text: '- New.' });
    expect(changelogOf(GOOD.changelog, '1.2.2')).toEqual({ date: '2027-01-01', text: '- Old.' });
    expect(changelogOf(GOOD.changelog, '1.2')).toBeUndefined();
  });

  it('of the version at hand are in the changelog', () => {
    const changelog = readFileSync(new URL('CHANGELOG.md', ROOT), 'utf8');
    const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
    expect(changelogOf(changelog, version)!.text).toContain('### Library');
  });
});
