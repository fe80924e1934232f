/** What requests cost when two processes serve instead of one: see ../service.ts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../../test/support/documentBlocks.ts';
import { median } from './interleave.ts';
import { type Call, load } from './load.ts';
import { MAIN, type ServerProcess, startClustered, startPlainHono } from './serverProcess.ts';

export interface ProcessFigure {
  readonly name: string;
  readonly processes: number;
  readonly perSecond: number;
  /** CPU time of all threads and processes for one request. */
  readonly cpuMicroseconds: number;
}

const CONNECTIONS = 32;
/** What two processes cost on this machine without anything of ours. */
export const PLAIN = 'plain Hono, no-op';

type Calls = Readonly<Record<string, Call>>;

/** Medians of alternating rounds; the processes are those of the program in docs/service.md. */
export async function measureProcesses(folder: string, quick: boolean): Promise<ProcessFigure[]> {
  const [rounds, seconds] = quick ? [1, 0.2] : [3, 3];
  const program = join(folder, 'cluster.mjs');
  const documented = blocksOf('docs/service.md').find((x) => x.source.includes('node:cluster'))!;
  writeFileSync(program, documented.source.replace(/node_modules\S+main\.js/, MAIN));
  const measured = new Map<string, ProcessFigure[]>();
  const measure = async (server: ServerProcess, processes: number, calls: Calls) => {
    try {
      for (const [name, call] of Object.entries(calls)) {
        await load(server.address, call, CONNECTIONS, seconds / 2);
        const before = cpuOf(server.pid);
        const { perSecond, requests } = await load(server.address, call, CONNECTIONS, seconds);
        const cpuMicroseconds = (1000 * (cpuOf(server.pid) - before)) / requests;
        const key = `${processes} ${name}`;
        const all = measured.get(key) ?? [];
        measured.set(key, [...all, { name, processes, perSecond, cpuMicroseconds }]);
      }
    } finally {
      await server.stop();
    }
  };
  for (let round = 0; round < rounds; round++) {
    for (const processes of [1, 2]) {
      await measure(await startPlainHono(processes), processes, {
        [PLAIN]: { path: '/', expect: [200] },
      });
      const server = await startClustered(
        program,
        processes,
        join(folder, `${round}-${processes}`),
      );
      const headers = { authorization: server.apiKey, 'content-type': 'application/json' };
      const body = `{"digest":"0x${'5a'.repeat(32)}"}`;
      await measure(server, processes, {
        'sign 32 bytes': { method: 'POST', path: '/v1/falcon/sign', headers, body, expect: [200] },
        'list of 10': { path: '/v1/svc/tasks?limit=10', headers, expect: [200] },
      });
    }
  }
  return [...measured.values()].map((all) => ({
    ...all[0]!,
    perSecond: median(all.map((x) => x.perSecond)),
    cpuMicroseconds: median(all.map((x) => x.cpuMicroseconds)),
  }));
}

/** Milliseconds of CPU time of a process and its children. Linux counts in hundredths. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const theirs = children.filter(Boolean).reduce((sum, child) => sum + cpuOf(Number(child)), 0);
  return 10 * (Number(stat[11]) + Number(stat[12])) + theirs;
}
