/** Hosts in this process, for what is tried with options that no recipe has. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OpenServer {
  /** `http://127.0.0.1:port` */
  readonly address: string;
  close(): Promise<void>;
}

/** Any listener (an Express app is one) on a free port. */
export async function openServer(listener: RequestListener): Promise<OpenServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, close: () => closed(server) };
}

/** Closes a server and every connection to it. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
