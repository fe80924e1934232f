/** The smallest request with a fault, as a command line without keys and signatures. */
import { gzipSync } from 'node:zlib';
import type { Piece, Real, RequestPlan } from '../../test/support/contract/requests.ts';
import { framing } from '../../test/support/contract/wire.ts';

/** More tries are not worth their time. */
const MAX_TRIES = 80;

/**
 * Leaves out of a request, one after the other, what its fault does not need.
 *
 * @returns null if the request, sent again, has no fault
 */
export async function reduced(
  plan: RequestPlan,
  isFaulty: (plan: RequestPlan) => Promise<boolean>,
): Promise<RequestPlan | null> {
  if (!(await isFaulty(plan))) return null;
  let tries = 0;
  for (let smaller = true; smaller; ) {
    smaller = false;
    for (const candidate of smallerPlans(plan)) {
      if (tries++ === MAX_TRIES) return plan;
      if (!(await isFaulty(candidate))) continue;
      plan = candidate;
      smaller = true;
      break;
    }
  }
  return plan;
}

/** Requests with one thing less, the largest steps first. */
function* smallerPlans(plan: RequestPlan): Generator<RequestPlan> {
  const { transport, headers, body, target } = plan;
  if (transport !== 'plain') yield { ...plan, transport: 'plain' };
  if (body !== null) {
    yield { ...plan, body: null };
    if (body.length > 1) {
      const half = body.length >> 1;
      yield { ...plan, body: body.subarray(0, half) };
      yield { ...plan, body: body.subarray(half) };
    }
  }
  for (const i of headers.keys()) yield { ...plan, headers: headers.toSpliced(i, 1) };
  const query = target.findIndex((piece) => typeof piece === 'string' && /^[?&]/.test(piece));
  if (query >= 0) yield { ...plan, target: target.slice(0, query) };
}

/** The text of a request for `sh`; what is secret stands in variables that are explained. */
export function curlOf(plan: RequestPlan, port: number): string {
  const notes = new Map<string, string>();
  const quoted = (piece: Piece): string =>
    typeof piece === 'string' ? quote(piece) : `"$${variable(piece, notes)}"`;
  const { method, target, headers, body, transport } = plan;
  const words = ['curl -i --globoff --path-as-is'];
  words.push(method === 'HEAD' ? '--head' : `-X ${method}`);
  for (const [name, value] of headers) {
    // With a semicolon, curl sends a header without a value.
    words.push(value === '' ? `-H '${name};'` : `-H ${quote(`${name}: `)}${quoted(value)}`);
  }
  if (transport !== 'plain' && transport !== 'twice') {
    for (const line of framing(plan)) words.push(`-H '${line}'`);
  }
  if (transport !== 'plain')
    notes.set('transport', `# sent as "${transport}" of test/support/contract/wire.ts`);
  let before = '';
  if (body !== null) {
    const printable = body.length <= 1000 && /^[\x20-\x7e]*$/.test(body.toString('latin1'));
    if (printable) words.push(`--data-binary ${quote(body.toString('latin1'))}`);
    else {
      before = `echo ${gzipSync(body).toString('base64')} | base64 -d | gunzip | `;
      words.push('--data-binary @-');
    }
  }
  const absolute = typeof target[0] === 'string' && target[0].startsWith('http');
  if (absolute) words.push(`--request-target ${target.map(quoted).join('')}`);
  const path = absolute ? '/' : '';
  const url = `http://127.0.0.1:${port}${path}`;
  words.push(absolute ? quote(url) : quote(url) + target.map(quoted).join(''));
  return [...notes.values(), before + words.join(' ')].join('\n');
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const MEANINGS: Readonly<Record<Real['kind'], string>> = {
  key: 'an API key',
  foreignKey: 'an API key of another client',
  revokedKey: 'an API key that was revoked',
  id: 'the id of a task',
  foreignId: 'the id of a task of another client',
  removedId: 'the id of a task that was removed',
  cursor: 'a cursor of GET /v1/svc/tasks',
  foreignCursor: 'a cursor of another client',
  expires: '"expires" of a signed url',
  signature: '"signature" of a signed url',
  upload: 'path and query of the url of a ticket',
  download: 'path and query of a result',
  foreignDownload: 'path and query of the result of another client',
};

function variable({ kind, edit }: Real, notes: Map<string, string>): string {
  const base = kind.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const name = edit === undefined ? base : `${base}_EDITED`;
  const change = edit === undefined ? '' : `, character ${edit.at} (modulo its length): ${edit.to}`;
  notes.set(name, `# $${name}: ${MEANINGS[kind]}${change}`);
  return name;
}
