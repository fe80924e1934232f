/** The programs that the files of examples/deploy are for, and these files for this machine. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'vitest';
import { blocksOf } from '../support/documentBlocks.ts';
import { skipLoudly } from '../support/postgres.ts';
import { findProgram } from '../support/programs.ts';
import { read } from './operatingFiles.ts';

/** Tests that need a program of a Debian package; without it they are skipped, loudly. */
export function withProgram(name: string, source: string, tests: (program: string) => void): void {
  const found = findProgram(name);
  describe(name, () => {
    if (found === undefined) skipLoudly(`${name} reads its files`, `the Debian package ${source}`);
    else tests(found);
  });
}

/** Writes a file and says where. */
export function place(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export interface Certificate {
  readonly chain: string;
  readonly key: string;
  /** Both in one file. */
  readonly both: string;
}

/** A certificate of a day, for the name in the guide. */
export function makeCertificate(folder: string): Certificate {
  const [chain, key] = [join(folder, 'chain.pem'), join(folder, 'key.pem')];
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'];
  const name = [
    '-subj',
    '/CN=falcon.example.com',
    '-addext',
    'subjectAltName=DNS:falcon.example.com',
  ];
  execFileSync('openssl', [...kind, ...name, '-keyout', key, '-out', chain], { stdio: 'pipe' });
  const both = join(folder, 'both.pem');
  execFileSync('sh', ['-c', 'cat "$0" "$1" > "$2"', chain, key, both]);
  return { chain, key, both };
}

interface Ports {
  readonly http: number;
  readonly https: number;
  /** Of the servers behind it. */
  readonly servers: readonly number[];
}

/** nginx.conf inside of a main file of its own, all in this folder. */
export function nginxFile(folder: string, ports: Ports, text = read('nginx.conf')): string {
  const { chain, key } = makeCertificate(folder);
  const site = text
    .replace('/etc/ssl/falconry/fullchain.pem', chain)
    .replace('/etc/ssl/falconry/privkey.pem', key)
    .replace('/var/log/nginx/falconry.log', join(folder, 'access.log'))
    .replaceAll('127.0.0.1:8787', `127.0.0.1:${ports.servers[0]}`)
    .replace(/listen 80;/, `listen 127.0.0.1:${ports.http};`)
    .replace(/listen 443 /, `listen 127.0.0.1:${ports.https} `)
    .replaceAll(/ *listen \[::\].*\n/g, '');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n');
  // Started by root, its workers would be somebody who may not enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const main = `${user} daemon off; pid ${join(folder, 'pid')}; events {}
http { access_log off; ${temporary}
${site} }`;
  return place(folder, 'nginx.conf', main);
}

/** haproxy.cfg with servers of this machine in place of those that a name resolves to. */
export function haproxyFile(folder: string, ports: Ports, text = read('haproxy.cfg')): string {
  const lines = ports.servers.map((port, i) => `    server serve${i} 127.0.0.1:${port}`);
  const here = text
    .replace('/run/secrets/tls_pem', makeCertificate(folder).both)
    .replace('bind :80\n', `bind 127.0.0.1:${ports.http}\n`)
    .replace('bind :443 ', `bind 127.0.0.1:${ports.https} `)
    .replace(/^ *server-template .*$/m, (line) => (lines.length > 0 ? lines.join('\n') : line));
  return place(folder, 'haproxy.cfg', here);
}

/** The block of the README that begins with this text. */
function readmeBlock(start: string): string {
  const blocks = blocksOf('examples/deploy/README.md');
  const found = blocks.find(({ source }) => source.startsWith(start));
  if (found === undefined) throw new Error(`the README has no block: ${start}`);
  return found.source;
}

/** The files of the proxies for a service below `/crypto/`, changed as the README says. */
export const BELOW_A_PATH = {
  nginx: () =>
    read('nginx.conf').replace(
      /^ {4}location \/ \{[\s\S]*^\}$/m,
      () => `${readmeBlock('location /crypto/')}}`,
    ),
  caddy: () =>
    read('Caddyfile')
      .replace(/^\trespond .*\n/m, '')
      .replace(/^\treverse_proxy .*\n/m, () => readmeBlock('handle /crypto/')),
  haproxy: () =>
    read('haproxy.cfg')
      .replace(/^ *http-request deny .*healthz.*\n/m, () => readmeBlock('http-request deny'))
      .replace(/^ *default_backend .*\n/m, '')
      .replace(/^backend falconry\n/m, (line) => line + readmeBlock('http-request replace-path')),
};

/** The Caddyfile without the certificate that it would get from outside. */
export function caddyFile(folder: string, ports: Ports, text = read('Caddyfile')): string {
  const here = text
    .replace('falcon.example.com {', `{\n\tadmin off\n}\nhttp://127.0.0.1:${ports.http} {`)
    .replaceAll('127.0.0.1:8787', `127.0.0.1:${ports.servers[0]}`);
  return place(folder, 'Caddyfile', here);
}
