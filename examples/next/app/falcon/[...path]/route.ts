import { running } from '../../../service';

export const dynamic = 'force-dynamic';

/** Passes everything below /falcon to the service. */
async function answer(request: Request): Promise<Response> {
  const started = await running().catch((error: unknown) => {
    console.error(error); // callers get no details
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
