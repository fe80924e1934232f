/** Pieces of the page: escaping, the little Markdown that descriptions use, a schema in words. */

// biome-ignore lint/suspicious/noExplicitAny: the document is JSON of our own
export type Json = Record<string, any>;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

/** Paragraphs, `code` and **bold**; descriptions use nothing else. */
export function markdown(text: string): string {
  const paragraphs = escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .split(/\n\n+/);
  return paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n');
}

/** A schema in a few words, with links to those that have a name. */
export function typeOf(schema: Json | undefined): string {
  if (schema === undefined) return 'anything';
  if (schema.$ref) {
    const name = String(schema.$ref).split('/').at(-1)!;
    return `<a href="#schema-${name}">${name}</a>`;
  }
  const choices: Json[] | undefined = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.map(typeOf).join(' or ');
  if (schema.allOf) return (schema.allOf as Json[]).map(typeOf).join(' and ');
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.enum) {
    return (schema.enum as unknown[])
      .map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`)
      .join(' or ');
  }
  const types: string[] = [schema.type ?? 'anything'].flat();
  return types.map((type) => typed(type, schema)).join(' or ');
}

function typed(type: string, schema: Json): string {
  switch (type) {
    case 'array':
      return `array of ${typeOf(schema.items)}${range(schema.minItems, schema.maxItems)}`;
    case 'integer':
    case 'number':
      return type + range(schema.minimum, schema.maximum);
    case 'string': {
      const format = schema.format ? ` (${schema.format})` : '';
      const pattern = schema.pattern ? ` <code>${escapeHtml(schema.pattern)}</code>` : '';
      const longest = schema.maxLength ? `, at most ${schema.maxLength} characters` : '';
      return `string${format}${pattern}${longest}`;
    }
    case 'object': {
      const members = Object.entries((schema.properties ?? {}) as Json);
      if (members.length === 0) {
        const values: unknown = schema.additionalProperties;
        return values ? `object of ${typeOf(values as Json)}` : 'object';
      }
      const list = members.map(
        ([name, each]) => `<code>${escapeHtml(name)}</code>: ${typeOf(each)}`,
      );
      return `object { ${list.join(', ')} }`;
    }
    default:
      return escapeHtml(type);
  }
}

function range(from: number | undefined, to: number | undefined): string {
  if (from === undefined && to === undefined) return '';
  if (to === undefined) return ` from ${from}`;
  return from === undefined ? ` up to ${to}` : ` from ${from} to ${to}`;
}
