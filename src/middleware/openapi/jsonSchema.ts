/**
 * Converts zod schemas to JSON Schema as OpenAPI 3.1 uses it: a schema with an `id` in its metadata
 * becomes a component, any other is inlined where it is used.
 */
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** The schemas of one document. */
export class Schemas {
  /** Every component that `of` has met, by its id. */
  readonly components: Record<string, JsonSchema> = {};

  /** The JSON Schema of a shape; for a component, the reference to it. */
  of(shape: z.ZodType): JsonSchema {
    // Zod writes the outermost shape out, and only those inside of it as references.
    const outer = z.toJSONSchema(z.object({ shape }), {
      target: 'draft-2020-12',
      io: 'input',
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema instanceof z.ZodNumber) dropImpliedBounds(zodSchema, jsonSchema);
        if (zodSchema instanceof z.ZodNullable) joinNull(jsonSchema);
        if (zodSchema instanceof z.ZodLiteral) listConstant(jsonSchema);
        if (zodSchema instanceof z.ZodDiscriminatedUnion) {
          jsonSchema.discriminator = discriminator(zodSchema);
        }
      },
    });
    for (const [id, schema] of Object.entries(outer.$defs ?? {})) {
      this.components[id] ??= inComponents(schema) as JsonSchema;
    }
    return inComponents(outer.properties!.shape) as JsonSchema;
  }
}

/** Zod writes the bounds of JavaScript's exact integers to every integer. */
function dropImpliedBounds(shape: z.ZodNumber, schema: JsonSchema): void {
  const checks = (shape.def.checks ?? []).map((check) => check._zod.def.check);
  if (!checks.includes('greater_than')) delete schema.minimum;
  if (!checks.includes('less_than')) delete schema.maximum;
}

/** `{ type: ['object', 'null'], … }` instead of a choice of two. */
function joinNull(schema: JsonSchema): void {
  const [inner] = schema.anyOf as JsonSchema[];
  if (typeof inner?.type !== 'string') return;
  delete schema.anyOf;
  Object.assign(schema, inner, { type: [inner.type, 'null'] });
}

/** A list of one value, which more readers of documents understand than `const`. */
function listConstant(schema: JsonSchema): void {
  if (!('const' in schema)) return;
  schema.enum = [schema.const];
  delete schema.const;
}

/** Which component each value of the distinguishing property stands for. */
function discriminator({ def }: z.ZodDiscriminatedUnion) {
  const mapping: Record<string, string> = {};
  for (const option of def.options as z.ZodObject[]) {
    const id = z.globalRegistry.get(option)?.id;
    const values = option.shape[def.discriminator]!._zod.values ?? [];
    for (const value of values) mapping[String(value)] = `#/components/schemas/${id}`;
  }
  return { propertyName: def.discriminator, mapping };
}

/** The same with references into the document's components. */
function inComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inComponents);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/\$defs\//, '#/components/schemas/')
        : inComponents(inner),
    ]),
  );
}
