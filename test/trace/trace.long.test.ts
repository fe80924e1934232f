/** The same for the module without relaxed SIMD, and over more keys. */

import { HOOKS, traceSuite } from './suite.ts';
import { tracer } from './tracer.ts';

traceSuite(() => tracer('falcon', HOOKS), 100);
