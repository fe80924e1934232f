import { testFuzz } from './fuzz.ts';

testFuzz('one item', [['falcon512', 1]], 480_000);
