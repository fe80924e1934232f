/** Server-sent events, read from a `fetch` body, since EventSource cannot send an API key. */
import { createParser } from 'eventsource-parser';
import { malformed } from './clientError.ts';
import { type Http, readJson } from './http.ts';
import { readRecord } from './records.ts';
import type { TaskId, TaskRecord } from './types.ts';

/** Silence after which a stream counts as dead; the service sends something every 15 seconds. */
const SILENCE_MS = 45_000;
/** The first record arrives at once, unless a proxy buffers the answer until it is complete. */
const FIRST_MS = 10_000;
const MAX_EVENT_CHARS = 1024 * 1024;

/**
 * Creates a parser that returns the data of complete events, chunk by chunk.
 *
 * @throws ClientError `MALFORMED_ANSWER` (from `push`) when an event is longer than 2^20 characters
 */
export function eventReader(): { push(text: string): readonly string[] } {
  let data: string[] = [];
  let tooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: (event) => data.push(event.data),
    onError: ({ type }) => {
      tooLong ||= type === 'max-buffer-size-exceeded';
    },
  });
  return {
    push(text) {
      data = [];
      parser.feed(text);
      if (tooLong) throw malformed('An event is too long');
      return data;
    },
  };
}

/** Yields the records of one connection, until the server ends it. Throws like `Http.events`. */
export async function* recordEvents(
  http: Http,
  path: string,
  id: TaskId,
  signal?: AbortSignal,
): AsyncGenerator<TaskRecord> {
  const call = {
    method: 'GET',
    to: { path: `${path}/${id}/events` },
    headers: { accept: 'text/event-stream' },
    repeat: 'unsafe',
    signal,
  } as const;
  const reader = eventReader();
  for await (const text of http.events(call, FIRST_MS, SILENCE_MS)) {
    for (const data of reader.push(text)) yield readRecord(readJson(data, 'An event'));
  }
}
