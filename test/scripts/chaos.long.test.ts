/**
 * `npm run chaos` in its short form; and that it sees what it looks for: a task that is gone, one
 * that is completed again, one that nobody takes, planted in a store under test.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Clients, type Job } from '../../scripts/chaos/clients.ts';
import { embeddedWorld } from '../../scripts/chaos/embedded.ts';
import { type Evidence, judge } from '../../scripts/chaos/judge.ts';
import { runTrial } from '../../scripts/chaos/trial.ts';
import { start } from '../middleware/process.ts';
import { fact } from '../support/facts.ts';
import { openServer } from '../support/openServer.ts';
import { testRandom } from '../support/random.ts';
import { NIGHTLY } from '../support/run.ts';

const chaos = (...args: string[]) => start('scripts/chaos.ts', args).ended;
const lastLine = (stdout: string) => stdout.trim().split('\n').at(-1)!;

describe('the verdict', () => {
  const seen = { gone: false, verified: true, fault: null, seen: '' };
  const job: Job = { way: 'direct', items: [], id: 1, ...seen };
  const good: Evidence = {
    jobs: [job, { ...job, id: 2 }],
    completions: new Map([
      [1, 1],
      [2, 1],
    ]),
    listed: [1, 2],
    deaths: [],
    kills: 3,
    wantedKills: 3,
  };
  const numbers = 'chaos: accepted 2, completed 2, lost 0, twice 0, stuck 0';

  it('of a good trial', () => {
    expect(judge(good)).toEqual({ good: true, faults: [], line: numbers });
  });

  const lost = { ...job, id: 2, verified: false, fault: '404' };
  const stuck = { ...job, id: 2, verified: false, seen: 'waiting' };
  const again = new Map([...good.completions, [2, 2]] as const);
  it.each<[string, Partial<Evidence>, string, string]>([
    ['a lost task', { jobs: [job, lost] }, 'LOST 2: 404', 'completed 1, lost 1, twice 0, stuck 0'],
    [
      'one that was gone before it was named',
      { jobs: [job, { ...lost, id: null, gone: true, fault: '410' }], listed: [1] },
      'LOST before it was named: 410',
      'accepted 2, completed 1, lost 1, twice 0, stuck 0',
    ],
    ['a stuck one', { jobs: [job, stuck] }, 'STUCK 2: waiting', 'lost 0, twice 0, stuck 1'],
    ['one completed again', { completions: again }, 'TWICE 2', 'lost 0, twice 1, stuck 0'],
    ['one made by a repeat', { listed: [1, 2, 3] }, 'TWICE 3', 'lost 0, twice 1, stuck 0'],
    [
      'one completed that the store did not count',
      { completions: new Map([[1, 1]]) },
      'FAULT 2 was completed, and not counted',
      numbers,
    ],
    [
      'a batch that was not accepted',
      { jobs: [job, { ...stuck, id: null }], listed: [1] },
      'FAULT a batch was not accepted: waiting',
      'accepted 1, completed 1, lost 0, twice 0, stuck 0',
    ],
    [
      'a process that ended by itself',
      { deaths: ['serve ended with 70'] },
      'FAULT ended by itself: serve ended with 70',
      numbers,
    ],
    ['too few kills', { kills: 2 }, 'FAULT only 2 of 3 kills in the time', numbers],
  ])('of %s', (_, change, fault, line) => {
    const verdict = judge({ ...good, ...change });
    expect(verdict.good).toBe(false);
    expect(verdict.faults).toEqual([fault]);
    expect(verdict.line).toContain(line);
  });
});

describe('a completed result that is fetched again', () => {
  const damaged = 'a damaged result was served as a whole one';
  it.for<[string, string, Partial<Job>, number]>([
    ['is the same as before', 'whole', { verified: true, fault: null }, 0],
    ['counts as lost if it is another one', 'whale', { verified: false, fault: damaged }, 0],
    ['may break off before its end', 'whol', { verified: true, fault: null }, 1],
  ])('%s', async ([, text, found, withheld]) => {
    const server = await openServer(({ url }, answer) => {
      if (url !== '/file') answer.end(`{"result_path":"${server.address}/file"}`);
      else answer.writeHead(200, { 'content-length': 5 }).write(text, () => answer.destroy());
    });
    onTestFinished(() => server.close());
    const clients = new Clients({ bases: [server.address], apiKey: 'key', endMs: Infinity });
    const job: Job = {
      ...{ way: 'direct', items: [], id: 1, gone: false, seen: '' },
      ...{ verified: true, fault: null, result: 'whole' },
    };
    await clients.recheck(job);
    expect(job).toMatchObject(found);
    expect(clients.withheld).toBe(withheld);
  });
});

describe('the command', () => {
  it('explains itself, and refuses what it does not know', async () => {
    const help = await chaos('--help');
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toMatch(/^Usage: npm run chaos/);
    for (const args of [['--kills', '0'], ['--tasks', 'x'], ['--minutes', '0'], ['--nonsense']]) {
      const refused = await chaos(...args);
      expect(refused.code, args.join(' ')).toBe(2);
      expect(refused.stderr).toContain('Usage: npm run chaos');
    }
  });

  it('loses nothing on the embedded store', async (context) => {
    const args = ['--embedded', '--tasks', '30', '--kills', '12', '--minutes', '4'];
    const { code, stdout, stderr } = await chaos(...args);
    expect(lastLine(stdout), stdout).toBe(
      'chaos: accepted 30, completed 30, lost 0, twice 0, stuck 0',
    );
    expect([code, stderr]).toEqual([0, '']);
    const kills = /^12 kill -9 .*$/m.exec(stdout)![0];
    fact(context, 'chaos', `${kills}; ${lastLine(stdout)}`);
  });

  it.runIf(NIGHTLY)('loses nothing on several hosts', async (context) => {
    const { code, stdout, stderr } = await chaos('--minutes', '20');
    expect(lastLine(stdout), stdout).toBe(
      'chaos: accepted 200, completed 200, lost 0, twice 0, stuck 0',
    );
    expect([code, stderr]).toEqual([0, '']);
    fact(context, 'chaos', `${/^100 kill -9 .*$/m.exec(stdout)![0]}; ${lastLine(stdout)}`);
  });
});

/** What a faulty store could do to one of its tasks. */
const SABOTAGE = [
  `DELETE FROM tasks WHERE id = ?`,
  `UPDATE tasks SET quarantined = 1, state = 'waiting', due_ms = NULL WHERE id = ?`,
  `INSERT INTO completions VALUES (?), (?1)`,
];

describe('a store that is tampered with', () => {
  it('is found out', async () => {
    const lines: string[] = [];
    const good = await runTrial({
      ...{ tasks: 16, kills: 1, seed: 1, minutes: 0.75, random: testRandom('sabotage') },
      log: (line) => lines.push(line),
      async open(random) {
        const world = await embeddedWorld(random);
        const [serve] = world.members;
        const run = async () => {
          for (let done = false; !done; serve!.start()) {
            const endMs = performance.now() + 10_000;
            while (openTasks(world.store).length < 3 && performance.now() < endMs) await sleep(5);
            await serve!.kill();
            done = sabotage(world.store);
          }
        };
        return { ...world, troubles: [{ name: 'sabotage', times: 1, run }] };
      },
    });
    expect(good).toBe(false);
    const found = lines.filter((line) => /^(LOST|TWICE|STUCK) /.test(line));
    expect(found.map((line) => line.split(' ')[0]).sort(), lines.join('\n')).toEqual([
      'LOST',
      'STUCK',
      'TWICE',
    ]);
    expect(lines.at(-1)).toMatch(/^chaos: accepted 16, completed 14, lost 1, twice 1, stuck 1$/);
  });
});

/** The last tasks that are to be worked on. */
function openTasks(path: string): number[] {
  const db = new DatabaseSync(path);
  try {
    const plain = 'parent IS NULL AND parts IS NULL';
    const open = `${plain} AND state IN ('waiting', 'verifying', 'aggregating')`;
    const rows = db.prepare(`SELECT id FROM tasks WHERE ${open} ORDER BY id DESC LIMIT 3`).all();
    return rows.map(({ id }) => Number(id));
  } finally {
    db.close();
  }
}

/** Tampers with three of them. @returns false if there are not as many */
function sabotage(path: string): boolean {
  const ids = openTasks(path);
  if (ids.length < SABOTAGE.length) return false;
  const db = new DatabaseSync(path);
  try {
    ids.forEach((id, i) => void db.prepare(SABOTAGE[i]!).run(id));
    return true;
  } finally {
    db.close();
  }
}
