/**
 * The OpenAPI document as a judge of answers: for each one the operation it belongs to, and
 * everything in which it is not what the document says.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, read by path
type Json = any;

export interface Seen {
  readonly method: string;
  /** With or without the mount path, without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Null when it was not read (a stream). */
  readonly body: string | null;
  /** Straight off a socket: the server may have refused before there was a request. */
  readonly raw?: boolean;
}

export interface Verdict {
  /** `operationId status`, or `general status` for answers that belong to no operation. */
  readonly key: string;
  readonly faults: readonly string[];
}

/** The code of a problem document, or null. */
export function problemCode({ headers, body }: Seen): string | null {
  if (headers.get('content-type') !== 'application/problem+json' || !body) return null;
  return /"code":"([A-Z_]+)"/.exec(body)?.[1] ?? null;
}

interface Template {
  readonly pattern: RegExp;
  readonly literals: number;
  readonly item: Json;
}

const BASE = 'https://contract.test/schemas/';
const REF = '#/components/schemas/';

/** Script, style and the like of the page: parts of it, without operations of their own. */
const PAGE_PART = /\/v1\/ui\//;

export class Contract {
  readonly document: Json;
  readonly #ajv: Ajv2020;
  readonly #templates: readonly Template[];
  readonly #compiled = new Map<unknown, ValidateFunction>();

  constructor(document: unknown) {
    this.document = withoutReferences(document);
    this.#ajv = makeAjv();
    for (const [name, schema] of Object.entries(this.document.components.schemas)) {
      this.#ajv.addSchema(rebased(schema) as object, BASE + name);
    }
    this.#templates = Object.entries(this.document.paths).map(([path, item]) => ({
      pattern: new RegExp(
        `${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`.replace(/^/, '^'),
      ),
      literals: path.replaceAll(/\{\w+\}/g, '').length,
      item,
    }));
  }

  /** Every documented `operationId status`. */
  get documented(): string[] {
    return Object.values(this.document.paths as Record<string, Json>).flatMap((item) =>
      Object.values(item as Record<string, Json>).flatMap((operation) =>
        Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
      ),
    );
  }

  /** Every problem code that an answer can have. */
  get problemCodes(): string[] {
    return Object.keys(this.document.components.schemas)
      .filter((name) => name.startsWith('Problem_'))
      .map((name) => name.slice('Problem_'.length));
  }

  /** The path item of a path, wherever the service is mounted. */
  itemOf(path: string): Json | null {
    for (let at = path.indexOf('/v1/'); at >= 0; at = path.indexOf('/v1/', at + 1)) {
      const found = this.#templates
        .filter(({ pattern }) => pattern.test(path.slice(at)))
        .sort((a, b) => b.literals - a.literals)[0];
      if (found) return found.item;
    }
    return null;
  }

  judge(seen: Seen): Verdict {
    const item = this.itemOf(seen.path);
    const method = seen.method === 'HEAD' ? 'get' : seen.method.toLowerCase();
    const operation = item?.[method];
    if (operation === undefined) return this.#judgeGeneral(seen, item);
    const key = `${operation.operationId} ${seen.status}`;
    const response = operation.responses[seen.status];
    const faults =
      response === undefined
        ? [`the status is not documented: ${seen.body}`]
        : this.#faultsOf(seen, response);
    if (faults.length > 0 && seen.raw) {
      // What the server itself refused belongs to no operation.
      const general = this.#judgeGeneral(seen, item);
      if (general.faults.length === 0) return general;
    }
    return { key, faults };
  }

  #judgeGeneral(seen: Seen, item: Json | null): Verdict {
    const { status, headers } = seen;
    const key = `general ${status}`;
    const page = PAGE_PART.test(seen.path);
    // The document leaves out the files of the page, which can be read.
    const known = item ?? (page ? { get: {} } : null);
    if (seen.method === 'OPTIONS' && status === 204 && known !== null) {
      const preflight = headers.has('access-control-allow-methods');
      return { key, faults: preflight ? [] : this.#allowFaults(headers, known) };
    }
    if (page && [200, 304, 308].includes(status)) return { key, faults: [] };
    const expected = item === null ? (page ? [404, 405] : [404]) : [405];
    // Of the server itself, before there was a request: 400, 408 and the like.
    const general = Object.keys(this.document['x-general-answers']).map(Number);
    const early = general.filter((each) => each !== 404 && each !== 405);
    if (!expected.includes(status) && !(seen.raw && early.includes(status))) {
      return { key, faults: [`expected ${expected}: ${seen.body}`] };
    }
    const { $ref } = this.document['x-general-answers'][status];
    const response = this.document.components.responses[$ref.split('/').at(-1)];
    const faults = this.#faultsOf(seen, response);
    if (status === 405 && item !== null) faults.push(...this.#allowFaults(headers, item));
    return { key, faults };
  }

  #allowFaults(headers: Headers, item: Json): string[] {
    const methods = Object.keys(item).map((method) => method.toUpperCase());
    if (methods.includes('GET')) methods.push('HEAD');
    methods.push('OPTIONS');
    const allowed = (headers.get('allow') ?? '').split(', ');
    const same = allowed.toSorted().join() === methods.toSorted().join();
    return same ? [] : [`Allow is ${allowed}, the document has ${methods}`];
  }

  #faultsOf(seen: Seen, response: Json): string[] {
    const faults: string[] = [];
    for (const [name, ref] of Object.entries((response.headers ?? {}) as Record<string, Json>)) {
      faults.push(...this.#headerFaults(seen, name, ref));
    }
    const type = seen.headers.get('content-type');
    const contents = Object.entries((response.content ?? {}) as Record<string, Json>);
    if (contents.length === 0) {
      if (type !== null) faults.push(`a content type without content: ${type}`);
      if (seen.body) faults.push(`a body where none is documented: ${seen.body.slice(0, 200)}`);
      return faults;
    }
    const [known, content] = contents[0]!;
    // Of a text, the document leaves the charset out.
    const same = /^text\//.test(known) ? type?.replace('; charset=utf-8', '') : type;
    if (same !== known) faults.push(`content type ${type} instead of ${known}`);
    if (seen.method === 'HEAD') {
      if (seen.body) faults.push('a body in an answer to HEAD');
      return faults;
    }
    if (seen.body === null) return faults;
    if (!/json$/.test(known)) {
      if (seen.body === '') faults.push('no body');
      return faults;
    }
    return [...faults, ...this.valueFaults(seen.body, content.schema)];
  }

  /** What is wrong with a JSON text by a schema of the document. */
  valueFaults(text: string, schema: Json): string[] {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return [`the body is not JSON: ${text.slice(0, 200)}`];
    }
    return this.#schemaFaults(value, schema, text.slice(0, 400));
  }

  #headerFaults({ headers }: Seen, name: string, { $ref }: Json): string[] {
    const header = this.document.components.headers[$ref.split('/').at(-1)];
    const text = headers.get(name);
    if (text === null) return header.required ? [`the header ${name} is missing`] : [];
    const numeric = header.schema.type === 'integer' && /^\d+$/.test(text);
    return this.#schemaFaults(numeric ? Number(text) : text, header.schema, `${name}: ${text}`);
  }

  #schemaFaults(value: unknown, schema: Json, shown: string): string[] {
    const validate = this.validator(schema);
    if (validate(value)) return [];
    const errors = (validate.errors ?? []).slice(0, 6).map((e) => `${e.instancePath} ${e.message}`);
    return [`${errors.join('; ')} in ${shown}`];
  }

  /** The compiled form of a schema that stands anywhere in the document. */
  validator(schema: Json): ValidateFunction {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(rebased(schema) as object);
      this.#compiled.set(schema, validate);
    }
    return validate;
  }
}

/** A copy whose operations hold their parameters and responses instead of references to them. */
function withoutReferences(document: unknown): Json {
  const copy: Json = structuredClone(document);
  const target = ({ $ref, ...own }: Json): Json =>
    $ref === undefined ? own : copy.components[$ref.split('/')[2]][$ref.split('/')[3]];
  for (const item of Object.values(copy.paths as Json)) {
    for (const operation of Object.values(item as Json) as Json[]) {
      operation.parameters = operation.parameters?.map(target);
      for (const [status, response] of Object.entries(operation.responses as Json)) {
        operation.responses[status] = target(response);
      }
    }
  }
  return copy;
}

/** Strict: a keyword that means nothing is an error. OpenAPI's own annotations are told. */
export function makeAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
  addFormats.default(ajv);
  ajv.addVocabulary(['example', 'discriminator']);
  return ajv;
}

/** The schema with its references turned to the ids under which ajv knows the components. */
export function rebased(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"${REF}`, `"${BASE}`));
}
