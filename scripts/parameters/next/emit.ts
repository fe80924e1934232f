/** From a chain of the search to a row of integers, and the text of the table. */
import { BETA_SQ } from './constants.ts';
import { indexOf } from './gaussianCode.ts';
import type { Level } from './model.ts';
import { withRoom } from './room.ts';
import type { LevelRow, TableRow } from './rows.ts';
import type { Chain } from './search.ts';

export function rowOf(set: 512 | 1024, bucket: number, chain: Chain): TableRow {
  const rows: LevelRow[] = [];
  let bound = bucket * BETA_SQ[set];
  for (const level of chain.levels) {
    const outSq = Math.ceil(level.outSq);
    if (level.tail) {
      rows.push(tailRow(level, bound));
    } else {
      const { n, f, b, fu, bu, fg, bg, kappa, kappa1, cut } = level;
      rows.push([n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, bound, outSq, codeOfY(bound)]);
    }
    bound = outSq;
  }
  return withRoom([set, bucket, rows]);
}

/** A value of the projection is half of a sum with random signs. */
const codeOfY = (inSq: number): number => indexOf(inSq / 4);

function tailRow(level: Level, bound: number): LevelRow {
  const { n, kappa, cut, codeE, codesZ, codesG } = level;
  const inSq = bound + Math.ceil(level.errorSq);
  return [n, kappa, cut, inSq, Math.ceil(level.outSq), codeOfY(inSq), codeE, codesZ, codesG];
}

/** The text of table.json: an array of rows, several levels a line. */
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
