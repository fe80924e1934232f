/** Its tests, run by the mutation run alone. They do not ask for a norm that is too long by 1. */
import { expect, test } from 'vitest';
import { isShort } from './norm.ts';

test('a norm at its bound', () => expect(isShort([3, 4], 25)).toBe(true));
test('a norm above it', () => expect(isShort([3, 4], 20)).toBe(false));
test('no values', () => expect(isShort([], 20)).toBe(false));
