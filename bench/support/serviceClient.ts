/** Requests that prepare measurements of the service. */
import type { FalconryProcess } from './serverProcess.ts';

export interface Api {
  readonly server: FalconryProcess;
  readonly headers: Record<string, string>;
  /** @throws Error if it is refused */
  ask(method: string, path: string, body?: string | Buffer): Promise<Record<string, never>>;
}

export function client(server: FalconryProcess): Api {
  const headers = { authorization: server.apiKey, 'content-type': 'application/json' };
  return {
    server,
    headers,
    async ask(method, path, body) {
      const url = path.startsWith('http') ? path : server.address + path;
      const sent = body === undefined ? {} : { body: body as BodyInit };
      const answer = await fetch(url, { method, headers, ...sent });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text === '' ? {} : JSON.parse(text);
    },
  };
}

/** Waits for the end of a task. @throws Error if that is not `completed` */
export async function completed({ ask }: Api, id: unknown): Promise<Record<string, never>> {
  for (;;) {
    const record = await ask('GET', `/v1/svc/tasks/${id}`);
    const status = String(record.status);
    if (status === 'completed') return record;
    if (/^(failed|cancelled|expired)$/.test(status)) throw new Error(`task ${id} has ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
