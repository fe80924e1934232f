/**
 * Everything that the service uses of Hono, an optional peer dependency.
 *
 * Without Hono, `import 'falconry/middleware'` fails before any of our code runs. The error of the
 * host then names the package and this file, hence its name: "Cannot find package 'hono' imported
 * from …/npmInstallHono.js". A check of our own could only come first with a top-level `await`,
 * which rules out `require` and bundles in CommonJS. `falconry serve` and `worker` print a sentence
 * (src/cli/operate/stores.ts).
 */
export { Hono } from 'hono';
export { cors } from 'hono/cors';
export { getPath } from 'hono/utils/url';
