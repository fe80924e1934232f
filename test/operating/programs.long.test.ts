/**
 * The files of examples/deploy, read by the programs that they are for. Names of the guide's own
 * machine become those of this one; nothing else of a file changes.
 */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../cli/cli.ts';
import { NAMES, read } from './operatingFiles.ts';
import { haproxyFile, nginxFile, place, withProgram } from './programs.ts';

const folder = temporaryFolder();

/** Nothing listens there: files are read only. */
const PORTS = { http: 30_080, https: 30_443, servers: [8787] };

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function run(program: string, ...args: string[]): Ended {
  const env = { ...process.env, HOME: folder.path, XDG_DATA_HOME: folder.path };
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  return { code: status, output: stdout + stderr };
}

withProgram('systemd-analyze', 'systemd', (program) => {
  const units = NAMES.filter((name) => /\.service$/.test(name));
  /** The programs of the guide are not on this machine. */
  const here = (text: string) =>
    text.replaceAll('/opt/falconry/node_modules/.bin/falconry', '/bin/true');
  const verify = (unit: string) => run(program, 'verify', '--man=no', unit);

  it('finds no fault in any unit', () => {
    expect(units.length).toBe(3);
    const paths = units.map((name) => place(folder.path, `units/${name}`, here(read(name))));
    for (const path of paths) expect(verify(path)).toEqual({ code: 0, output: '' });
  });

  it.each([
    ['a misspelt setting', 'OOMPolicy=continue', 'OOMPolice=continue'],
    ['a value that there is not', 'OOMPolicy=continue', 'OOMPolicy=perhaps'],
    ['a program that there is not', 'ExecStart=/', 'ExecStart=/nowhere/'],
  ])('would find %s', (_, good, bad) => {
    const text = here(read('falconry.service'));
    expect(text).toContain(good);
    expect(
      verify(place(folder.path, 'spoilt/falconry.service', text.replace(good, bad))).output,
    ).not.toBe('');
  });
});

withProgram('nginx', 'nginx', (program) => {
  const check = (text: string) =>
    run(program, '-t', '-q', '-e', 'stderr', '-c', nginxFile(folder.path, PORTS, text));

  it('takes its file', () => expect(check(read('nginx.conf'))).toEqual({ code: 0, output: '' }));

  it('would refuse another one', () => {
    const bad = read('nginx.conf').replace('proxy_request_buffering', 'proxy_request_bufering');
    expect(check(bad).output).toContain('proxy_request_bufering');
  });
});

withProgram('caddy', 'caddy', (program) => {
  const check = (text: string) =>
    run(
      program,
      'validate',
      '--adapter',
      'caddyfile',
      '--config',
      place(folder.path, 'Caddyfile', text),
    );

  it('takes its file', () => {
    const { code, output } = check(read('Caddyfile'));
    expect([code, output]).toEqual([0, expect.stringContaining('Valid configuration')]);
  });

  it('would refuse another one', () => {
    expect(check(read('Caddyfile').replace('max_size', 'max_syze')).code).toBe(1);
  });
});

withProgram('haproxy', 'haproxy', (program) => {
  // As it stands, with the servers that a name resolves to.
  const ports = { ...PORTS, servers: [] };
  const check = (text: string) => run(program, '-c', '-f', haproxyFile(folder.path, ports, text));

  it('takes its file, without a warning', () => {
    const { code, output } = check(read('haproxy.cfg'));
    expect([code, output]).toEqual([0, expect.not.stringMatching(/WARNING|ALERT/)]);
  });

  it('would refuse another one', () => {
    expect(check(read('haproxy.cfg').replace('option httpchk', 'option httpcheck')).code).toBe(1);
  });
});

withProgram('promtool', 'prometheus', (program) => {
  it('takes rules and configuration', () => {
    place(folder.path, 'prometheus/alerts.yaml', read('alerts.yaml'));
    const path = place(folder.path, 'prometheus/prometheus.yaml', read('prometheus.yaml'));
    const { code, output } = run(program, 'check', 'config', path);
    expect([code, output]).toEqual([0, expect.stringMatching(/\d+ rules found/)]);
  });

  it('would refuse a rule that it cannot read', () => {
    const bad = read('alerts.yaml').replace('falconry_ready == 0', 'falconry_ready === 0');
    expect(run(program, 'check', 'rules', place(folder.path, 'bad.yaml', bad)).code).not.toBe(0);
  });
});
