import { describe, expect, it } from 'vitest';
import { start } from './process.ts';

describe('the demo', () => {
  it.each([
    ['in three steps', ['--count', '30', '--keys', '3'], 'PUT <url>'],
    ['by direct request', ['--count', '10', '--direct'], 'POST …/aggsign '],
  ])('does the main job %s', async (_, args, step) => {
    const { code, stdout, stderr } = await start('scripts/demo.ts', args).ended;
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain(step);
    expect(stdout).toContain('completed');
    expect(stdout.match(/✓/g)).toHaveLength(9);
    expect(stdout).not.toContain('✗');
    expect(stdout).toMatch(/All 9 checks held for \d+ signatures of \d+ keys/);
    expect(stderr).toBe('');
  });

  it.each([[['--count', '0']], [['--count', '1723']], [['--keys', '0']], [['--nonsense']]])(
    'refuses %j',
    async (args) => {
      const { code, stderr } = await start('scripts/demo.ts', args).ended;
      expect(code).toBe(2);
      expect(stderr).toContain('Usage:');
    },
  );
});
