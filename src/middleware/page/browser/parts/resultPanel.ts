/** A result: its size, its description, its file, and its verification. */
import { sizeText } from '../../../../wire/sizes.ts';
import type { App } from '../app.ts';
import { button, h } from '../dom.ts';
import { count, duration } from '../format.ts';
import type { BatchSummary, ResultSummary } from '../worker/protocol.ts';
import { download, facts, hexValue, panel } from './controls.ts';
import { savings } from './savings.ts';
import { verifier } from './verifier.ts';

export interface ResultPanels {
  readonly result: ResultSummary;
  readonly file: Blob;
  readonly name: string;
  /** The batch that it was made of, if this page has it. */
  readonly batch: BatchSummary | null;
}

const SETS: Readonly<Record<string, string>> = {
  falcon512: 'Falcon-512',
  falcon1024: 'Falcon-1024',
  mixed: 'Falcon-512 and Falcon-1024',
};

const TIMINGS: Readonly<Record<string, string>> = {
  read_ms: 'Read in',
  verify_ms: 'Verified in',
  aggregate_ms: 'Aggregated in',
};

/** The panels of a result, in order. */
export function resultPanels(app: App, { result, file, name, batch }: ResultPanels): HTMLElement[] {
  const { sizes } = result;
  return [
    panel(
      'What was saved',
      savings({
        format: result.format,
        count: result.count,
        aggregate: sizes.aggregate,
        salts: sizes.salts,
        signatures: sizes.signatures,
      }),
    ),
    panel(
      'Verify the aggregate',
      h(
        'p',
        { class: 'soft' },
        'The library verifies it here, in this browser. Nothing is sent anywhere, and the ' +
          'service need not be trusted.',
      ),
      verifier(app, result, batch),
    ),
    panel(
      'The result',
      facts([
        ['Format', result.format],
        ['Signatures', count(result.count)],
        ['Parameter set', SETS[result.parameterSet] ?? result.parameterSet],
        ['Aggregate', sizeText(sizes.aggregate)],
        ['Result file', sizeText(result.fileBytes)],
        ...Object.entries(result.timings).map(([key, ms]) => {
          return [TIMINGS[key] ?? key, duration(ms)] as const;
        }),
      ]),
      hexValue('Statement commitment', result.statement),
      h(
        'div',
        { class: 'row' },
        button('Save the result file', () => download(name, file)),
      ),
    ),
  ];
}
