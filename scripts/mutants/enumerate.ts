/**
 * Enumerates the mutants of a source: every branch and comparison, each switched off or changed.
 *
 *   condition    of `if`, `?:` and whatever is a truth value    -> true, false
 *   bound        a < b, <=, >, >=, scalar or of vectors        -> the other of its pair (exclusive,
 *                inclusive), and the limit moved the other way (shifted): by 1, or a loop's step;
 *                a kernel's loop only stops early: most fill areas of a fixed size, and nobody sees
 *                what stands behind one, or reads what nobody has written there
 *   equality     an operand of && or ||                        -> negated
 *   side         a && b, a || b, a ?? b                        -> each side alone
 *   exit         return or throw at the end of a longer guard  -> removed
 *   verdict      return true, return false                     -> negated
 *   pick         min, max, select                              -> one of the two
 *   status       return CODE, status |= ... in kernels         -> OK, status as it was
 *   call         a call, or a yield, for its effect alone      -> removed, where the map says so
 *
 * What another mutant implies is left out: a guard removed is its condition false; an equality that
 * is a condition has both values; a loop that never ends is noticed in any case.
 *
 * The id of a mutant is its file, function, place among the sites of its kind in that function, and
 * operator: edits elsewhere do not change it.
 */
import { bare, childrenOf, isNode, type Node, nameGiven, nameOfCall, parse } from './tree.ts';

export interface Mutant {
  readonly id: string;
  readonly file: string;
  readonly function: string;
  /** Where it is, for people: 1, 2, ... */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface Scope {
  /** Functions left out, with all that is in them. */
  readonly except?: readonly string[];
  /** The only functions of the file, not of a class, that are taken. */
  readonly only?: readonly string[];
  /** Whether calls for their effect alone are removed. */
  readonly calls?: boolean;
}

/** What stands in no function. */
const MODULE = 'module';

/** The source with the mutant in it. */
export const mutated = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end);

/**
 * The mutants of one source, in its order.
 *
 * @throws Error if it does not parse, or has no function of a name in `except` or `only`
 */
export function enumerate(file: string, text: string, scope: Scope = {}): Mutant[] {
  const walk = new Walk(file, text, scope);
  walk.visit(parse(text, file), MODULE);
  const named = [...(scope.except ?? []), ...(scope.only ?? [])];
  const missing = named.filter((name) => !walk.named.has(name));
  if (missing.length > 0) throw new Error(`${file} has no function ${missing.join(', ')}`);
  return walk.mutants;
}

const OPPOSITE: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
/** Comparisons of the lanes of vectors. */
const LANES: Readonly<Record<string, string>> = Object.fromEntries(
  ['s', 'u'].flatMap((sign) => [
    [`gt_${sign}`, `ge_${sign}`],
    [`ge_${sign}`, `gt_${sign}`],
    [`lt_${sign}`, `le_${sign}`],
    [`le_${sign}`, `lt_${sign}`],
  ]),
);
/** Functions whose result is a truth value. */
const TRUTH = /^(is[A-Z]\w*|has[A-Z]\w*|equal|every|some|includes|any_true|all_true)$/;
const PICKS = /^(min|max|select|bitselect)$/;
/** Choices of the build are no checks. */
const BUILD = /^ASC_/;

class Walk {
  readonly mutants: Mutant[] = [];
  /** the names of functions and classes */
  readonly named = new Set<string>();
  readonly #file: string;
  readonly #text: string;
  readonly #scope: Scope;
  readonly #isKernel: boolean;
  /** how many sites of each kind each function has had */
  readonly #sites = new Map<string, number>();
  /** what the mutants so far make of the source: none is listed twice */
  readonly #edits = new Set<string>();

  constructor(file: string, text: string, scope: Scope) {
    this.#file = file;
    this.#text = text;
    this.#scope = scope;
    this.#isKernel = file.startsWith('assembly/');
  }

  visit(node: Node, within: string): void {
    const given = nameGiven(node);
    if (given !== undefined) {
      this.named.add(given);
      if (this.#isLeftOut(given, within)) return;
    }
    const name = given === undefined ? within : within === MODULE ? given : `${within}.${given}`;
    this.#statement(node, name);
    this.#expression(node, name);
    for (const child of childrenOf(node)) this.visit(child, name);
  }

  #isLeftOut(name: string, within: string): boolean {
    const { except, only } = this.#scope;
    return except?.includes(name) || (within === MODULE && only?.includes(name) === false);
  }

  #statement(node: Node, name: string): void {
    switch (node.type) {
      case 'IfStatement':
        this.#condition(node.test as Node, name);
        this.#exit(node.consequent as Node, name);
        break;
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'ForStatement':
        if (isNode(node.test)) this.#loop(node.test, node, name);
        break;
      case 'ReturnStatement':
        if (isNode(node.argument)) this.#returned(node, node.argument, name);
        break;
      case 'ArrowFunctionExpression':
        if ((node.body as Node).type !== 'BlockStatement') this.#truth(node.body as Node, name);
        break;
      case 'ExpressionStatement':
        this.#effect(node, bare(node.expression as Node), name);
        break;
    }
  }

  #expression(node: Node, name: string): void {
    switch (node.type) {
      case 'ConditionalExpression':
        this.#condition(node.test as Node, name);
        break;
      case 'LogicalExpression':
        this.#sides(node, name);
        break;
      case 'BinaryExpression':
        this.#bound(node, name, '1');
        break;
      case 'VariableDeclarator':
        if (isNode(node.init)) this.#truth(node.init, name);
        break;
      case 'AssignmentExpression':
        this.#truth(node.right as Node, name);
        break;
      case 'Property':
        this.#truth(node.value as Node, name);
        break;
      case 'UnaryExpression':
        if (node.operator === '+') this.#truth(node.argument as Node, name);
        break;
      case 'CallExpression':
        this.#call(node, name);
        break;
    }
  }

  /** A test: true and false. */
  #condition(test: Node, name: string): void {
    if (BUILD.test(this.#of(test))) return;
    const site = this.#site('condition', name);
    this.#add(site, 'true', test, 'true');
    this.#add(site, 'false', test, 'false');
  }

  /** The same for a value that is a truth value by its form. */
  #truth(value: Node, name: string): void {
    const node = bare(value);
    const isComparison = node.type === 'BinaryExpression' && /^([<>]=?|[=!]==?)$/.test(op(node));
    const isNegation = node.type === 'UnaryExpression' && node.operator === '!';
    if (isComparison || isNegation || TRUTH.test(nameOfCall(node) ?? '')) {
      this.#condition(value, name);
    }
  }

  /** Once more, and once less by the step of the loop: not at all, where it would run once. */
  #loop(test: Node, loop: Node, name: string): void {
    const node = bare(test);
    if (node.type === 'BinaryExpression' && op(node) in OPPOSITE) {
      this.#bound(node, name, this.#stepOf(loop, this.#of(node.left as Node)), !this.#isKernel);
    } else if (!(node.type === 'Literal')) {
      this.#add(this.#site('condition', name), 'false', test, 'false');
    }
  }

  /** By how much a loop changes a variable: a step in its head, or a number in its body. */
  #stepOf(loop: Node, variable: string): string {
    const stepsBelow = (node: Node): Node[] =>
      node.type === 'AssignmentExpression' ? [node] : childrenOf(node).flatMap(stepsBelow);
    const stepIn = (part: unknown, value: RegExp): string | undefined => {
      const steps = isNode(part) ? stepsBelow(part) : [];
      const own = steps.find(
        (step) => this.#of(step.left as Node) === variable && /^[+-]=$/.test(op(step)),
      );
      const step = own && this.#of(own.right as Node);
      return step !== undefined && value.test(step) ? step : undefined;
    };
    return stepIn(loop.update, /./) ?? stepIn(loop.body, /^\d+$/) ?? '1';
  }

  /** @param isBoth whether the limit is moved both ways */
  #bound(node: Node, name: string, step: string, isBoth = true): void {
    const operator = op(node);
    const opposite = OPPOSITE[operator];
    if (opposite === undefined) return;
    const [left, right] = [node.left as Node, node.right as Node];
    const between = this.#text.slice(left.end, right.start);
    const at = left.end + between.lastIndexOf(operator);
    if (at < left.end) throw new Error(`${this.#file}: no ${operator} in ${this.#of(node)}`);
    if (this.#edits.has(`${at} ${at + operator.length} ${opposite}`)) return;
    const site = this.#site('bound', name);
    const way = opposite.length === 2 ? 'inclusive' : 'exclusive';
    const end = at + operator.length;
    // Noted, so that the same comparison is not taken once more as one that is no loop's.
    if (!isBoth && way === 'inclusive') this.#edits.add(`${at} ${end} ${opposite}`);
    else this.#add(site, way, { start: at, end }, opposite);
    // x < a is x <= a - 1: the other operator moves the limit one way, this moves it the other.
    const sign = operator === '<' || operator === '>=' ? '-' : '+';
    const amount = /\d+n\b/.test(this.#of(node)) ? '1n' : step;
    this.#add(site, 'shifted', right, `(${this.#of(right)}) ${sign} ${amount}`);
  }

  #sides(node: Node, name: string): void {
    const site = this.#site('side', name);
    const [left, right] = [node.left as Node, node.right as Node];
    this.#add(site, 'left', node, `(${this.#of(left)})`);
    this.#add(site, 'right', node, `(${this.#of(right)})`);
    if (node.operator === '??') return;
    for (const side of [left, right]) {
      const operand = bare(side);
      const operator = op(operand);
      if (operand.type !== 'BinaryExpression' || !/^[=!]==?$/.test(operator)) continue;
      const [a, b] = [operand.left as Node, operand.right as Node];
      const negated = operator.startsWith('!')
        ? operator.replace('!', '=')
        : `!${operator.slice(1)}`;
      const text = `${this.#of(a)} ${negated} ${this.#of(b)}`;
      this.#add(this.#site('equality', name), 'negated', operand, text);
    }
  }

  /** The last statement of a guard that does more than leave. */
  #exit(block: Node, name: string): void {
    if (block.type !== 'BlockStatement') return;
    const statements = block.body as Node[];
    const last = statements.at(-1);
    if (statements.length < 2 || last === undefined) return;
    if (!/^(Return|Throw|Continue|Break)Statement$/.test(last.type)) return;
    this.#add(this.#site('exit', name), 'off', last, ';');
  }

  #returned(statement: Node, argument: Node, name: string): void {
    const value = bare(argument);
    const text = this.#of(value);
    if (text === 'true' || text === 'false') {
      const negated = text === 'true' ? 'false' : 'true';
      this.#add(this.#site('verdict', name), 'negated', value, negated);
    } else if (this.#isKernel && /^[A-Z][A-Z_]+$/.test(text) && text !== 'OK') {
      this.#add(this.#site('status', name), 'ok', statement, 'return 0;');
    } else {
      this.#truth(argument, name);
    }
  }

  #effect(statement: Node, expression: Node, name: string): void {
    const { type } = expression;
    if (type === 'AssignmentExpression' && op(expression) === '|=') {
      const right = this.#of(expression.right as Node);
      this.#add(this.#site('status', name), 'off', expression, right);
    }
    if (this.#scope.calls !== true || !/^(Call|Yield|Await)Expression$/.test(type)) return;
    this.#add(this.#site('call', name), 'off', statement, ';');
  }

  #call(node: Node, name: string): void {
    const called = nameOfCall(node) ?? '';
    const values = node.arguments as Node[];
    if (PICKS.test(called) && values.length >= 2) {
      const site = this.#site('pick', name);
      this.#add(site, 'first', node, `(${this.#of(values[0]!)})`);
      this.#add(site, 'second', node, `(${this.#of(values[1]!)})`);
    }
    const lanes = LANES[called];
    if (this.#isKernel && lanes !== undefined) {
      const callee = bare(node.callee as Node);
      const property = callee.property as Node;
      this.#add(this.#site('bound', name), lanes.slice(0, 2), property, lanes);
    }
    for (const value of values) this.#truth(value, name);
  }

  #of = ({ start, end }: Node): string => this.#text.slice(start, end);

  /** `kind` with the number of the next site of this kind. */
  #site(kind: string, name: string): string {
    const key = `${name}:${kind}`;
    const number = (this.#sites.get(key) ?? 0) + 1;
    this.#sites.set(key, number);
    return `${key}${number}`;
  }

  #add(site: string, operator: string, at: { start: number; end: number }, text: string): void {
    const { start, end } = at;
    const edit = `${start} ${end} ${text}`;
    if (this.#edits.has(edit) || this.#text.slice(start, end) === text) return;
    this.#edits.add(edit);
    this.mutants.push({
      id: `${this.#file}:${site}:${operator}`,
      file: this.#file,
      function: site.slice(0, site.lastIndexOf(':')),
      line: this.#text.slice(0, start).split('\n').length,
      start,
      end,
      replacement: text,
    });
  }
}

const op = (node: Node): string => String(node.operator ?? '');
