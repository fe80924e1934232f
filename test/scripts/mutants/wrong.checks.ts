/** A test that fails on the program as it is, run by the mutation run alone. */
import { expect, test } from 'vitest';
import { isShort } from './norm.ts';

test('a wrong one', () => expect(isShort([3, 4], 20)).toBe(true));
