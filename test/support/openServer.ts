/** Servers of tests, on free ports of this machine. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OpenServer {
  /** `http://127.0.0.1:port` */
  readonly address: string;
  readonly port: number;
  /** Ends every open connection. */
  cutAll(): void;
  /** Closes it, and every connection to it. */
  close(): Promise<void>;
}

/** Any listener (an Express app is one) on a free port. */
export async function openServer(listener: RequestListener): Promise<OpenServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cutAll = () => server.closeAllConnections();
  return {
    ...{ address: `http://127.0.0.1:${port}`, port, cutAll },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cutAll();
      }),
  };
}
