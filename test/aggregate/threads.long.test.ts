/** The same as threads.test.ts, which takes more batches in the long run. */
import './threads.test.ts';
