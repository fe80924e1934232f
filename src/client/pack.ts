/** Bodies packed with gzip, for servers that unpack them. */

/** A body, and the headers that say how it is packed. */
export interface Packed {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** The body packed; as it is if this host cannot pack. */
export async function packed(body: Uint8Array): Promise<Packed> {
  if (typeof CompressionStream !== 'function') return { body, headers: {} };
  const plain = new Blob([body as Uint8Array<ArrayBuffer>]).stream();
  const stream = plain.pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return { body: bytes, headers: { 'content-encoding': 'gzip' } };
}
