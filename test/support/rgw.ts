/**
 * A real S3 server, which checks signatures: the gateway of Ceph, from Debian's packages. One for
 * the whole test run, started when the first test asks for it; each test takes a prefix of its own.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AwsClient } from 'aws4fetch';
import { inject } from 'vitest';
import { freePort } from './ports.ts';
import { findProgram } from './programs.ts';
import { endProcesses } from './rgwFolder.ts';

export interface Rgw {
  readonly endpoint: string;
  readonly bucket: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Of Ceph; for its commands. */
  readonly configuration: string;
}

/** The environment by which commands reach the folder of the bucket. */
export function bucketEnv({ endpoint, bucket, credentials }: BucketParts, prefix: string) {
  return {
    FALCONRY_BLOBS: `s3://${bucket}/${prefix}`,
    FALCONRY_S3_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}

type BucketParts = Pick<Rgw, 'endpoint' | 'bucket' | 'credentials'>;

/** The name under which the gateway knows `<bucket>.<name>`. */
export const RGW_DOMAIN = 's3.test';

const COMMANDS = [
  'radosgw',
  'radosgw-admin',
  'ceph',
  'ceph-mon',
  'ceph-osd',
  'ceph-authtool',
  'monmaptool',
];

/** What is missing on this machine; null if the server can be started. */
export function missingRgw(): string | null {
  const missing = COMMANDS.filter((name) => findProgram(name) === undefined);
  if (missing.length === 0) return null;
  const packages = '(Debian: apt-get install radosgw ceph-mon ceph-osd)';
  return `no ${missing.join(', ')} on this machine ${packages}`;
}

/** Whether there is one; if not, a notice says so, and with CI=true an error. */
export function hasRgw(): boolean {
  const notice = missingRgw();
  if (notice === null) return true;
  if (process.env.CI === 'true') throw new Error(notice);
  console.log(`NOTICE: ${notice}; the tests of the S3 store are skipped.`);
  return false;
}

const TRIES = 3;
const TRY_LIMIT_MS = 90_000;
const START_LIMIT_MS = 290_000;

/** The server; whoever asks first starts it. */
export async function openRgw(): Promise<Rgw> {
  const folder = inject('rgwFolder');
  const told = join(folder, 'server.json');
  const mine = await mkdir(join(folder, 'starting')).then(
    () => true,
    () => false,
  );
  if (mine) {
    const server = await startRgw(folder).catch((error: unknown) => ({ fault: String(error) }));
    await writeFile(`${told}.new`, JSON.stringify(server));
    await rename(`${told}.new`, told);
  }
  for (const endMs = Date.now() + START_LIMIT_MS; Date.now() < endMs; await sleep(200)) {
    const text = await readFile(told, 'utf8').catch(() => null);
    if (text === null) continue;
    const server = JSON.parse(text) as Rgw | { fault: string };
    if ('fault' in server) throw new Error(`the S3 server does not start: ${server.fault}`);
    return server;
  }
  throw new Error('the S3 server does not start');
}

/** A free port can be taken by another process before it is used, so there is another try. */
export async function startRgw(folder: string): Promise<Rgw> {
  const script = fileURLToPath(new URL('rgw.sh', import.meta.url));
  const owner = await readFile(join(folder, 'owner'), 'utf8');
  const credentials = { accessKeyId: randomUUID(), secretAccessKey: randomUUID() };
  for (let tried = 1; ; tried++) {
    const own = join(folder, `ceph-${tried}`);
    const [port, monitorPort] = [await freePort(), await freePort()];
    try {
      const args = [own, port, monitorPort, ...Object.values(credentials), owner];
      await promisify(execFile)('bash', [script, ...args.map(String)], { timeout: TRY_LIMIT_MS });
      const endpoint = `http://127.0.0.1:${port}`;
      const aws = new AwsClient({ ...credentials, service: 's3', region: 'us-east-1', retries: 2 });
      const made = await aws.fetch(`${endpoint}/falconry`, { method: 'PUT' });
      if (!made.ok) throw new Error(`the bucket was not made: ${made.status}`);
      return { endpoint, bucket: 'falconry', credentials, configuration: join(own, 'ceph.conf') };
    } catch (error) {
      endProcesses(folder);
      if (tried === TRIES) throw error;
    }
  }
}

/** A name that no other test uses, for a prefix. */
export const newPrefix = (): string => `test-${randomUUID()}/`;
