/** Errors as text for the log. */
import { isCodedError } from '../shared/errors.ts';

/** An error with its stack and its causes. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${describe(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

/** The code of an error, its text and those of its causes; for what is expected to happen. */
export function inShort(error: unknown): { readonly code?: string; readonly error: string } {
  const texts: string[] = [];
  for (let at: unknown = error; at !== undefined; at = at instanceof Error ? at.cause : undefined) {
    texts.push(at instanceof Error ? at.message : String(at));
  }
  return { ...(isCodedError(error) && { code: error.code }), error: texts.join(': ') };
}
