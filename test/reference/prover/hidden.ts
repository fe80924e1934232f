/** Section 6.4 of docs/protocol.md: messages carried as digits, and what is sent of them. */
import { keyMatrix } from './challenges.ts';
import type { Context } from './context.ts';
import { packNumbers } from './encode.ts';
import type { Message, MessageName, Ordinary } from './parameters.ts';
import { inner, normSq, type Poly } from './ring.ts';
import { digitMajor } from './steps.ts';

/** Every fourth coefficient of a polynomial is sent. */
const STEP = 4;

export interface HiddenMessage {
  readonly message: Message;
  /** x_M: for every digit, all polynomials */
  readonly x: readonly Poly[];
  /** p_M: number 16 row + c is coefficient 4 c of a row */
  readonly p: readonly bigint[];
}

/** Q_k(x): coefficients 0, 4, ..., 60 of the k polynomials M_k x, row by row. */
export const quartersOf = (k: number, x: readonly Poly[]): bigint[] =>
  keyMatrix(k, x.length).flatMap((row) => inner(row, x).filter((_, c) => c % STEP === 0));

/** Which message of a hidden level has this name. */
export function messageOf({ messages }: Ordinary, name: MessageName): Message {
  const found = messages.find((message) => message.name === name);
  if (found === undefined) throw new RangeError(`no message ${name}`);
  return found;
}

/** The digits of a message and its quarters, which are sent. @returns also their bytes */
export function hide(
  context: Context,
  params: Ordinary,
  name: MessageName,
  polynomials: readonly Poly[],
): { hidden: HiddenMessage; bytes: Uint8Array } {
  const { w, k } = params;
  const message = messageOf(params, name);
  if (polynomials.length !== message.polynomials) throw new RangeError(`message ${name}`);
  const digits = digitMajor(polynomials, message.digits, w);
  const { x } = context.use('x', { message: name, x: digits });
  const { p } = context.use('p', { message: name, p: quartersOf(k, x) });
  const bytes = packNumbers(p);
  context.send(`p${name}`, bytes);
  return { hidden: { message, x, p }, bytes };
}

/** x of a level from its messages, in their order; the level fails if it is too long. */
export function joinHidden(
  context: Context,
  { messages, X }: Ordinary,
  hidden: readonly HiddenMessage[],
): Poly[] {
  const x = messages.flatMap(({ name }) => hidden.find(({ message }) => message.name === name)!.x);
  if (messages.length > 0 && normSq(x) > BigInt(X)) context.fail('norm of x');
  return x;
}
