import { testFuzz, testFuzzOnThreads } from './fuzz.ts';

testFuzz(
  'one item of each set',
  [
    ['falcon1024', 1],
    ['falcon512', 1],
  ],
  40_000,
);

testFuzzOnThreads(
  'twenty items of each set',
  Array.from({ length: 40 }, (_, i) => [i % 2 === 0 ? 'falcon512' : 'falcon1024', i] as const),
);
