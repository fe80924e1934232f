/** Imported before tests of signing and keys, runs them on the build without floating point. */
import { reals } from './reals.ts';

reals.module = 'integer';
