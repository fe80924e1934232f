/**
 * Which of the three runs a test is part of: the short one (`npm test`), the long one (`npm run test:all`) or the nightly
 * one, which repeats both with the numbers that take hours. The configurations of vitest say it.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    run: 'short' | 'long' | 'nightly';
  }
}

/** Whether there are hours of time: `NIGHTLY ? 100_000 : 2_000`. */
export const NIGHTLY: boolean = inject('run') === 'nightly';
