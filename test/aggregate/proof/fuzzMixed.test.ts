import { testFuzz } from './fuzz.ts';

testFuzz(
  'one item of each set',
  [
    ['falcon1024', 1],
    ['falcon512', 1],
  ],
  200_000,
);
