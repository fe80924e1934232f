/** The same as deterministic.test.ts, with all known answers. */
import './deterministic.test.ts';
