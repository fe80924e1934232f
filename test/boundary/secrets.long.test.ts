/** The same as secrets.test.ts, for both parameter sets. */
import './secrets.test.ts';
