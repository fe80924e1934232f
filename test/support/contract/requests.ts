/**
 * Random requests to every operation of the document: parameters, headers and bodies that fit its
 * schemas, and such as were damaged on the way. What only a running service has (ids, keys, signed
 * urls, cursors) is named here and filled in when the request is sent, so one seed gives the same
 * requests to every service.
 */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { bytesOf, fitting, nasty } from './arbitrary.ts';
import type { Contract } from './contract.ts';
import { TRANSPORTS, type Transport } from './wire.ts';

// biome-ignore lint/suspicious/noExplicitAny: the OpenAPI document, read by path
type Json = any;

/** What a service has made up; the ids and cursors of another client are `foreign`. */
export const REAL_KINDS = [
  'key',
  'foreignKey',
  'revokedKey',
  'id',
  'foreignId',
  'removedId',
  'cursor',
  'foreignCursor',
  'expires',
  'signature',
  'upload',
  'download',
  'foreignDownload',
] as const;
export type RealKind = (typeof REAL_KINDS)[number];

/** One of these, by its number; `edit` replaces a character of it. */
export interface Real {
  readonly kind: RealKind;
  readonly turn: number;
  readonly edit?: { readonly at: number; readonly to: string };
}

export type Piece = string | Real;

export interface RequestPlan {
  readonly operation: string;
  readonly method: string;
  /** Path and query. */
  readonly target: readonly Piece[];
  readonly headers: readonly (readonly [name: string, value: Piece])[];
  readonly body: Buffer | null;
  readonly transport: Transport;
}

/** Good bodies by the id of their operation, of what no schema can make: signatures. */
export type Samples = Readonly<Record<string, readonly unknown[]>>;

/** Requests to all operations of a document, each as likely as the others. */
export function requestPlans({ document }: Contract, samples: Samples): fc.Arbitrary<RequestPlan> {
  const plans = Object.entries(document.paths as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) =>
      plansOf({ document, path, method: method.toUpperCase(), operation, samples }),
    ),
  );
  return fc.oneof(...plans);
}

interface Place {
  readonly document: Json;
  readonly path: string;
  readonly method: string;
  readonly operation: Json;
  readonly samples: Samples;
}

function plansOf(place: Place): fc.Arbitrary<RequestPlan> {
  const { method, operation } = place;
  return fc
    .record({
      operation: fc.constant(String(operation.operationId)),
      method: fc.oneof(
        { weight: 12, arbitrary: fc.constant(method) },
        fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'PURGE'),
      ),
      target: targetOf(place),
      headers: headersOf(place),
      body: bodyOf(place),
      packed: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, fc.constantFrom(...PACKINGS)),
      transport: fc.oneof(
        { weight: 16, arbitrary: fc.constant<Transport>('plain') },
        { weight: 2, arbitrary: fc.constant<Transport>('chunked') },
        fc.constantFrom(...TRANSPORTS),
      ),
    })
    .map(({ packed, ...plan }) => (packed === null || plan.body === null ? plan : packed(plan)));
}

/** What can become of a body under `Content-Encoding`. */
const withEncoding = (plan: RequestPlan, encoding: string, body: Buffer): RequestPlan => ({
  ...plan,
  headers: [...plan.headers, ['Content-Encoding', encoding]],
  body,
});
const PACKINGS: readonly ((plan: RequestPlan) => RequestPlan)[] = [
  (plan) => withEncoding(plan, 'gzip', gzipSync(plan.body!)),
  (plan) => withEncoding(plan, 'gzip', plan.body!),
  (plan) => withEncoding(plan, 'gzip', gzipSync(plan.body!).subarray(0, -5)),
  (plan) => withEncoding(plan, 'gzip', Buffer.concat([gzipSync(plan.body!), Buffer.alloc(3, 7)])),
  (plan) => withEncoding(plan, 'gzip', gzipSync(Buffer.alloc(8_000_000, '['))),
  (plan) => withEncoding(plan, 'gzip, gzip', gzipSync(gzipSync(plan.body!))),
  (plan) => withEncoding(plan, 'br', plan.body!),
  (plan) => withEncoding(plan, 'identity', plan.body!),
];

/** Longer than any limit of the service that is fuzzed. */
const OVERSIZE_BYTES = 400_000;

function bodyOf({ document, operation, samples }: Place): fc.Arbitrary<Buffer | null> {
  const nothing = fc.constant(null);
  const content: Json = operation.requestBody?.content;
  if (content === undefined) return fc.oneof(nothing, nothing, bytesOf(fc.jsonValue()));
  const shaped = fitting(document, content['application/json'].schema);
  const known = samples[operation.operationId] ?? [];
  const value = known.length > 0 ? fc.oneof(fc.constantFrom(...known), shaped) : shaped;
  const bytes = bytesOf(value);
  const oversize = value.map((each) =>
    Buffer.concat([Buffer.alloc(OVERSIZE_BYTES, ' '), Buffer.from(JSON.stringify(each) ?? '')]),
  );
  return fc.oneof(
    { weight: 40, arbitrary: bytes },
    { weight: 40, arbitrary: value.map((each) => Buffer.from(JSON.stringify(each) ?? '')) },
    { weight: 1, arbitrary: oversize },
  );
}

const real = (...kinds: RealKind[]): fc.Arbitrary<Real> =>
  fc.record({ kind: fc.constantFrom(...kinds), turn: fc.nat(1000) });

const EDITS = ['A', '0', '9', '-', '.', '/', '%', '\u00e9'];

/** With one of its characters replaced. */
const altered = (...kinds: RealKind[]): fc.Arbitrary<Real> =>
  fc
    .tuple(real(...kinds), fc.nat(500), fc.constantFrom(...EDITS))
    .map(([each, at, to]) => ({ ...each, edit: { at, to } }));

/** Mostly one of ours, sometimes one that is not for us, or none. */
const mostly = (own: RealKind, ...others: RealKind[]): fc.Arbitrary<Real> =>
  fc.oneof(
    { weight: 6, arbitrary: real(own) },
    ...(others.length > 0 ? [{ weight: 2, arbitrary: real(...others) }] : []),
    { weight: 1, arbitrary: altered(own) },
  );

/** What a running service has for a parameter, by its name. */
const REALS_OF: Readonly<Record<string, fc.Arbitrary<Real>>> = {
  id: mostly('id', 'foreignId', 'removedId'),
  process_id: mostly('id', 'foreignId', 'removedId'),
  cursor: mostly('cursor', 'foreignCursor'),
  expires: real('expires'),
  signature: mostly('signature'),
};

/** A lone surrogate has no percent encoding. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

function targetOf(place: Place): fc.Arbitrary<Piece[]> {
  const { document, path, operation } = place;
  const parameters: Json[] = operation.parameters ?? [];
  const pieceOf = ({ name, schema }: Json): fc.Arbitrary<Piece> =>
    fc.oneof(
      ...(REALS_OF[name] ? [{ weight: 12, arbitrary: REALS_OF[name] }] : []),
      { weight: 4, arbitrary: fitting(document, schema).map((value) => encoded(String(value))) },
      { weight: 2, arbitrary: nasty.map(encoded) },
    );
  const inPath = parameters.filter((each) => each.in === 'path');
  const where = fc.tuple(...inPath.map(pieceOf)).map((values) =>
    path.split(/(\{\w+\})/).flatMap((piece): Piece[] => {
      const at = inPath.findIndex(({ name }) => piece === `{${name}}`);
      return at < 0 ? [piece] : [values[at]!];
    }),
  );
  const inQuery = parameters.filter((each) => each.in === 'query');
  const pairs = inQuery.map((each) =>
    fc.option(
      pieceOf(each).map((value): Piece[] => [`${each.name}=`, value]),
      { nil: [], freq: each.required ? 20 : 2 },
    ),
  );
  const strange = fc.constantFrom(...STRANGE_QUERIES).map((text) => (text === '' ? [] : [text]));
  const query = fc
    .tuple(strange, ...pairs)
    .map((parts) =>
      parts
        .filter((part) => part.length > 0)
        .flatMap((part, i): Piece[] => [i === 0 ? '?' : '&', ...part]),
    );
  const whole = fc.tuple(where, query).map(([a, b]): Piece[] => [...a, ...b]);
  return fc.oneof(
    { weight: 18, arbitrary: whole },
    { weight: 1, arbitrary: fc.tuple(whole, fc.constantFrom(...DETOURS)).map(([t, f]) => f(t)) },
    ...signedTargets(operation.operationId),
  );
}

const STRANGE_QUERIES = [
  '',
  '',
  '',
  '',
  'x=1',
  'limit=1',
  'limit=1&limit=2',
  '%',
  '&&=&',
  'a[]=%ff',
];

/** Paths that are nearly others. */
const DETOURS: readonly ((target: Piece[]) => Piece[])[] = [
  ([first, ...rest]) => [`/${first}`, ...rest],
  ([first, ...rest]) => [String(first).toUpperCase(), ...rest],
  ([first, ...rest]) => [`${String(first).replace('/v1/', '/v1/./')}`, ...rest],
  ([first, ...rest]) => [`${String(first).replace('/v1/', '/v1/x/../')}`, ...rest],
  (target) => [...target, '/'],
  (target) => [...target, '/more'],
  (target) => [...target, '#part'],
  (target) => ['http://elsewhere.test', ...target],
];

/** Whole urls as the service gave them, or nearly. */
function signedTargets(operation: string) {
  const kinds: RealKind[] =
    operation === 'uploadTaskFile'
      ? ['upload']
      : operation === 'downloadResult'
        ? ['download', 'download', 'foreignDownload']
        : [];
  if (kinds.length === 0) return [];
  return [
    { weight: 30, arbitrary: real(...kinds).map((each): Piece[] => [each]) },
    { weight: 6, arbitrary: altered(...kinds).map((each): Piece[] => [each]) },
  ];
}

const headerSafe = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?');

const OTHER_TYPES = ['text/plain', 'application/json; charset=utf-8', ';', '', 'a/b; c=d'];

function headersOf({ document, operation }: Place): fc.Arbitrary<[string, Piece][]> {
  const often = (weight: number, good: fc.Arbitrary<Piece>, other: fc.Arbitrary<Piece>) =>
    fc.oneof({ weight, arbitrary: good }, other);
  /** Left out so many times for each time that it is there. */
  const optional = (name: string, value: fc.Arbitrary<string>, left: number) =>
    fc.oneof(
      { weight: left, arbitrary: fc.constant(null) },
      value.map((text): [string, Piece] => [name, headerSafe(text)]),
    );
  const again = fc.nat(7).map((turn) => `again-${turn}`);
  const own = ((operation.parameters ?? []) as Json[])
    .filter((each) => each.in === 'header')
    .map((each) =>
      optional(each.name, fc.oneof(again, fitting(document, each.schema).map(String), nasty), 1),
    );
  // Only some servers look at expectations, and then they say so.
  const expectations = ['100-continue', ...(document['x-general-answers'][417] ? ['more'] : [])];
  const types = Object.keys(operation.requestBody?.content ?? { 'application/json': {} });
  const keys = fc.oneof(
    real('foreignKey', 'revokedKey'),
    altered('key'),
    nasty.map(headerSafe),
    fc.constant('Bearer x'),
  );
  const key = often(16, real('key'), keys).map((value): [string, Piece] => [
    'Authorization',
    value,
  ]);
  const type = often(10, fc.constantFrom(...types), fc.constantFrom(...OTHER_TYPES));
  return fc
    .tuple(
      key,
      type.map((value): [string, Piece] => ['Content-Type', value]),
      optional('If-None-Match', fc.constantFrom('*', '"x"', 'W/"y"', ''), 5),
      optional('Accept', fc.constantFrom('*/*', 'application/json', 'text/plain;q=1', ''), 8),
      optional('Expect', fc.constantFrom(...expectations), 60),
      optional('Host', nasty, 60),
      optional('X-Forwarded-Host', nasty, 10),
      optional('Range', fc.constantFrom('bytes=0-1', 'bytes=-', 'lines=1'), 30),
      // Twice, with the same or another value.
      optional('Content-Type', fc.constantFrom(...types, ...OTHER_TYPES), 40),
      optional('Idempotency-Key', again, 40),
      fc.oneof({ weight: 60, arbitrary: fc.constant(null) }, key),
      ...own,
    )
    .map((all) => all.filter((each) => each !== null));
}
