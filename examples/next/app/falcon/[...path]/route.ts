import { running } from '../../../service';

export const dynamic = 'force-dynamic';

/** Everything below /falcon is the service's. */
async function answer(request: Request): Promise<Response> {
  const { handler } = await running();
  return handler(request);
}

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
};
