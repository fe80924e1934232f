/**
 * Whole aggregates with their lists and verdicts, for any verifier:
 *
 *   node test/reference/writeCases.ts DIRECTORY
 *
 * writes table.json and cases*.json, arrays of {name, task, aggregate, valid}. A task is the array
 * of a task file; all bytes are hexadecimal.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { badCases } from './badCases.ts';
import { type Case, goodCases, largeCases } from './cases.ts';
import { TABLE } from './table.ts';

const directory = process.argv[2];
if (directory === undefined) throw new RangeError('which directory?');
writeFileSync(join(directory, 'table.json'), JSON.stringify(TABLE));

function write(file: string, made: Iterable<Case>): void {
  const cases: Case[] = [];
  for (const one of made) {
    cases.push(one);
    console.log(`${one.name}: ${one.aggregate.length / 2} bytes`);
  }
  writeFileSync(join(directory!, file), JSON.stringify(cases, null, 1));
}

write('cases.json', goodCases());
write('casesBad.json', badCases());
write('casesLarge.json', largeCases());
