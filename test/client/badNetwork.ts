/**
 * A network that loses what it is told to lose: between a client and a real server, request by
 * request.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Fault, openFaultyProxy } from '../support/faultyProxy.ts';
import type { OpenServer } from '../support/openServer.ts';

/**
 * - `before`: the connection ends before the server hears of the request
 * - `after`: the server has done it and answered; the answer is lost
 * - `half`: the connection ends in the middle of the answer
 * - a status: answered by the proxy itself, the server hears nothing
 * - `pass`: nothing goes wrong
 */
export type Fate = 'before' | 'after' | Extract<Fault, 'pass' | 'half' | { status: number }>;

const FAULTS = { before: 'cut', after: 'cutAfter', half: 'half', pass: 'pass' } as const;

export interface BadNetwork extends OpenServer {
  /** `METHOD /path` of every request that came, ids as they are. */
  readonly requests: string[];
  readonly headers: IncomingHttpHeaders[];
  /**
   * What becomes of a request; `count` says how many of the same method and path came before it.
   */
  fate: (request: string, count: number) => Fate;
}

export async function badNetwork(port: number): Promise<BadNetwork> {
  const proxy = await openFaultyProxy(`http://127.0.0.1:${port}`);
  const network: BadNetwork = { ...proxy, requests: [], headers: [], fate: () => 'pass' };
  proxy.choose = (line, headers) => {
    const [name = ''] = line.split('?');
    const count = network.requests.filter((each) => each === name).length;
    network.requests.push(name);
    network.headers.push(headers);
    const fate = network.fate(name, count);
    return typeof fate === 'string' ? FAULTS[fate] : fate;
  };
  return network;
}
