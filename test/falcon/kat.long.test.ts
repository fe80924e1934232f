/** The same as kat.test.ts, every file by both builds. */
import './kat.test.ts';
