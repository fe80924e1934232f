/** From a chain of the search to a row of integers, and the text of the table. */

import type { LevelRow, TableRow } from '../../src/aggregate/parameters/rows.ts';
import { BETA_SQ, D } from './constants.ts';
import { expectedBits, indexOf } from './gaussianCode.ts';
import { indexOfZ, type Level } from './model.ts';
import { lengthOf, normSqOf, type Run } from './moments.ts';
import { withRoom } from './room.ts';
import type { Chain } from './search.ts';

export function rowOf(set: 512 | 1024, bucket: number, chain: Chain): TableRow {
  const rows: LevelRow[] = [];
  let bound = bucket * BETA_SQ[set];
  for (const level of chain.levels) {
    rows.push(level.tail ? tailRow(level, bound) : ordinaryRow(level, bound));
    bound = Math.ceil(level.outSq);
  }
  return withRoom([set, bucket, rows]);
}

/** A value of the projection is half of a sum with random signs. */
const codeOfY = (inSq: number): number => indexOf(inSq / 4);

function ordinaryRow(level: Level, bound: number): LevelRow {
  const { n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, w, k, xSq, ct } = level;
  const inSq = bound + Math.ceil(level.errorSq);
  const outSq = Math.ceil(level.outSq);
  const shape = [n, f, b, fu, bu, fg, bg, kappa, kappa1, cut];
  return [...shape, inSq, outSq, codeOfY(inSq), w, k, xSq, w === 0 ? 0 : codeOfY(xSq), ct];
}

/**
 * A run of columns of z less costs nothing, but it is a line less to read: bits that it must save.
 */
const RUN_BITS = 24;

/** Runs of columns of z with their codes: neighbours share one where that costs little. */
function columnCodes({ columns, wider }: Level): [columns: number, code: number][] {
  const bitsOf = (runs: readonly Run[], code: number): number =>
    runs.reduce((sum, { length, variance }) => sum + D * length * expectedBits(variance, code), 0);
  const coded = (runs: readonly Run[]) => {
    const length = lengthOf(runs);
    const code = indexOfZ((wider * normSqOf(runs)) / (D * length));
    return { runs, length, code, bits: bitsOf(runs, code) };
  };
  const groups = columns.map((run) => coded([run]));
  for (;;) {
    const joined = groups.slice(1).map((group, i) => {
      const both = coded([...groups[i]!.runs, ...group.runs]);
      return { at: i, both, more: both.bits - groups[i]!.bits - group.bits };
    });
    const best = joined.sort((a, b) => a.more - b.more)[0];
    if (best === undefined || best.more > RUN_BITS) break;
    groups.splice(best.at, 2, best.both);
  }
  return groups.map(({ length, code }) => [length, code]);
}

function tailRow(level: Level, bound: number): LevelRow {
  const { n, kappa, cut, codeE, codesG } = level;
  const codesZ = columnCodes(level);
  const inSq = bound + Math.ceil(level.errorSq);
  return [n, kappa, cut, inSq, Math.ceil(level.outSq), codeOfY(inSq), codeE, codesZ, codesG];
}

/** The text of vectors/table.json: an array of rows, several levels a line. */
export function tableText(table: readonly TableRow[]): string {
  const rows = table.map(([set, bucket, levels]) => {
    let text = `  [${set},${bucket},[`;
    let line = text.length;
    for (const [i, level] of levels.entries()) {
      const next = JSON.stringify(level) + (i < levels.length - 1 ? ',' : ']]');
      if (i > 0 && line + next.length > 99) {
        text += '\n   ';
        line = 3;
      }
      text += next;
      line += next.length;
    }
    return text;
  });
  return `[\n${rows.join(',\n')}\n]\n`;
}
