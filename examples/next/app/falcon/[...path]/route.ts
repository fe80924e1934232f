import { running } from '../../../service';

export const dynamic = 'force-dynamic';

/** Everything below /falcon is the service's. */
async function answer(request: Request): Promise<Response> {
  const started = await running().catch((error: unknown) => {
    console.error(error); // the caller is told no more than that
    return null;
  });
  if (started !== null) return started.handler(request);
  return new Response('The service could not start', {
    status: 503,
    headers: { 'retry-after': '5' },
  });
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
