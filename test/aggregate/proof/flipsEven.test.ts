import { testFlips } from './flips.ts';

testFlips(0);
