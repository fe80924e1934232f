import { deepStrictEqual, fail } from 'node:assert/strict';

/**
 * Asserts that a value has at least the members of `expected`, and in them the same values; lists
 * have the same length.
 *
 * @throws AssertionError that shows those members of the value that were expected
 */
export function matches(value: unknown, expected: object, message?: string): void {
  if (typeof value !== 'object' || value === null) {
    fail(message ?? `expected an object, got ${String(value)}`);
  }
  deepStrictEqual(shared(value, expected), expected, message);
}

/** Of `value`, only what `expected` has as well. */
function shared(value: unknown, expected: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (typeof expected !== 'object' || expected === null) return value;
  if (Array.isArray(value)) {
    return Array.isArray(expected) ? value.map((each, i) => shared(each, expected[i])) : value;
  }
  if (Object.getPrototypeOf(expected) !== Object.prototype) return value;
  const members = Object.keys(expected).filter((name) => name in value);
  const pairs = members.map((name) => [
    name,
    shared(value[name as keyof typeof value], expected[name as keyof typeof expected]),
  ]);
  return Object.fromEntries(pairs);
}
