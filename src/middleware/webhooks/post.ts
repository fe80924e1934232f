/** One POST to a webhook: to the address that was checked, and nowhere else. */
import { once } from 'node:events';
import { type ClientRequest, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { addressOf, bareHost, type Resolve, webhookUrlFault } from './address.ts';

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
  /** For the whole of it. */
  readonly timeoutMs: number;
  readonly resolve?: Resolve | undefined;
}

/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Redirects are not followed; the body of the answer is read and thrown away.
 *
 * @returns the status of the answer
 * @throws Error in words that a client may see, without addresses
 */
export async function post(address: string, options: PostOptions): Promise<number> {
  const fault = webhookUrlFault(address, options.allowPrivate);
  if (fault !== null) throw new Error(`the url ${fault}`);
  const url = new URL(address);
  const late = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([late, options.signal]);
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new Error(late.aborted ? 'no answer in time' : 'stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  stopped.catch(() => {});
  const host = await Promise.race([addressOf(url, options.allowPrivate, options.resolve), stopped]);
  return Promise.race([send(url, host, options, signal), stopped]);
}

/**
 * Makes a connection, with its certificate checked, and ends it: nothing is sent.
 *
 * @param address of the host of the url, as `addressOf` gave it
 * @throws Error in the words of `post`
 */
export async function reach(url: URL, address: string, timeoutMs: number): Promise<void> {
  const { secure, ...place } = placeOf(url, address);
  const socket = secure ? connectTls(place) : connect(place);
  const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), timeoutMs);
  try {
    await once(socket, secure ? 'secureConnect' : 'connect');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined ? new Error(message) : failed(code);
  } finally {
    clearTimeout(timer);
    socket.on('error', () => {}).destroy();
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly servername?: string;
}

/** What is connected to, and whether by TLS. */
function placeOf(url: URL, address: string): Place & { readonly secure: boolean } {
  const name = bareHost(url);
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  // The certificate must be that of the name.
  return { secure, host: address, port, ...(secure && isIP(name) === 0 && { servername: name }) };
}

const failed = (code?: string) => new Error(`the connection failed (${code ?? 'unknown reason'})`);

function send(
  url: URL,
  address: string,
  { headers, body }: PostOptions,
  signal: AbortSignal,
): Promise<number> {
  const { secure, ...place } = placeOf(url, address);
  const options: RequestOptions & Place = {
    ...place,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: {
      host: url.host,
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
    // A connection of its own: none that was made to another address.
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const request: ClientRequest = secure ? requestHttps(options) : requestHttp(options);
    const stop = () => request.destroy();
    signal.addEventListener('abort', stop, { once: true });
    request.on('close', () => signal.removeEventListener('abort', stop));
    request.on('error', (error: NodeJS.ErrnoException) => {
      reject(failed(error.code));
    });
    request.on('response', (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > MAX_ANSWER_BYTES) response.destroy();
      });
      response.on('error', () => {});
      // The status is the answer, whatever becomes of the body.
      response.on('close', () => resolve(response.statusCode!));
    });
    request.end(body);
  });
}
