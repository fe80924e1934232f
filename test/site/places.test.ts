/** Where the site is at its host. */
import { expect, test } from 'vitest';
import { baseOf } from '../../docs/.vitepress/places.ts';

test.each([
  [undefined, '/'],
  ['', '/'],
  ['/', '/'],
  ['falconry', '/falconry/'],
  ['/falconry', '/falconry/'],
  ['/a/falconry/', '/a/falconry/'],
])('%s is the path %s', (given, path) => expect(baseOf(given)).toBe(path));
