/**
 * Which of the three runs a test is part of: the short one (`npm test`), the long one (`npm run
 * test:all`) or the nightly one, which repeats both with the numbers that take hours. The
 * configurations of vitest say it.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    run: 'short' | 'long' | 'nightly';
  }
}

/** Whether there are hours of time: `NIGHTLY ? 100_000 : 2_000`. */
export const NIGHTLY: boolean = inject('run') === 'nightly';

/**
 * Whether this is the short run. A file whose longer cases ask for it is taken again by the long
 * run: a file `x.long.test.ts` that does nothing but import `x.test.ts`.
 */
export const SHORT_RUN: boolean = inject('run') === 'short';
