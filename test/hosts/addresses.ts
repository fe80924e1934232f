/**
 * Whether a host tells the service where its clients are: who knocks too often from one address is
 * no burden to others.
 */
import { Agent, request } from 'node:http';
import { expect } from 'vitest';

/** More than are let through at once, by far. */
const PATIENCE = 5000;

/** One address is refused after many wrong keys; another still hears that its key is wrong. */
export async function tellsAddresses(base: string): Promise<void> {
  // On loopback the whole of 127/8 is ours, on Linux.
  if (process.platform !== 'linux') return;
  const knocker = new Agent({ keepAlive: true, localAddress: '127.0.0.2', maxSockets: 20 });
  const other = new Agent({ localAddress: '127.0.0.3' });
  try {
    let refused = false;
    for (let sent = 0; !refused && sent < PATIENCE; sent += 100) {
      const statuses = await Promise.all(Array.from({ length: 100 }, () => knock(base, knocker)));
      refused = statuses.includes(429);
    }
    expect(refused).toBe(true);
    expect(await knock(base, other)).toBe(401);
  } finally {
    knocker.destroy();
    other.destroy();
  }
}

function knock(base: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'falconry_wrong' };
    request(`${base}/v1/svc/tasks`, { agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode!));
    })
      .on('error', reject)
      .end();
  });
}
