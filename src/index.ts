/**
 * Falconry: Falcon-512/1024 signatures and their aggregation. The service is a separate entry,
 * `falconry/middleware`, so that a browser bundle holds the library alone.
 */
export * from './aggregate/index.ts';
export * from './falcon/index.ts';
export { CodedError } from './shared/errors.ts';
