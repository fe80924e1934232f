/** The same as bundles.test.ts, as cjs and iife besides. */
import './bundles.test.ts';
