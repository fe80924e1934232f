/** The project stays within its limits of size, and the measures see what they are for. */
import { expect, test } from 'vitest';
import { LIMITS, type Measure, measureHouse, twoWayPairs } from '../../scripts/house.ts';

const measured = measureHouse();

test.each(Object.entries(LIMITS))('%s: at most %i', (name, limit) => {
  expect(measured[name as Measure]).toBeLessThanOrEqual(limit);
});

test('every measure finds something', () => {
  const { 'folders that import each other': _, ...counts } = measured;
  for (const [name, value] of Object.entries(counts)) expect(value, name).toBeGreaterThan(2);
});

test('two folders that import each other are found, whichever comes first', () => {
  const imports: [string, string][] = [
    ['src/b/one.ts', 'src/a/one.ts'],
    ['src/a/two.ts', 'src/b/two.ts'],
    ['src/a/two.ts', 'src/c/one.ts'],
    ['src/c/one.ts', 'src/c/two.ts'],
  ];
  expect(twoWayPairs(imports)).toEqual(['src/a > src/b']);
});
