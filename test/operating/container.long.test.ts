/**
 * The Dockerfile, by a validator and by rules of our own. hadolint would know more, but is not to
 * be had from npm; what it would say of this file is written here by hand.
 */
import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { HOST_ENV } from '../../scripts/hostSettings.ts';
import { envOf, SETTINGS } from '../../src/cli/lib/settings.ts';
import { ROOT, read, readYaml } from './operatingFiles.ts';

const dockerfile = read('Dockerfile');

/** The instructions, their continued lines joined. */
function instructionsOf(text: string): { word: string; rest: string }[] {
  const joined = text.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  return [...joined.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, word, rest]) => {
    return { word: word!, rest: rest! };
  });
}

/** What is wrong with an image that is made by these instructions. */
function faultsOf(text: string): string[] {
  const all = instructionsOf(text);
  const of = (word: string) => all.filter((each) => each.word === word).map(({ rest }) => rest);
  const faults = validate(text).map(({ message }) => String(message));
  for (const image of of('FROM')) {
    if (!/^[\w./-]+:\d+\.\d+\.\d+-[\w.]+-slim(@sha256:[0-9a-f]{64})?$/.test(image)) {
      faults.push(`the base is not pinned, or not slim: ${image}`);
    }
  }
  const user = of('USER').at(-1);
  if (user === undefined || !/^[1-9]\d*$/.test(user)) faults.push('it runs as root, or by a name');
  if (
    all.findIndex(({ word }) => word === 'USER') < all.findLastIndex(({ word }) => word === 'RUN')
  )
    faults.push('something is run after the user was set');
  if (of('HEALTHCHECK').length !== 1) faults.push('no health check');
  for (const rest of of('ENTRYPOINT')) {
    if (!rest.startsWith('["')) faults.push('a shell stands between signals and the process');
  }
  if (of('ENTRYPOINT').length !== 1) faults.push('no entry point');
  if (of('ADD').length + of('COPY').length > 0) faults.push('it takes files of the folder');
  for (const run of of('RUN')) {
    if (/\b(sudo|curl|wget)\b|\| *(ba)?sh\b/.test(run)) faults.push(`fetched past npm: ${run}`);
    if (/\bapt-get\b/.test(run)) faults.push('packages of the system are installed');
    for (const [, name] of run.matchAll(/ ((?:@[\w-]+\/)?[a-z][\w-]*)(?= |$)(?<= npm install .*)/g))
      if (!['npm', 'install', 'cache', 'clean'].includes(name!)) faults.push(`any ${name}`);
  }
  for (const [, name] of of('ENV')
    .join(' ')
    .matchAll(/(\w*(?:KEY|SECRET|PASSWORD|TOKEN)\w*)=/g)) {
    faults.push(`a secret in the image: ${name}`);
  }
  return faults;
}

it.each(['Dockerfile', 'falconry.service', 'falconry-serve.service', 'falconry-worker.service'])(
  '%s starts the service as it is fuzzed and measured',
  (name) => {
    for (const [variable, value] of Object.entries(HOST_ENV)) {
      // A unit quotes the whole assignment, a Dockerfile the value.
      const plain = `${variable}=${value}`;
      const quoted = name === 'Dockerfile' ? `${variable}="${value}"` : `"${plain}"`;
      const wanted = value.includes(' ') ? quoted : plain;
      expect(read(name)).toMatch(new RegExp(`[ =]${wanted}( |$)`, 'm'));
    }
  },
);

describe('the Dockerfile', () => {
  it('has no fault', () => expect(faultsOf(dockerfile)).toEqual([]));

  it.each([
    ['an instruction that there is not', /^WORKDIR/m, 'WORKDIRECTORY', /WORKDIRECTORY/],
    ['an unknown flag', '--interval', '--interva', /interva/],
    ['a base of any day', /^FROM .*$/m, 'FROM node:24-slim', /not pinned/],
    ['a large base', '-bookworm-slim', '-bookworm', /not slim/],
    ['root', 'USER 1000', 'USER root', /as root/],
    ['no user', /^USER.*\n/m, '', /as root/],
    ['no health check', /^HEALTHCHECK .*\n.*\n/m, '', /no health check/],
    ['a shell', 'ENTRYPOINT ["falconry"]', 'ENTRYPOINT falconry', /a shell/],
    ['files of the folder', /^USER/m, 'COPY . .\nUSER', /takes files/],
    ['a secret', 'ENV NODE_ENV', 'ENV API_KEY=x NODE_ENV', /API_KEY/],
    ['any version', 'hono@4', 'hono', /any hono/],
  ] as const)('would be noticed: %s', (_, from, to, message) => {
    const spoilt = dockerfile.replace(from, to);
    expect(spoilt).not.toBe(dockerfile);
    expect(faultsOf(spoilt).join('\n')).toMatch(message);
  });

  it('installs this version, and the peers in the versions that it takes', () => {
    const { version, peerDependencies } = JSON.parse(
      readFileSync(new URL('package.json', ROOT), 'utf8'),
    ) as { version: string; peerDependencies: Record<string, string> };
    expect(dockerfile).toContain(`ARG FALCONRY=falconry@${version}\n`);
    for (const [name, range] of Object.entries(peerDependencies)) {
      const [major] = /\d+/.exec(range)!;
      expect(dockerfile).toContain(` ${name}@${major} `);
    }
  });

  it('sets only settings that there are, and asks for health where compose does', () => {
    const names = new Set(Object.keys(SETTINGS).map(envOf));
    const env = instructionsOf(dockerfile).find(({ word }) => word === 'ENV')!.rest;
    const set = [...env.matchAll(/\b(FALCONRY_\w+)=(\S+)/g)];
    expect(set.length).toBe(1);
    for (const [, name] of set) expect(names).toContain(name);
    const [, port] = /127\.0\.0\.1:(\d+)\/healthz/.exec(dockerfile)!;
    expect(set[0]![2]).toBe(port);
    const [compose] = readYaml('compose.yaml') as [{ services: Record<string, unknown> }];
    expect(JSON.stringify(compose.services.serve)).toContain(`127.0.0.1:${port}/healthz`);
  });

  it('sends nothing of the folder to the builder but a tarball of the package', () => {
    const lines = read('.dockerignore').split('\n');
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
      '*',
      '!falconry-*.tgz',
    ]);
  });
});
