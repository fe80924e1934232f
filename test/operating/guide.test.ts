/** Commands, options, files, metrics and settings named by the guide and the README exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import * as prometheus from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../../src/cli/lib/command.ts';
import { envOf, SETTINGS } from '../../src/cli/lib/settings.ts';
import { COMMANDS } from '../../src/cli/main.ts';
import { Metrics } from '../../src/cli/operate/metrics.ts';
import { tellsWhen } from '../../src/middleware/http/problems.ts';
import { CLIENT_LIMITS } from '../../src/middleware/options/optionTable.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/shared/errors.ts';
import type { OptionRow } from '../../src/shared/optionRows.ts';
import { falconryHere, temporaryFolder } from '../cli/cli.ts';
import { guide, NAMES, ROOT, read, readme, readYaml } from './operatingFiles.ts';

const known = new Map<string, Command>();
beforeAll(async () => {
  for (const [name, load] of Object.entries(COMMANDS)) known.set(name, (await load()).command);
});

/** Calls of `falconry` in a text: the words after it, up to the end of the line or span. */
function callsIn(text: string): string[][] {
  const joined = text.replace(/\\\n\s*/g, ' ');
  const calls = [
    ...joined.matchAll(/(?<![\w./=-]|--namespace )(?:\S*\/)?falconry ([a-z][^\n`;|>#]*)/g),
  ];
  return calls.map(([, words = '']) => words.trim().split(/\s+/));
}

/** Those of a file that lists the words of a command. */
function listedCalls(name: string): string[][] {
  const lists: string[][] = [];
  const look = (value: unknown, key = ''): void => {
    if (Array.isArray(value) && (key === 'args' || key === 'command'))
      lists.push(value.map(String));
    else if (typeof value === 'object' && value !== null) {
      for (const [inner, part] of Object.entries(value)) look(part, inner);
    }
  };
  for (const document of readYaml(name)) look(document);
  return lists.filter(([word]) => word !== 'postgres');
}

const texts = `${guide}\n${readme}`;
const blocks = [...texts.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text!);
const spans = [...texts.matchAll(/`(falconry [^`]+)`/g)].map(([, text]) =>
  text!.replace('\n', ' '),
);
const calls = [
  ...blocks.flatMap(callsIn),
  ...spans.flatMap(callsIn),
  ...NAMES.filter((name) => name.endsWith('.service'))
    .map(read)
    .flatMap((text) =>
      callsIn([...text.matchAll(/^Exec\w+=([\s\S]*?[^\\])$/gm)].map(([, line]) => line).join('\n')),
    ),
  ...['compose.yaml', 'kubernetes.yaml', 'kubernetes-migrate.yaml'].flatMap(listedCalls),
];

/** What of a call the command line does not know. */
function missing([name = '', ...words]: readonly string[]): string[] {
  const command = known.get(name);
  if (command === undefined) return [name];
  const faults: string[] = [];
  for (const word of words) {
    const option = /^--(?:no-)?([a-z][a-z-]*)/.exec(word)?.[1];
    if (option !== undefined && !command.options.some(({ name: each }) => each === option)) {
      faults.push(`${name} --${option}`);
    }
  }
  const [verb = ''] = words;
  if (command.verbs && /^[a-z]+$/.test(verb) && !Object.hasOwn(command.verbs, verb)) {
    faults.push(`${name} ${verb}`);
  }
  return faults;
}

describe('commands', () => {
  it('are found in the guide and its files', () => {
    expect(calls.length).toBeGreaterThan(30);
    const names = new Set(calls.map(([name]) => name));
    for (const name of ['serve', 'worker', 'migrate', 'keys', 'doctor']) {
      expect([...names]).toContain(name);
    }
  });

  it('are known to the command line, with their options', () => {
    const faults = calls.flatMap((call) =>
      missing(call).map((fault) => `${fault}, in: falconry ${call.join(' ')}`),
    );
    expect(faults).toEqual([]);
  });

  it('a misspelt one would be noticed', () => {
    expect(missing(['serve', '--prot', '1'])).toEqual(['serve --prot']);
    expect(missing(['keys', 'revert', 'x'])).toEqual(['keys revert']);
    expect(missing(['sevre'])).toEqual(['sevre']);
    expect(missing(['serve', '--no-signing', '--port', '1'])).toEqual([]);
  });
});

describe('files', () => {
  it('are all named by the README, and every link leads to a file', () => {
    for (const name of NAMES) expect(readme, name).toContain(`](${name})`);
    for (const [text, folder] of [
      [guide, 'docs/'],
      [readme, 'examples/deploy/'],
    ] as const) {
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path!);
      expect(links.length).toBeGreaterThan(10);
      for (const path of links) expect(existsSync(new URL(folder + path, ROOT)), path).toBe(true);
    }
  });

  it('and to a heading', () => {
    const headingsOf = (path: string) =>
      [...readFileSync(new URL(path, ROOT), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
    const anchors = ['docs/operating.md', 'examples/deploy/README.md'].flatMap((from) => {
      const text = readFileSync(new URL(from, ROOT), 'utf8');
      return [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(([, path, anchor]) => {
        return { to: path === '' ? from : posix.join(posix.dirname(from), path!), anchor };
      });
    });
    expect(anchors.length).toBeGreaterThan(15);
    for (const { to, anchor } of anchors) expect(headingsOf(to), to).toContain(anchor);
  });
});

describe('the configuration of one host', () => {
  interface Finding {
    readonly level: string;
    readonly check: string;
  }
  const folder = temporaryFolder();

  it('has no fault', async () => {
    const config = new URL('examples/deploy/falconry.json', ROOT).pathname;
    const own = ['--data', join(folder.path, 'data'), '--port', '0', '--metrics-port', '0'];
    // The disk of this machine may be a small one, and its user root.
    const args = ['doctor', '--config', config, ...own, '--min-free', '1MiB', '--json'];
    const { out } = await falconryHere(args, {});
    const report = JSON.parse(out);
    const bad = report.findings.filter(
      ({ level, check }: Finding) => level !== 'ok' && check !== 'user',
    );
    expect(bad).toEqual([]);
  });
});

describe('a restore', () => {
  it('goes where the unit of the service lets it write, and so does the old store', () => {
    const state = /^StateDirectory=(.*)$/m.exec(read('falconry.service'))![1];
    const { data } = JSON.parse(read('falconry.json'));
    const places = [...guide.matchAll(/(\/var\/lib\/falconry\/[\w-]+)/g)].map(([path]) => path!);
    expect(places).toContain(data);
    expect(places).toContain(`${data}-before`);
    for (const path of places) expect(path.startsWith(`/var/lib/${state}/`), path).toBe(true);
  });
});

/** The metrics of a service that is idle. */
function filledMetrics(): Metrics {
  const metrics = new Metrics(prometheus, 1);
  const depth = { states: { waiting: 0 }, quarantined: 0, oldestWaitingMs: null };
  metrics.gauge({
    depth: async () => depth as never,
    ready: async () => true,
    running: () => 0,
    freeBytes: async () => 0,
  });
  return metrics;
}

describe('alarms', () => {
  interface Rule {
    readonly alert: string;
    readonly expr: string;
  }
  const [alerts] = readYaml('alerts.yaml') as [{ groups: { name: string; rules: Rule[] }[] }];
  const rules = alerts.groups.flatMap(({ rules }) => rules);
  /** Of other programs: Prometheus itself, postgres_exporter. */
  const OTHERS = new Set(['up', 'pg_stat_activity_max_tx_duration']);

  /** Every name that `/metrics` can show. */
  async function shownNames(): Promise<Set<string>> {
    const metrics = filledMetrics();
    const names = new Set<string>();
    for (const { name, type } of await metrics.registry.getMetricsAsJSON()) {
      names.add(name);
      // Kinds are numbers or words, by the version of prom-client.
      if (/histogram/.test(String(type))) {
        for (const part of ['bucket', 'count', 'sum']) names.add(`${name}_${part}`);
      }
    }
    return names;
  }

  it('ask for metrics that there are', async () => {
    const names = await shownNames();
    const asked = rules.flatMap(({ expr }) => [
      ...expr
        .replace(/\{[^}]*\}|\[\w+\]|by \([^)]*\)/g, ' ')
        .matchAll(/\b[a-z]+(?:_[a-z0-9]+)+\b|\bup\b/g),
    ]);
    const found = new Set(asked.map(([name]) => name));
    found.delete('histogram_quantile');
    expect(found.size).toBeGreaterThan(12);
    expect([...found].filter((name) => !names.has(name) && !OTHERS.has(name))).toEqual([]);
  });

  it('each has its line in the README, which has no others', () => {
    const lines = [...readme.matchAll(/^\| `(Falconry\w+)` \|/gm)].map(([, name]) => name);
    expect(lines.length).toBeGreaterThan(15);
    expect(lines).toEqual(rules.map(({ alert }) => alert));
  });

  it('outcomes and states that they name are real', () => {
    const text = rules.map(({ expr }) => expr).join('\n');
    const outcomes = /outcome=~"([^"]+)"/.exec(text)![1]!.split('|');
    const source = readFileSync(new URL('src/middleware/tasks/runner.ts', ROOT), 'utf8');
    for (const outcome of outcomes) expect(source).toContain(`'${outcome}'`);
    for (const [, state] of text.matchAll(/falconry_tasks\{state="(\w+)"\}/g)) {
      expect(['waiting', 'quarantined']).toContain(state);
    }
  });
});

/** The rows of the table with this head, each as its cells. */
function rowsOf(text: string, head: string): string[][] {
  const [, body] = text.split(`\n${head}\n`);
  const lines = body!.split('\n\n')[0]!.split('\n').slice(1);
  return lines.map((line) => line.split('|').map((cell) => cell.trim()));
}

describe('the table of metrics', () => {
  const rows = rowsOf(guide, '| name | type | labels | what |');

  it('has every metric of the service, with its type and labels', () => {
    const { registry } = filledMetrics();
    const own = registry.getMetricsAsArray() as unknown as {
      readonly name: string;
      readonly labelNames: readonly string[];
    }[];
    const real = own
      .filter(({ name }) => /^(falconry|http)_/.test(name))
      .map((metric) => {
        const type = metric.constructor.name.toLowerCase();
        return `${metric.name} ${type} ${metric.labelNames.filter((label) => label !== 'le')}`;
      });
    const told = rows.map(([, name = '', type, labels = '']) => {
      return `${name.replaceAll('`', '')} ${type} ${labels.replaceAll('`', '').split(', ')}`;
    });
    expect(told.toSorted()).toEqual(real.toSorted());
    expect(told.length).toBeGreaterThan(15);
  });
});

describe('the table of limits', () => {
  const rows = rowsOf(guide, '| limit | option | default | response | `Retry-After` |');
  const reference = readFileSync(new URL('docs/cli.md', ROOT), 'utf8');

  it.each(rows.map(([, limit = '', ...cells]) => [limit, cells] as const))(
    '%s: option, default, status and Retry-After are real',
    (_, [option = '', fallback = '', answer = '', retryAfter = '']) => {
      const flag = option.replaceAll('`', '');
      const line = reference.split('\n').find((row) => row.startsWith(`| ${flag} |`));
      if (flag !== '–') expect(line?.split('|')[2]?.trim()).toBe(fallback);
      const [, status, code = ''] = /^(\d{3}) `([A-Z_]+)`$/.exec(answer)!;
      expect(ERROR_CODES[code as ErrorCode]?.status).toBe(Number(status));
      if (code !== 'STORAGE_QUOTA') expect(retryAfter !== '–').toBe(tellsWhen(code as ErrorCode));
    },
  );

  it('has all limits of clients', () => {
    const flags = rows.map(([, , option = '']) => option.replaceAll('`', ''));
    for (const [name, { setting }] of Object.entries<OptionRow>(CLIENT_LIMITS)) {
      if (setting === null) continue;
      expect(flags).toContain(`--${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`);
    }
  });
});

describe('settings', () => {
  it('that the files set are those of the command line', () => {
    // The file itself is named by an option of every command, which is no setting.
    const names = new Set(['FALCONRY_CONFIG']);
    for (const [name, { type }] of Object.entries(SETTINGS)) {
      names.add(envOf(name));
      if (type === 'secret') names.add(`${envOf(name)}_FILE`);
    }
    const all = [texts, ...NAMES.filter((name) => name !== 'Dockerfile').map(read)].join('\n');
    const used = new Set([...all.matchAll(/\bFALCONRY_[A-Z0-9_]+\b/g)].map(([name]) => name));
    expect(used.size).toBeGreaterThan(8);
    expect([...used].filter((name) => !names.has(name))).toEqual([]);
  });
});
