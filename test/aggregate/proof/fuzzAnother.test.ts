import { testFuzz } from './fuzz.ts';

testFuzz('another item', [['falcon512', 2]], 480_000);
