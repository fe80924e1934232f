/** From a chain of the search to a row of integers, its size, and the text of the table. */
import type { LevelRow, TableRow } from '../../src/aggregate/parameters/rows.ts';
import type { Level } from './model.ts';
import { bestRice, projectionCode } from './rice.ts';
import { withRoom } from './room.ts';
import { BETA_SQ, type Chain } from './search.ts';

export function rowOf(set: 512 | 1024, bucket: number, chain: Chain): TableRow {
  const rows: LevelRow[] = [];
  let bound = bucket * BETA_SQ[set];
  for (const level of chain.levels) {
    const outSq = Math.ceil(level.outSq);
    if (level.tail) {
      rows.push(tailRow(level, bound, chain.levels.at(-2)!.f, chain.levels.length - 1));
    } else {
      const { n, f, b, fu, bu, fg, bg, kappa, kappa1, cut } = level;
      const riceY = projectionCode(bound).k;
      rows.push([n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, bound, outSq, riceY]);
    }
    bound = outSq;
  }
  return withRoom([set, bucket, rows]);
}

/**
 * Bits by which a code of g is made longer where squares of z meet, by the number of levels before
 * the tail. A signature whose energy stands in a few coefficients makes z of level 0 a few
 * multiples of challenges, and its square many times what a Gaussian's would be; every fold spreads
 * that.
 */
const ROOM_FOR_G = [0, 3, 1];

function tailRow(level: Level, bound: number, parts: number, levels: number): LevelRow {
  const { n, kappa, cut, varE, varG, riceZ } = level;
  const inSq = bound + Math.ceil(level.errorSq);
  const rowsOfZ = level.rows.slice(0, parts).reduce((a, b) => a + b, 0);
  const room = ROOM_FOR_G[levels] ?? 0;
  const pairs: number[] = [];
  for (let a = 0; a < level.r; a++) {
    for (let b = a; b < level.r; b++) pairs.push(b < rowsOfZ ? room : 0);
  }
  const g = varG.slice(0, -1).map((v, pair) => bestRice(v).k + pairs[pair]!);
  const y = projectionCode(inSq).k;
  const e = bestRice(varE).k;
  return [n, kappa, cut, inSq, Math.ceil(level.outSq), y, riceZ, e, g];
}

/** The text of scripts/parameters/table.json: an array of rows, several levels a line. */
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
