/** The same as signExact.test.ts, with more signatures. */
import './signExact.test.ts';
