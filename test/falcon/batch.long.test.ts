/** The same as batch.test.ts, which takes every set on every build in the long run. */
import './batch.test.ts';
