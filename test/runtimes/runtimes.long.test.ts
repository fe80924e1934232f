/** The same as runtimes.test.ts, in Chromium besides. */
import './runtimes.test.ts';
