/** Many large uploads through the service into a bucket: none of them is held in memory. */
import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { hasRgw, newPrefix, openRgw } from '../support/rgw.ts';
import { NIGHTLY } from '../support/run.ts';
import { start } from './process.ts';
import { it, spaces } from './support.ts';

const CLIENTS = NIGHTLY ? 100 : 24;
const FILE_BYTES = 32 * 1024 * 1024;
const MAX_RESIDENT_MIB = 512;

describe.skipIf(!hasRgw())('a service in front of a bucket', () => {
  it(`takes ${CLIENTS} files of 32 MiB at once within ${MAX_RESIDENT_MIB} MiB`, async ({
    defer,
    folder,
    skip,
  }) => {
    const { endpoint, bucket, credentials } = await openRgw();
    const options = JSON.stringify({ endpoint, bucket, credentials, prefix: newPrefix() });
    const service = start('test/middleware/fixtures/s3Service.ts', [folder, options]);
    defer(() => service.ended);
    defer(() => service.kill('SIGKILL'));
    const said = await service.printed(/pid (\d+) port (\d+) key (\S+)\./);
    const [, pid, port, authorization] = said as unknown as [string, string, string, string];
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
    if (status === null) return skip('this system has no /proc');
    const base = `http://127.0.0.1:${port}/v1/svc`;
    const ask = async (method: string, path: string) => {
      const answer = await fetch(base + path, { method, headers: { authorization } });
      return answer.json();
    };
    const tasks: { process_id: number; url: string }[] = [];
    for (let i = 0; i < CLIENTS; i++) tasks.push(await ask('POST', '/aggsign/task'));
    const answers = await Promise.all(
      tasks.map(async ({ url }) => {
        const headers = { 'content-type': 'application/json' };
        const init = { method: 'PUT', headers, body: spaces(FILE_BYTES), duplex: 'half' };
        const answer = await fetch(url, init as RequestInit);
        return [answer.status, ((await answer.json()) as { bytes?: number }).bytes];
      }),
    );
    const expected = Array.from({ length: CLIENTS }, () => [200, FILE_BYTES]);
    expect(answers).toEqual(expected);
    const { VmHWM } = Object.fromEntries(
      (await readFile(`/proc/${pid}/status`, 'utf8')).split('\n').map((line) => line.split(':\t')),
    ) as { VmHWM: string };
    const peakMib = Math.round(Number.parseInt(VmHWM, 10) / 1024);
    console.log(`${CLIENTS} files of 32 MiB at once: ${peakMib} MiB resident at most`);
    expect(peakMib).toBeLessThan(MAX_RESIDENT_MIB);
    for (const { process_id: id } of tasks) await ask('DELETE', `/tasks/${id}`);
  });
});
