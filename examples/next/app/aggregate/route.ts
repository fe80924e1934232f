import { type AggregateItem, aggregate, CodedError } from 'falconry';

const MOST = 1722;
const MOST_BYTES = 16 * 1024 * 1024;

/** Returns the text of a body; null if it is too long, of which the rest is read and dropped. */
async function textOf(request: Request): Promise<string | null> {
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    text = size > MOST_BYTES ? '' : text + decoder.decode(chunk, { stream: true });
  }
  return size > MOST_BYTES ? null : text + decoder.decode();
}

/** Returns the bytes of hex digits. */
function bytesOf(hex: unknown): Uint8Array {
  if (typeof hex !== 'string' || hex.length % 2 !== 0 || /[^0-9a-f]/i.test(hex)) {
    throw new SyntaxError('no hex');
  }
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

/** Returns the items of a body. @throws SyntaxError if it has another shape */
function itemsOf(text: string): AggregateItem[] {
  const rows: unknown = JSON.parse(text);
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > MOST) {
    throw new SyntaxError(`not between 1 and ${MOST} signatures`);
  }
  return rows.map((row) => {
    return {
      publicKey: bytesOf(row?.publicKey),
      message: bytesOf(row?.message),
      signature: bytesOf(row?.signature),
    };
  });
}

const refuse = (status: number, text: string) => new Response(text, { status });

/** Aggregates a batch with the library. For many callers or long batches, use the service. */
export async function POST(request: Request): Promise<Response> {
  const text = await textOf(request);
  if (text === null) return refuse(413, `at most ${MOST_BYTES} bytes, please`);
  try {
    return new Response(await aggregate(itemsOf(text)));
  } catch (error) {
    if (error instanceof SyntaxError) {
      return refuse(400, `a list of 1 to ${MOST} { publicKey, message, signature } in hex, please`);
    }
    if (error instanceof CodedError && error.code === 'INVALID_SIGNATURES') {
      return refuse(422, error.message);
    }
    throw error;
  }
}
