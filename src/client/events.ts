/** Server-sent events, read from a `fetch` body (EventSource cannot send an API key). */
import { type Http, readJson } from './http.ts';
import { readRecord } from './records.ts';
import type { TaskId, TaskRecord } from './types.ts';
import { malformed } from './wire.ts';

/** Silence after which a stream is taken for dead; the service says something every 15 seconds. */
const SILENCE_MS = 45_000;
/** The first record comes at once; a proxy that gathers the whole answer first is found out by this. */
const FIRST_MS = 10_000;
const MAX_EVENT_CHARS = 1024 * 1024;

/** One event of a stream. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Events of pieces of text (WHATWG HTML, section 9.2.6): lines end in CR, LF or both, an empty line ends an
 * event, lines of data are joined, comments and unknown fields are skipped. An unfinished event at the end is
 * dropped.
 */
export class EventParser {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #dataChars = 0;

  /** @throws ClientError `MALFORMED_ANSWER` when an event has no end */
  push(text: string): ServerEvent[] {
    this.#rest += text;
    const events: ServerEvent[] = [];
    for (;;) {
      const end = /\r\n|\n|\r/.exec(this.#rest);
      // A CR at the very end may be the first half of CRLF.
      const half = end?.[0] === '\r' && end.index === this.#rest.length - 1;
      if (end === null || half) break;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      const event = this.#line(line);
      if (event) events.push(event);
    }
    if (this.#rest.length + this.#dataChars > MAX_EVENT_CHARS)
      throw malformed('An event has no end');
    return events;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') {
      const data = this.#data.join('\n');
      const event = this.#event || 'message';
      const whole = this.#data.length > 0;
      this.#data = [];
      this.#dataChars = 0;
      this.#event = '';
      return whole ? { event, data } : undefined;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    if (name === 'data') {
      this.#data.push(value);
      this.#dataChars += value.length + 1;
    }
    return undefined;
  }
}

/**
 * The records that one connection gives, until the server ends it.
 *
 * @throws ClientError: as of a request; `MALFORMED_ANSWER` when it is no stream of events; `NETWORK` when it
 *   breaks, `TIMEOUT` when it falls silent
 */
export async function* recordEvents(
  http: Http,
  path: string,
  id: TaskId,
  signal?: AbortSignal,
): AsyncGenerator<TaskRecord> {
  const stream = await http.stream({
    method: 'GET',
    to: { path: `${path}/${id}/events` },
    headers: { accept: 'text/event-stream' },
    repeat: 'unsafe',
    signal,
    limitMs: FIRST_MS,
  });
  try {
    if (!/^text\/event-stream\b/i.test(stream.contentType)) {
      throw malformed('The stream of events is none');
    }
    const parser = new EventParser();
    for await (const text of stream.pieces(FIRST_MS, SILENCE_MS)) {
      for (const { data } of parser.push(text)) yield readRecord(readJson(data, 'An event'));
    }
  } finally {
    stream.close();
  }
}
