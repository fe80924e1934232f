/** The same as derived.test.ts, with all known answers. */
import './derived.test.ts';
