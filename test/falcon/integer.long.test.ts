/** The tests of signing and keys, on the build without floating point. */
import '../support/onIntegers.ts';
import './integer.test.ts';
import './fft.test.ts';
import './ffSampling.test.ts';
import './samplerZ.test.ts';
import './kat.test.ts';
import './signExact.test.ts';
import './keygen.test.ts';
import './ntru.long.test.ts';
import './expanded.test.ts';
import './deterministic.test.ts';
import './derived.test.ts';
import './hedged.test.ts';
import './branchesSign.test.ts';
import './branchesKeygen.long.test.ts';
