import { aggregate, CodedError } from 'falconry';

const MOST = 1722;

interface Row {
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

/** A batch at once, by the library. For many callers, or for long batches, use the service. */
export async function POST(request: Request): Promise<Response> {
  const rows = (await request.json()) as Row[];
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > MOST) {
    return new Response(`between 1 and ${MOST} signatures, please`, { status: 400 });
  }
  const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
  try {
    const items = rows.map(({ publicKey, message, signature }) => {
      return {
        publicKey: bytes(publicKey),
        message: bytes(message),
        signature: bytes(signature),
      };
    });
    return new Response(await aggregate(items));
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'INVALID_SIGNATURES') throw error;
    return new Response(error.message, { status: 422 });
  }
}
