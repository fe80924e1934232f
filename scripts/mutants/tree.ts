/** The syntax tree of a source, TypeScript or AssemblyScript. */
import { parseAst } from 'rolldown/parseAst';

/** A node of the ESTree; its other properties depend on its type. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Decorators of functions and variables, which AssemblyScript has and ECMAScript has not. */
const DECORATOR = /^( *)@\w+(?:\([^()\n]*\))?(?= *$| +(?:export|function|const|let)\b)/gm;

/**
 * The tree of a source. Positions count UTF-16 units, as strings do.
 *
 * @throws Error if it does not parse
 */
export function parse(text: string, file: string): Node {
  const plain = text.replace(DECORATOR, (decorator) => ' '.repeat(decorator.length));
  return parseAst(plain, { lang: 'ts' }, file) as unknown as Node;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Types have no code. */
const isType = ({ type }: Node): boolean =>
  type.startsWith('TS') && !/^TS(As|NonNull|Satisfies|TypeAssertion)/.test(type);

/** The nodes directly below, in the order of the source, without types. */
export function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value) => isNode(value) && !isType(value))
    .sort((a, b) => (a as Node).start - (b as Node).start) as Node[];
}

/** Parentheses, casts and `!` taken off. */
export function bare(node: Node): Node {
  const isCover = /^(ParenthesizedExpression|TS\w*Expression|TSTypeAssertion)$/.test(node.type);
  return isCover && isNode(node.expression) ? bare(node.expression) : node;
}

/** `f` of f(x), a.f(x) and a?.f(x). */
export function nameOfCall(node: Node): string | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = bare(node.callee as Node);
  const name = callee.type === 'MemberExpression' ? (callee.property as Node) : callee;
  return typeof name.name === 'string' ? name.name : undefined;
}

/** The name that a node gives to the functions and classes below it. */
export function nameGiven(node: Node): string | undefined {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ClassDeclaration':
      return nameOf(node.id);
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'Property':
      return isFunction(node.value) ? nameOf(node.key) : undefined;
    case 'VariableDeclarator':
      return isFunction(node.init) ? nameOf(node.id) : undefined;
    default:
      return undefined;
  }
}

const isFunction = (value: unknown): boolean =>
  isNode(value) && /^(Arrow)?Function(Expression)?/.test(value.type);

const nameOf = (value: unknown): string | undefined =>
  isNode(value) && typeof value.name === 'string' ? value.name : undefined;
