import { testFuzz } from './fuzz.ts';

// the smallest row that hides messages and cuts inner commitments
testFuzz(
  'nine items',
  Array.from({ length: 9 }, (_, number) => ['falcon512', number] as const),
  480_000,
);
