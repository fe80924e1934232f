import { testFuzz } from './fuzz.ts';

// the smallest row that hides messages and cuts inner commitments
const nine = Array.from({ length: 9 }, (_, number) => ['falcon512', number] as const);
testFuzz('nine items', nine, 480_000);
