/**
 * Runs before every test file: services that the file makes are watched, and a fault fails its
 * test.
 */
import type { Hono } from 'hono';
import { afterEach, vi } from 'vitest';
import { takeSeen } from './seen.ts';

declare module 'vitest' {
  interface TaskMeta {
    contract?: { counts: Record<string, number>; documented?: string[]; codes?: string[] };
  }
}

vi.mock('../../../src/middleware/app.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../src/middleware/app.ts')>();
  // Only files with a service load the validator.
  const { watchApp } = await import('./watch.ts');
  return {
    ...original,
    createApp: (runtime: Parameters<typeof original.createApp>[0]) =>
      watchApp(original.createApp(runtime) as unknown as Hono<never>),
  };
});

afterEach(async ({ task }) => {
  const { counts, faults } = await takeSeen();
  if (Object.keys(counts).length > 0) {
    task.meta.contract = { ...task.meta.contract, counts };
  }
  if (faults.length > 0) throw new Error(`not as documented:\n${faults.slice(0, 5).join('\n')}`);
});
