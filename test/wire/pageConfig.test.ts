/** Links to the page that contain an API key. */
import { expect, test } from 'vitest';
import { holdsKey, keyLink, keyOfLink } from '../../src/wire/pageConfig.ts';

const KEY = 'falconry_RgLRtq3XoBGOlGyuT7sIV9mCGFPh2ZYdFMAUBvSVkiU';

test.each([
  'http://127.0.0.1:8787',
  'http://127.1.2.3',
  'http://localhost:1/below',
  'http://[::1]:8787',
])('a link to %s gives back its key', (base) => {
  for (const key of [KEY, 'a/b?c#d%20é']) {
    const link = new URL(keyLink(base, key)!);
    expect(link.href.startsWith(`${base}/v1/ui#key=`)).toBe(true);
    expect(holdsKey(link.hash)).toBe(true);
    expect(keyOfLink(link)).toBe(key);
  }
});

test.each([
  'http://0.0.0.0:8787',
  'http://192.168.1.2:8787',
  'https://falcon.example',
  'http://127.evil.example',
  'http://127.0.0.1.example',
  'http://localhost.example',
])('there is no link to %s, and a key in one is not used', (base) => {
  expect(keyLink(base, KEY)).toBe(null);
  const link = new URL(`${base}/v1/ui#key=${KEY}`);
  expect(keyOfLink(link)).toBe(null);
  // The page still removes it from the address.
  expect(holdsKey(link.hash)).toBe(true);
});

test.each(['', '#', '#key', '#key=', '#key=%', '#start', '#tasks/1', '#akey=b'])(
  'the fragment "%s" has no key',
  (hash) => expect(keyOfLink({ hostname: 'localhost', hash })).toBe(null),
);
