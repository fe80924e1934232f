import { describe, expect, it } from 'vitest';
import { aggregateSync } from '../../src/aggregate/index.ts';
import { CodedError } from '../../src/shared/errors.ts';
import {
  formatResultFile,
  makeResultFile,
  parseResultFile,
  verifyResultFile,
} from '../../src/wire/resultFile.ts';
import { makeItem, statementsOf } from '../aggregate/batches.ts';

const items = [makeItem(512, 'compressed', 1), makeItem(512, 'padded', 2)];
const mixed = [...items, makeItem(1024, 'constantTime', 3)];
const timings = { verify_ms: 12.3456789, aggregate_ms: 0 };

const made = (list: typeof items) =>
  makeResultFile({ processId: 2 ** 53 - 1, aggregate: aggregateSync(list), items: list, timings });

function codeOf(file: string | Uint8Array): string {
  try {
    parseResultFile(file);
  } catch (error) {
    if (error instanceof CodedError) return error.code;
    throw error;
  }
  return 'none';
}

describe('result file', () => {
  it('says what it holds', () => {
    const result = made(items);
    expect(result).toMatchObject({ count: 2, format: 'bundle', parameterSet: 'falcon512' });
    expect(result.sizes).toEqual({
      aggregate: result.aggregate.length,
      salts: 2 * 40,
      signatures: items[0]!.signature.length + 666,
      public_keys: 2 * 897,
      digests: items[0]!.message.length + items[1]!.message.length,
    });
    expect(made(mixed).parameterSet).toBe('mixed');
    expect(made(mixed.slice(2)).parameterSet).toBe('falcon1024');
  });

  it('is one line in a fixed order, and reads back', () => {
    const result = made(mixed);
    const text = formatResultFile(result);
    const { sizes } = result;
    expect(text).toBe(
      `{"version":1,"process_id":9007199254740991,"count":3,"format":"bundle","parameter_set":"mixed",` +
        `"statement":"0x${Buffer.from(result.statement).toString('hex')}",` +
        `"aggregate":"0x${Buffer.from(result.aggregate).toString('hex')}",` +
        `"sizes":{"aggregate":${sizes.aggregate},"salts":120,"signatures":${sizes.signatures},` +
        `"public_keys":${sizes.public_keys},"digests":${sizes.digests}},` +
        `"timings":{"verify_ms":12.346,"aggregate_ms":0}}\n`,
    );
    const again = parseResultFile(text);
    expect(formatResultFile(again)).toBe(text);
    expect(parseResultFile(new TextEncoder().encode(text))).toEqual(again);
    expect(parseResultFile(`\ufeff${text}`)).toEqual(again);
    expect(parseResultFile(new TextEncoder().encode(`\ufeff${text}`))).toEqual(again);
    expect(parseResultFile(JSON.stringify({ more: 1, ...JSON.parse(text) }, null, 4))).toEqual(
      again,
    );
    expect(verifyResultFile(again, statementsOf(mixed))).toBe(true);
    expect(verifyResultFile(again, statementsOf(items))).toBe(false);
  });

  it('is refused when a field is missing or of another type', () => {
    const good = JSON.parse(formatResultFile(made(items)));
    const wrong: Record<string, unknown[]> = {
      version: [0, 2, '1', null],
      process_id: [-1, 1.5, '1', 2 ** 53, true],
      count: [-1, null, '2'],
      format: [1, null],
      parameter_set: ['falcon256', 'Falcon512', null],
      statement: ['0x', `0x${'00'.repeat(31)}`, `0x${'00'.repeat(33)}`, 'zz', 5],
      aggregate: ['00', '0x0', '0xgg', null],
      sizes: [null, [], { aggregate: 1 }, { ...good.sizes, digests: -1 }],
      timings: [null, { verify_ms: 'fast' }, { verify_ms: -1 }],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of [undefined, ...values]) {
        const file = JSON.stringify({ ...good, [field]: value });
        expect(codeOf(file), `${field} ${JSON.stringify(value)}`).toBe('BAD_RESULT_FILE');
      }
    }
    expect(codeOf(JSON.stringify(good))).toBe('none');
    expect(codeOf(JSON.stringify({ ...good, process_id: null }))).toBe('none');
  });

  it('is refused when it is no JSON object', () => {
    for (const file of ['', '{', 'x', Uint8Array.of(0x7b, 0xff)]) {
      expect(codeOf(file)).toBe('MALFORMED_JSON');
    }
    for (const file of ['[]', 'null', '5', '"x"']) expect(codeOf(file)).toBe('BAD_RESULT_FILE');
  });
});
