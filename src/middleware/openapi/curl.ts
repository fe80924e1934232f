/** Each operation as a command line to copy, from the examples of the document. */
import type { Json } from './docsText.ts';

/** The longest body that is part of the command; longer ones are files. */
const MAX_INLINE = 120;
const MAX_STRING = 72;

/** The value with its long strings cut, for reading. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length > MAX_STRING && value.startsWith('0x')
      ? `${value.slice(0, 26)}… (${(value.length - 2) / 2} bytes)`
      : value;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each)]));
}

/** `curl` for one operation; the key comes from the environment. */
export function curlOf(
  { method, path, operation }: { method: string; path: string; operation: Json },
  doc: Json,
): string {
  const parameters: Json[] = operation.parameters ?? [];
  const query = parameters
    .filter((each) => each.in === 'query' && each.example !== undefined)
    .map((each) => `${each.name}=${encodeURIComponent(each.example)}`);
  const filled = parameters
    .filter((each) => each.in === 'path')
    .reduce((url, each) => url.replace(`{${each.name}}`, String(each.example)), path);
  const url = doc.servers[0].url + filled + (query.length > 0 ? `?${query.join('&')}` : '');
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`];
  if (operation.security.length > 0) lines.push('-H "Authorization: $FALCONRY_API_KEY"');
  for (const each of parameters) {
    if (each.in === 'header') lines.push(`-H '${each.name}: ${each.example}'`);
  }
  const example: unknown = operation.requestBody?.content['application/json']?.example;
  if (example !== undefined) {
    const text = JSON.stringify(example);
    const short = text.length <= MAX_INLINE;
    lines.push("-H 'Content-Type: application/json'");
    if (short) lines.push(`-d '${text}'`);
    else lines.push(method === 'PUT' ? '-T tasks.json' : '-d @body.json');
  }
  if (operation.responses['302']) lines.push('-L');
  if (operation.operationId === 'followTask') lines.push('-N');
  return lines.join(' \\\n  ');
}
