/** The same as keyCache.test.ts, with more numbers of threads. */
import './keyCache.test.ts';
