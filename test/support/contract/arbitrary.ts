/** Values for the schemas of the document: such as fit, and such as nearly do. */
import fc from 'fast-check';

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema, read by its keywords
type Json = any;

/** Values that fit a schema of the document. */
export function fitting(document: Json, schema: Json): fc.Arbitrary<unknown> {
  if (schema.$ref) {
    const target = document.components.schemas[schema.$ref.split('/').at(-1)];
    return fitting(document, target);
  }
  const choices: Json[] | undefined = schema.oneOf ?? schema.anyOf;
  if (choices) return fc.oneof(...choices.map((each) => fitting(document, each)));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const examples = schema.example === undefined ? [] : [fc.constant(schema.example)];
  return fc.oneof(...examples, ofType(document, schema));
}

function ofType(document: Json, schema: Json): fc.Arbitrary<unknown> {
  const type: string = [schema.type].flat()[0];
  switch (type) {
    case 'object': {
      const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>);
      const model = Object.fromEntries(
        properties.map(([name, each]) => [name, fitting(document, each)]),
      );
      const required = (schema.required ?? []) as string[];
      const known = fc.record(model, { requiredKeys: required });
      if (schema.additionalProperties === false) return known;
      const more = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue(), { maxKeys: 2 });
      return fc.tuple(more, known).map(([extra, value]) => ({ ...extra, ...value }));
    }
    case 'array': {
      const { minItems: minLength = 0, maxItems = 4 } = schema;
      const maxLength = Math.max(minLength, Math.min(maxItems, 4));
      return fc.array(fitting(document, schema.items), { minLength, maxLength });
    }
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1_000_000 });
    case 'boolean':
      return fc.boolean();
    case 'string': {
      const { pattern, maxLength = 64 } = schema;
      if (pattern === undefined) return fc.string({ maxLength: Math.min(maxLength, 64) });
      return fc
        .stringMatching(new RegExp(pattern), { size: 'small' })
        .filter((text) => text.length <= maxLength);
    }
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

/** What people put where something else is expected. */
export const nasty: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    'null',
    '../..',
    '.',
    '..',
    '%00',
    "' OR 1=1 --",
    '0x',
    '0xzz',
    '9'.repeat(40),
    'a'.repeat(3000),
    '\u202e\u0000',
    '__proto__',
  ),
);

/** The value with one node somewhere in it replaced by any JSON, or taken away. */
export function mutated(value: unknown): fc.Arbitrary<unknown> {
  const places: (readonly string[])[] = [];
  const visit = (node: unknown, path: readonly string[]) => {
    places.push(path);
    if (typeof node !== 'object' || node === null) return;
    for (const [name, each] of Object.entries(node)) visit(each, [...path, name]);
  };
  visit(value, []);
  const other = fc.oneof(fc.jsonValue({ maxDepth: 3 }), nasty, fc.constant(undefined));
  return fc.tuple(fc.constantFrom(...places), other).map(([path, replaced]) => {
    if (path.length === 0) return replaced;
    const copy: Json = structuredClone(value);
    let node = copy;
    for (const name of path.slice(0, -1)) node = node[name];
    node[path.at(-1)!] = replaced;
    return copy;
  });
}

/** Bytes of a JSON text, and what can become of them on the way. */
export function bytesOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> {
  const text = value.map((each) => Buffer.from(JSON.stringify(each) ?? ''));
  const at = fc.nat(100_000);
  const cut = (bytes: Buffer, place: number) => place % (bytes.length + 1);
  const insert = (bytes: Buffer, place: number, more: Buffer) => {
    const index = cut(bytes, place);
    return Buffer.concat([bytes.subarray(0, index), more, bytes.subarray(index)]);
  };
  return fc.oneof(
    { weight: 8, arbitrary: text },
    {
      weight: 8,
      arbitrary: value.chain(mutated).map((each) => Buffer.from(JSON.stringify(each) ?? '')),
    },
    // Ends early; one byte is another; not UTF-8; a name twice; deep; blanks; noise; nothing.
    fc.tuple(text, at).map(([bytes, place]) => bytes.subarray(0, cut(bytes, place))),
    fc.tuple(text, at, fc.nat(255)).map(([bytes, place, byte]) => {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[place % copy.length] = byte;
      return copy;
    }),
    fc
      .tuple(
        text,
        at,
        fc.constantFrom([0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf]),
      )
      .map(([bytes, place, more]) => insert(bytes, place, Buffer.from(more))),
    text.map((bytes) => Buffer.from(String(bytes).replace(/^\{("[^"]*":)/, '{$10,$1'))),
    fc.nat(4000).map((depth) => Buffer.from('[{"data":'.repeat(depth))),
    fc.nat(20_000).map((depth) => Buffer.from('['.repeat(depth) + ']'.repeat(depth))),
    text.map((bytes) => Buffer.concat([Buffer.alloc(40_000, ' '), bytes, Buffer.alloc(9, '\n')])),
    fc.uint8Array({ maxLength: 300 }).map((noise) => Buffer.from(noise)),
    fc.constant(Buffer.alloc(0)),
  );
}
