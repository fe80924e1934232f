/**
 * The OpenAPI 3.1 document, from the list of routes that the app mounts and the schemas that check
 * requests.
 */
import type { z } from 'zod';
import { CodedError, ERROR_CODES, type ErrorCode } from '../../shared/errors.ts';
import { problemBody, problemType } from '../problems.ts';
import type { Route } from '../routes/route.ts';
import { problemShape } from '../schemas.ts';
import { answerHeaders, HEADERS, problemHeaders } from './headers.ts';
import { Schemas } from './jsonSchema.ts';
import { type Answer, type Operation, type Parameter, TAGS } from './operation.ts';

/** The document as JSON; nothing here reads it. */
export type Document = Readonly<Record<string, unknown>>;

/** Errors that every operation with this right can answer with. */
const PROBLEMS_OF_RIGHT: Readonly<Record<Route['right'], readonly ErrorCode[]>> = {
  key: [
    'UNAUTHENTICATED',
    'RATE_LIMITED',
    'NOT_STARTED',
    'SHUTTING_DOWN',
    'STORE_UNAVAILABLE',
    'STORAGE_FULL',
    'INTERNAL',
  ],
  url: [
    'FORBIDDEN_URL',
    'NOT_FOUND',
    'RATE_LIMITED',
    'NOT_STARTED',
    'SHUTTING_DOWN',
    'STORE_UNAVAILABLE',
    'STORAGE_FULL',
    'INTERNAL',
  ],
  open: [],
};

/** Answers outside of all operations: unknown paths, other methods, requests that are not HTTP. */
const GENERAL: Readonly<Record<string, { codes: readonly ErrorCode[]; description: string }>> = {
  NotFound: { codes: ['NOT_FOUND'], description: 'The path does not exist.' },
  MethodNotAllowed: {
    codes: ['METHOD_NOT_ALLOWED'],
    description: 'The path does not have this method; `Allow` lists those that it has.',
  },
  BrokenRequest: {
    codes: ['MALFORMED_REQUEST'],
    description: 'The request is not valid HTTP (RFC 9112).',
  },
  SlowRequest: { codes: ['REQUEST_TIMEOUT'], description: 'The headers took too long to arrive.' },
  FailedExpectation: {
    codes: ['EXPECTATION_FAILED'],
    description: '`Expect` is something other than `100-continue`.',
  },
  HeadersTooLarge: { codes: ['HEADERS_TOO_LARGE'], description: 'The headers are too large.' },
  TooManyConnections: {
    codes: ['OVERLOADED'],
    description: 'There are too many connections, in all or from this address.',
  },
};
const GENERAL_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'BrokenRequest',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'SlowRequest',
  417: 'FailedExpectation',
  431: 'HeadersTooLarge',
  503: 'TooManyConnections',
};

const INTRODUCTION = `Combines batches of Falcon signatures into one aggregate, and signs for tests.

**Keys.** \`Authorization\` is the API key and nothing else, without a scheme word. Signed URLs need
no key.

**Hex.** Digests, keys and signatures are hex with \`0x\`: either case on input, lower case on
output.

**Errors** are problem documents (RFC 9457) with a \`code\`; 429, 503, 507 and
\`IDEMPOTENCY_CONFLICT\` say in \`Retry-After\` when to try again (\`STORAGE_QUOTA\` only if
something of yours is known to expire then). An unknown path is a 404; a
method that the path does not have is a 405 with \`Allow\`. \`HEAD\` is answered like \`GET\`
without a body, \`OPTIONS\` with 204 and \`Allow\`.

**Bodies** may be packed with gzip (\`Content-Encoding\`); the limits hold for what they unpack to.

**Lists.** Pass \`next\` as \`cursor\` until it is empty, which it is on an empty page.`;

/** What the document needs besides the routes. */
export interface About {
  readonly serviceName: string;
  /** Address of the mount point. */
  readonly address: string;
  readonly version: string;
}

/** The document of these routes. */
export function openapiDocument(routes: readonly Route[], about: About): Document {
  const schemas = new Schemas();
  const shape = problemShapes();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    if (route.operation === undefined) continue;
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operationOf(route, route.operation, schemas, shape);
  }
  const answers = generalAnswers(schemas, shape);
  return {
    openapi: '3.1.1',
    info: {
      title: `falconry (${about.serviceName})`,
      version: about.version,
      description: INTRODUCTION,
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    servers: [{ url: about.address }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    'x-general-answers': Object.fromEntries(
      Object.entries(GENERAL_BY_STATUS).map(([status, name]) => [
        status,
        { $ref: `#/components/responses/${name}` },
      ]),
    ),
    components: {
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, { header }]) => [name, header]),
      ),
      securitySchemes: { apiKey: API_KEY },
      responses: answers,
      schemas: schemas.components,
    },
    paths,
  };
}

const API_KEY = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description: 'The API key is the whole value, without a scheme word such as Bearer.',
};

/** The schema of each problem, made once. */
function problemShapes(): Shape {
  const problems = new Map<ErrorCode, z.ZodType>();
  return (code) => {
    let known = problems.get(code);
    if (known === undefined) problems.set(code, (known = problemShape(code, problemType(code))));
    return known;
  };
}

/** Answers that belong to no operation. */
function generalAnswers(schemas: Schemas, shape: Shape) {
  return Object.fromEntries(
    Object.entries(GENERAL).map(([name, { codes, description }]) => {
      const [schema] = codes.map((code) => schemas.of(shape(code)));
      const examples = problemExamples(codes);
      const content = { 'application/problem+json': { schema, examples } };
      return [name, { description, headers: problemHeaders(codes), content }];
    }),
  );
}

type Shape = (code: ErrorCode) => z.ZodType;

function operationOf(route: Route, operation: Operation, schemas: Schemas, shape: Shape) {
  const { id, tag, summary, description, path, query, headers, body } = operation;
  const parameters = [
    ...parametersOf('path', path, schemas),
    ...parametersOf('query', query, schemas),
    ...parametersOf('header', headers, schemas),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: route.right === 'key' ? [{ apiKey: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        description: body.description,
        required: body.required,
        content: {
          'application/json': { schema: schemas.of(body.schema), example: body.example },
        },
      },
    }),
    responses: responses(route, operation, schemas, shape),
  };
}

function parametersOf(
  where: 'path' | 'query' | 'header',
  all: Readonly<Record<string, Parameter>> = {},
  schemas: Schemas,
) {
  return Object.entries(all).map(([name, { schema, required, ...more }]) => ({
    schema: schemas.of(schema),
    required: required === true || where === 'path',
    ...more,
    in: where,
    name,
  }));
}

function responses(route: Route, operation: Operation, schemas: Schemas, shape: Shape) {
  const all: Record<string, unknown> = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    all[status] = good(route, answer, schemas);
  }
  const codes = new Set([...operation.problems, ...PROBLEMS_OF_RIGHT[route.right]]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, those] of [...byStatus].sort(([a], [b]) => a - b)) {
    const anyOf = those.map((code) => schemas.of(shape(code)));
    const schema = anyOf.length === 1 ? anyOf[0] : { anyOf };
    all[status] = {
      description: those.map((code) => `\`${code}\`: ${ERROR_CODES[code].message}.`).join(' '),
      headers: problemHeaders(those),
      content: { 'application/problem+json': { schema, examples: problemExamples(those) } },
    };
  }
  return all;
}

function good(route: Route, answer: Answer, schemas: Schemas) {
  const { description, schema, type = 'application/json', example, events } = answer;
  const streamed = Object.entries(events ?? {}).map(([name, each]) => [name, schemas.of(each)]);
  return {
    description,
    headers: answerHeaders(route.right, answer),
    ...(schema && {
      content: {
        [type]: {
          schema: schemas.of(schema),
          ...(example !== undefined && { example }),
          ...(events && { 'x-events': Object.fromEntries(streamed) }),
        },
      },
    }),
  };
}

function problemExamples(codes: readonly ErrorCode[]) {
  return Object.fromEntries(
    codes.map((code) => {
      const id = ERROR_CODES[code].status === 500 ? { id: '0af7651916cd43dd8448eb211c80319c' } : {};
      return [code, { value: { ...problemBody(new CodedError(code)), ...id } }];
    }),
  );
}
