/** @type {import('next').NextConfig} */
export default {
  // Not bundled into the server, so that the service finds its worker.
  serverExternalPackages: ['falconry'],
  // The query of a signed URL must not be logged; `next dev` would print it.
  logging: { incomingRequests: { ignore: [/^\/falcon\//] } },
};
