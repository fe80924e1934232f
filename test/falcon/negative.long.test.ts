/** The same as negative.test.ts, which takes every set on every build in the long run. */
import './negative.test.ts';
