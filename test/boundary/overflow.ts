/** Runs calls on a stack that is all but full, at every depth at which they can fail. */

/** Calls `call` below `depth` frames and `padding` arguments. */
function below(depth: number, padding: readonly number[], call: () => void): void {
  if (depth > 0) {
    below(depth - 1, padding, call);
    return;
  }
  Reflect.apply(call, undefined, padding);
}

/** Whether it ends because the stack is full. What else is thrown is thrown again. */
function overflows(depth: number, padding: readonly number[], call: () => void): boolean {
  try {
    below(depth, padding, call);
    return false;
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) return true;
    throw error;
  }
}

/** The most frames below which a call comes to its end. */
function mostFrames(call: () => void): number {
  let most = 0;
  for (let step = 1 << 16; step >= 1; step >>= 1) {
    if (!overflows(most + step, [], call)) most += step;
  }
  return most;
}

/**
 * The frames that fit above nothing, once code is compiled as it will be: its frames are smaller.
 */
function settledFrames(call: () => void): number {
  const nothing = (): void => undefined;
  let last = 0;
  for (let same = 0; same < 5; ) {
    overflows(mostFrames(nothing) >> 1, [], call);
    const now = mostFrames(nothing);
    same = Math.abs(now - last) < 3 ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** Frames are a hundred bytes or so, arguments eight: depths are told apart by both. */
const PADDINGS = [[], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8]];

/**
 * Makes a call fail for want of stack at every depth, from where the call itself finds no room to
 * where it comes to its end.
 *
 * @param afterwards called after each failure
 * @returns the number of failures
 */
export function atEveryDepth(call: () => void, afterwards: () => void): number {
  const room = settledFrames(call);
  let failures = 0;
  let successes = 0;
  for (let depth = room + 2; successes < 4; depth--) {
    if (overflows(depth, PADDINGS[depth % PADDINGS.length]!, call)) {
      failures++;
      successes = 0;
      afterwards();
    } else {
      successes++;
    }
  }
  return failures;
}
