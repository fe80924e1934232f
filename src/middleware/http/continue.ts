/**
 * `Expect: 100-continue`: the client waits for a word before it sends its body. It gets that word
 * when the body is first read, thus after key, rate, type and announced length have been checked;
 * if they refuse it, the answer takes the word's place and the connection ends.
 */
import type { ServerResponse } from 'node:http';
import type { Context } from 'hono';

/** Answers whose clients wait, and whether their connections would stay open. */
const waiting = new WeakMap<object, boolean>();

/** Notes that a client waits; for servers whose `checkContinue` leaves the word to the service. */
export function holdContinue(outgoing: ServerResponse): void {
  waiting.set(outgoing, outgoing.shouldKeepAlive);
  // If the client does not send its body after all, nobody could tell where the next request is.
  outgoing.shouldKeepAlive = false;
}

/** Asks for the body if the client waits. */
export function sendContinue(c: Context): void {
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: ServerResponse };
  const keepAlive = outgoing && waiting.get(outgoing);
  if (outgoing === undefined || keepAlive === undefined) return;
  waiting.delete(outgoing);
  outgoing.shouldKeepAlive = keepAlive;
  outgoing.writeContinue();
}
