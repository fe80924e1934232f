/**
 * An HTTP client that hides nothing: it sends bodies as it is told, and takes an answer that comes
 * before their end.
 */
import { Agent, type IncomingMessage, request } from 'node:http';

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes go with their length, pieces go chunked, unless the headers say otherwise. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Sends one request on a connection of its own. */
export async function send(sent: Sent): Promise<Received> {
  const incoming = await open(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return {
    status: incoming.statusCode!,
    headers: incoming.headers as Record<string, string>,
    body: Buffer.concat(chunks),
  };
}

/** As `send`, with the body of the answer still to come. */
export function open({ method, url, headers = {}, body }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body instanceof Uint8Array ? { 'content-length': `${body.length}` } : {};
    // A connection of its own that asks to be kept, as clients do: one that asks to be closed is
    // closed at the answer.
    const agent = new Agent({ keepAlive: true });
    const outgoing = request(url, {
      method,
      agent,
      headers: { 'accept-encoding': 'gzip, deflate, br', ...length, ...headers },
      timeout: 200_000,
    });
    let answered = false;
    outgoing.on('response', (incoming) => {
      answered = true;
      incoming.on('close', () => agent.destroy());
      resolve(incoming);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${url}`)));
    // Once the answer is there, a connection that breaks under the rest of our body is no news.
    outgoing.on('error', (error) => (answered ? undefined : reject(error)));
    pour(outgoing, body, () => answered).catch((error: unknown) => {
      reject(error);
      outgoing.destroy();
    });
  });
}

/** What ends the wait of a writer. */
const ENDS = ['drain', 'close', 'response'] as const;

async function pour(
  outgoing: ReturnType<typeof request>,
  body: Sent['body'],
  isAnswered: () => boolean,
): Promise<void> {
  if (body === undefined) return void outgoing.end();
  if (body instanceof Uint8Array) return void outgoing.end(body);
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (isAnswered() || outgoing.destroyed) break;
    if (!outgoing.write(chunk)) {
      await new Promise<void>((resolve) => {
        const go = () => {
          for (const name of ENDS) outgoing.off(name, go);
          resolve();
        };
        for (const name of ENDS) outgoing.once(name, go);
      });
    }
  }
  outgoing.end();
}

/** The bytes in pieces of this size, with a pause after each. */
export async function* pieces(
  bytes: Uint8Array,
  size: number,
  pauseMs = 0,
): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    yield bytes.subarray(from, from + size);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Server-sent events as they come: the parsed `data` of each. */
export async function* events(incoming: IncomingMessage): AsyncGenerator<Record<string, unknown>> {
  let text = '';
  incoming.setEncoding('utf8');
  for await (const chunk of incoming) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}
