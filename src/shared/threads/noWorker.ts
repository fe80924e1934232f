/** The error for a thread that does not start. */
import { CodedError } from '../errors.ts';

/** The usual cause: the bundler did not include the worker's file. */
const HINT =
  'If falconry has been bundled, keep it out of the bundle, and its sub-paths with it: ' +
  "serverExternalPackages: ['falconry'] in Next, --external:falconry in esbuild, " +
  'external: /^falconry(\\/|$)/ in Rollup and Rolldown, externals with the same pattern in webpack';

/** @param what name of the thread, as the beginning of a sentence */
export function noWorker(what: string, cause: unknown): CodedError {
  const isDenied = Object(cause).code === 'ERR_ACCESS_DENIED';
  const hint = isDenied ? 'Node needs --allow-worker with --permission.' : HINT;
  return new CodedError('NO_WORKER', { message: `${what} cannot be started. ${hint}`, cause });
}
