/**
 * How long functions are and how wide lines are: for the rules of writing in architecture.test.ts.
 */
import { parseAst } from 'rolldown/parseAst';

export interface MeasuredFunction {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** Lines from its first to its last, comments and blank lines included. */
  readonly lines: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/**
 * Every function of a module with a body, nested ones too. The body of a `describe` is none: it is
 * a list of tests.
 *
 * @throws Error if the text is not TypeScript
 */
export function functionsOf(path: string, text: string): MeasuredFunction[] {
  const source = plainTypeScript(text);
  const program = parseAst(source, { lang: 'ts', sourceType: 'module' }, path);
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineOf = (offset: number) => lineStarts.findLastIndex((start) => start <= offset) + 1;
  const found: MeasuredFunction[] = [];
  const visit = (node: Node, name: string): void => {
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) {
      const line = lineOf(node.start);
      found.push({ name, line, lines: lineOf(node.end) - line + 1 });
    }
    const isDescribe =
      node.type === 'CallExpression' && /^describe\b/.test(sliceOf(node.callee, source));
    for (const [field, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (!isNode(child)) continue;
        if (isDescribe && field === 'arguments' && /^(Arrow)?Function/.test(child.type)) {
          // What is in it counts, it itself does not.
          visit(child.body as Node, name);
        } else visit(child, nameOf(child, source) ?? name);
      }
    }
  };
  visit(program as unknown as Node, '');
  return found;
}

const sliceOf = (node: unknown, source: string): string =>
  isNode(node) ? source.slice(node.start, node.end) : '';

/** What a function below this node is called. */
function nameOf(node: Node, source: string): string | undefined {
  const named = node.id ?? node.key;
  return isNode(named) ? sliceOf(named, source) : undefined;
}

/**
 * AssemblyScript has decorators on functions, which are blanked out; everything else is TypeScript.
 */
const plainTypeScript = (text: string): string =>
  text.replaceAll(/^@\w+(\([^)\n]*\))?/gm, (decorator) => ' '.repeat(decorator.length));

/**
 * Lines of a source file or document that are wider than this many columns, by number from 1.
 * Names of tests and other strings of the tests count nothing: the formatter cannot break them.
 */
export function wideLines(path: string, text: string, columns: number): number[] {
  const markdown = path.endsWith('.md');
  return text.split('\n').flatMap((line, i) => {
    if (line.length <= columns) return [];
    if (markdown && line.startsWith('|')) return [];
    // A link cannot be broken; what stands around it can.
    const unquoted = path.startsWith('test/') ? line.replaceAll(/(['"`]).*?\1/g, '') : line;
    const unlinked = unquoted.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/https?:\/\/\S+/g, '');
    return unlinked.length <= columns ? [] : [i + 1];
  });
}
