import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { parseResultFile, verifyResultFile } from '../../src/wire/resultFile.ts';
import { parseTaskFile } from '../../src/wire/taskFile.ts';
import { hasRgw } from '../support/rgw.ts';
import { start } from './process.ts';
import { it } from './support.ts';

/** Runs the demo, which succeeds and complains of nothing. @returns what it prints */
async function demo(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await start('scripts/demo.ts', args).ended;
  expect([code, stderr], stdout).toEqual([0, '']);
  return stdout;
}

describe('the demo', () => {
  it.each([
    ['in three steps', ['--count', '30', '--keys', '3'], 'PUT <url>'],
    ['by direct request', ['--count', '10', '--direct'], 'POST …/aggsign '],
  ])('does the main job %s', async (_, args, step) => {
    const stdout = await demo(...args);
    expect(stdout).toContain(step);
    expect(stdout).toContain('completed');
    expect(stdout.match(/✓/g)).toHaveLength(9);
    expect(stdout).not.toContain('✗');
    expect(stdout).toMatch(/All 9 checks held for \d+ signatures of \d+ keys/);
  });

  it('with derived salts makes an aggregate without any', async () => {
    const stdout = await demo('--count', '100', '--keys', '5', '--derived-salts');
    expect(stdout).toContain('All 9 checks held for 100 signatures of 5 keys');
    expect(stdout).toMatch(/of it salts +0 B/);
    const sum = (row: RegExp) => Number(row.exec(stdout)![1]!.replaceAll(',', ''));
    const made = sum(/aggregate \(proof\) +([\d,]+) B/);
    expect(sum(/with drawn salts +([\d,]+) B/)).toBe(made + 4000);
  });

  it.skipIf(!hasRgw())('on a database, a bucket and three workers', async () => {
    const stdout = await demo('--postgres', '--s3', '--count', '20', '--keys', '2');
    expect(stdout).toMatch(/falconry worker +3 processes/);
    expect(stdout).toMatch(/worked on by +worker [123] of 3/);
    expect(stdout).toMatch(/fetched +\/falconry\/demo\/results\/1\/\d+\.json/);
    expect(stdout).toContain('All 9 checks held for 20 signatures of 2 keys');
  });

  it('keeps task and result for another verifier', async ({ folder }) => {
    const kept = join(folder, 'kept');
    await demo('--count', '3', '--format', 'proof', '--keep', kept);
    const items = parseTaskFile(readFileSync(join(kept, 'task.json'), 'utf8'));
    const result = parseResultFile(readFileSync(join(kept, 'result.json'), 'utf8'));
    expect(items).toHaveLength(3);
    expect(result.format).toBe('proof');
    expect(verifyResultFile(result, items)).toBe(true);
  });

  it.each([
    [['--count', '0']],
    [['--count', '101377']],
    [['--keys', '0']],
    [['--keep', '']],
    [['--nonsense']],
    [['--postgres']],
    [['--s3']],
  ])('refuses %j', async (args) => {
    const { code, stderr } = await start('scripts/demo.ts', args).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('Usage:');
  });
});
