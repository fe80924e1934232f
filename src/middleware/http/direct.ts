/** Bodies that are read from Node's own request. */
import type { IncomingMessage } from 'node:http';

/** The part of a reader of the web's streams that is used here. */
export interface BodyReader {
  read(): Promise<{ readonly done?: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

const direct = new WeakMap<Request, IncomingMessage>();

/**
 * Notes where Node has the body of a request that goes straight to the service: to read it there
 * takes a fraction of the time that streams of the web take.
 */
export function readDirectly(request: Request, incoming: IncomingMessage): void {
  const { headers, readableDidRead, readableEncoding } = incoming;
  const isSent = 'content-length' in headers || 'transfer-encoding' in headers;
  const isRaw = !readableDidRead && readableEncoding === null && 'iterator' in incoming;
  if (isSent && isRaw && !['GET', 'HEAD'].includes(request.method)) direct.set(request, incoming);
}

/** Returns a body that has arrived whole and was not read; null for any other, as in HTTP/2. */
export function arrivedBody(request: Request): Uint8Array | null {
  const incoming = direct.get(request);
  const isWhole =
    incoming?.complete && !incoming.readableDidRead && incoming.httpVersionMajor === 1;
  return isWhole ? incoming.read() : null;
}

/** @returns null for a request without a body */
export function readerOf(request: Request): BodyReader | null {
  const incoming = direct.get(request);
  if (incoming === undefined) return request.body?.getReader() ?? null;
  const chunks = incoming.iterator({ destroyOnReturn: false });
  return { read: () => chunks.next(), cancel: async () => void incoming.destroy() };
}
