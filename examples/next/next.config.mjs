/** @type {import('next').NextConfig} */
export default {
  // Left out of the bundle of the server, so that the service finds its worker in any place.
  serverExternalPackages: ['falconry'],
  // Signed URLs carry their right in the query, which `next dev` would print.
  logging: { incomingRequests: { ignore: [/^\/falcon\//] } },
};
