/** The same as pool.test.ts, with more threads that die. */
import './pool.test.ts';
