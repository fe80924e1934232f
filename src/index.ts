/**
 * Falconry: Falcon-512/1024 signatures and their aggregation. The service has a separate entry,
 * `falconry/middleware`, so that browser bundles contain only the library.
 */
export * from './aggregate/index.ts';
export * from './falcon/index.ts';
export { CodedError } from './shared/errors.ts';
