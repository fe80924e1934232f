/**
 * What examples/deploy sets in the environment of every host (its section "One host" says why), so
 * that what is fuzzed and measured is what runs there.
 */
export const HOST_ENV = {
  NODE_OPTIONS: '--max-semi-space-size=4 --v8-pool-size=1',
  MALLOC_ARENA_MAX: '2',
} as const;
