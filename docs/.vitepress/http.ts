/**
 * The page of the HTTP interface, from the OpenAPI document that the service serves. It is Markdown
 * like every other page, so the search finds it, and its blocks of code have buttons to copy them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { falconService } from '../../src/middleware/index.ts';

const METHODS = ['get', 'post', 'put', 'delete'] as const;
type Method = (typeof METHODS)[number];

/** Longest string of an example; keys and signatures are longer. */
const LONGEST = 160;

interface Schema {
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Media {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, Media>>;

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >;
}

export interface OpenApi {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>;
}

/** The document, as a service with the default options serves it. */
export async function readOpenApi(): Promise<OpenApi> {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-openapi-'));
  try {
    const { app } = falconService({ dataDirectory: folder });
    return withoutReferences(await (await app.request('/v1/openapi.json')).json());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The document with its shared parameters and responses where operations refer to them. */
function withoutReferences(document: unknown): OpenApi {
  const { components } = document as { components: Record<string, Record<string, unknown>> };
  const resolve = (_: string, value: { $ref?: string } | null): unknown => {
    const found = /^#\/components\/(parameters|responses)\/(\w+)$/.exec(value?.$ref ?? '');
    return found === null ? value : components[found[1]!]![found[2]!];
  };
  return JSON.parse(JSON.stringify(document, resolve));
}

/** A cell of a table, on one line. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map(cell).join(' | ')} |`)
    .join('\n');

const shorten = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > LONGEST ? `${value.slice(0, 20)}…` : value;

/** The first example of some content, as a block of code. */
function exampleOf(content: Content = {}): string | undefined {
  const [media] = Object.values(content);
  const example = media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
  if (example === undefined) return undefined;
  if (typeof example === 'string') return `\`\`\`text\n${example.trimEnd()}\n\`\`\``;
  return `\`\`\`json\n${JSON.stringify(example, shorten, 2)}\n\`\`\``;
}

function limits({ default: initial, enum: values, minimum, maximum }: Schema): string {
  const parts = [
    ...(values === undefined ? [] : [values.map((value) => `\`${value}\``).join(', ')]),
    ...(minimum === undefined || maximum === undefined ? [] : [`${minimum} to ${maximum}`]),
    ...(initial === undefined ? [] : [`default ${initial}`]),
  ];
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

/** A call by curl. An `Idempotency-Key` is a new one each time. */
function callOf(path: string, method: Method, operation: Operation): string {
  const { parameters = [], requestBody, security = [] } = operation;
  const isSigned = parameters.some(({ name }) => name === 'signature');
  const names: Readonly<Record<string, string>> = { process_id: '$ID', id: '$ID' };
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? `$${name}`);
  const url = isSigned ? '"$URL"' : `"https://falcon.example${place}"`;
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${url}`,
    ...(security.length > 0 ? ['-H "Authorization: $FALCONRY_KEY"'] : []),
    ...(parameters.some(({ name }) => name === 'Idempotency-Key')
      ? ['-H "Idempotency-Key: $(uuidgen)"']
      : []),
    ...(requestBody === undefined
      ? []
      : ['-H "Content-Type: application/json"', '--data-binary @request.json']),
  ];
  return `\`\`\`sh\n${lines.join(' \\\n  ')}\n\`\`\``;
}

function describeOperation(path: string, method: Method, operation: Operation): string[] {
  const { summary, description = '', parameters = [], requestBody, responses } = operation;
  const request = exampleOf(requestBody?.content);
  const [status = '', success] = Object.entries(responses)[0] ?? [];
  const response = exampleOf(success?.content);
  const types = Object.keys(requestBody?.content ?? {}).map((type) => `\`${type}\``);
  return [
    `### ${summary}`,
    `\`${method.toUpperCase()} ${path}\``,
    description,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['parameter', 'in', 'meaning'],
            parameters.map(({ name, in: place, required, description: text = '', schema }) => [
              `\`${name}\``,
              required ? `${place}, required` : place,
              `${text}${limits(schema)}`,
            ]),
          ),
        ]),
    callOf(path, method, operation),
    ...(request === undefined ? [] : [`The body (${types.join(' or ')}):`, request]),
    ...(response === undefined ? [] : [`The response, ${status}:`, response]),
    table(
      ['status', 'meaning'],
      Object.entries(responses).map(([code, { description: text }]) => [code, text]),
    ),
  ];
}

const HEAD = `# HTTP interface

Every request and response, from the OpenAPI 3.1 document that the service serves at
\`/v1/openapi.json\`. [Requests and options](requests.md) explains the life of a task, limits and
error codes; [the client](../src/client/README.md) makes these calls for you.`;

/** The page, as Markdown. */
export function httpPage({ info, paths }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
  const groups = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const parts = groups.flatMap((group) => [
    `## ${group}`,
    ...operations
      .filter(({ operation }) => operation.tags.includes(group))
      .flatMap(({ path, method, operation }) => describeOperation(path, method, operation)),
  ]);
  return `${[HEAD, info.description, ...parts].join('\n\n')}\n`;
}
