import { describe, expect, it } from 'vitest';
import { CodedError, ERROR_CODES, isCodedError, toCodedError } from '../../src/shared/errors.ts';

describe('error codes', () => {
  it('have a status of an error and a text that can be shown', () => {
    const entries = Object.entries(ERROR_CODES);
    expect(entries.length).toBeGreaterThan(20);
    for (const [code, { status, retriable, message }] of entries) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(status >= 400 && status < 600, code).toBe(true);
      expect(message).toMatch(/^[A-Z].*[^.]$/);
      // What the server asks to repeat must be worth repeating.
      if (status === 429 || status === 503) expect(retriable, code).toBe(true);
    }
    expect(Object.isFrozen(ERROR_CODES)).toBe(true);
    expect(Object.values(ERROR_CODES).every(Object.isFrozen)).toBe(true);
  });

  it('give an error its status, text and details', () => {
    const invalid = [{ index: 17, reason: 'signatureMismatch' }];
    const cause = new Error('inside');
    const error = new CodedError('INVALID_SIGNATURES', { invalid, index: 17, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'CodedError',
      code: 'INVALID_SIGNATURES',
      status: 422,
      retriable: false,
      message: ERROR_CODES.INVALID_SIGNATURES.message,
      index: 17,
      invalid,
      cause,
    });
    const plain = new CodedError('OVERLOADED', { message: 'another text' });
    expect(plain.message).toBe('another text');
    for (const absent of ['index', 'invalid', 'cause']) expect(absent in plain).toBe(false);
  });

  it.each(['NO_SUCH_CODE', 'toString', '__proto__'])('are a closed list: %s', (code) => {
    expect(() => new CodedError(code as never)).toThrow(TypeError);
  });

  it('are known across copies of the module, and given to what has none', () => {
    const copy = Object.assign(new Error('from elsewhere'), {
      code: 'THREAD_LOST',
      retriable: true,
    });
    expect(isCodedError(copy)).toBe(true);
    expect(toCodedError(copy)).toBe(copy);
    const system = Object.assign(new Error('no file'), { code: 'ENOENT' });
    for (const other of [system, 'text', undefined, null, { code: 'INTERNAL' }]) {
      expect(isCodedError(other)).toBe(false);
      const error = toCodedError(other);
      expect([error.code, error.retriable, error.cause]).toEqual(['INTERNAL', false, other]);
    }
  });
});
