/**
 * Makes the tables and the unrolled passes, `*.gen.ts` under assembly/ and src/aggregate/, when a
 * file of this folder or the parameters' table has changed. The build does this first.
 *
 *   node scripts/generate/main.ts
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, hashOfFiles, header, isCurrent, ROOT, writeAtomically } from '../generated.ts';
import { chacha8Source, chacha20Source } from './chacha.ts';
import { collapseSource } from './collapse.ts';
import { cosinesSource } from './cosines.ts';
import { draftTablesSource } from './draftTables.ts';
import { gaussianTablesSource } from './gaussianTables.ts';
import { keccakSource } from './keccak.ts';
import { keygenTablesSource } from './keygenTables.ts';
import { labradorModulusSource, labradorPassesSource, labradorTablesSource } from './labrador.ts';
import { nttPassesSource, nttTablesSource } from './ntt.ts';
import { MERGED_PARAMETERS, PARAMETERS, parameterTableSource } from './parameterTable.ts';
import { rejectionSource } from './rejection.ts';
import { fftTablesSource, samplerTablesSource } from './signTables.ts';

/** Every generated source, and what makes its text without the header. */
const SOURCES: readonly [path: string, make: () => string][] = [
  ['assembly/shared/keccakF.gen.ts', keccakSource],
  ['assembly/shared/nttPasses.gen.ts', nttPassesSource],
  ['assembly/shared/nttTables.gen.ts', nttTablesSource],
  ['assembly/falcon/chacha20.gen.ts', chacha20Source],
  ['assembly/falcon/draftTables.gen.ts', draftTablesSource],
  ['assembly/falcon/fftTables.gen.ts', fftTablesSource],
  ['assembly/falcon/keygenTables.gen.ts', keygenTablesSource],
  ['assembly/falcon/rejection.gen.ts', rejectionSource],
  ['assembly/falcon/samplerTables.gen.ts', samplerTablesSource],
  ['assembly/labrador/chacha8.gen.ts', chacha8Source],
  ['assembly/labrador/cosTable.gen.ts', cosinesSource],
  ['assembly/labrador/jlSums.gen.ts', collapseSource],
  ['assembly/labrador/modulus.gen.ts', labradorModulusSource],
  ['assembly/labrador/nttPasses.gen.ts', labradorPassesSource],
  ['assembly/labrador/nttTables.gen.ts', labradorTablesSource],
  ['src/aggregate/gaussianTables.gen.ts', gaussianTablesSource],
  ['src/aggregate/parameters/table.gen.ts', parameterTableSource],
];

function head(): string {
  const inputs = [
    ...filesBelow('scripts/generate'),
    'scripts/generated.ts',
    PARAMETERS,
    MERGED_PARAMETERS,
  ];
  return header('scripts/generate/main.ts', hashOfFiles(inputs));
}

/** Makes what is not there or not current. */
export function generate(): void {
  const begin = head();
  for (const [path, make] of SOURCES) {
    if (!isCurrent(path, begin)) writeAtomically(path, `${begin}\n${make()}`);
  }
}

/** @returns the paths of the files that are not what `generate` would write if it wrote them all */
export function staleSources(): string[] {
  const begin = head();
  return SOURCES.filter(
    ([path, make]) => readFileSync(join(ROOT, path), 'utf8') !== `${begin}\n${make()}`,
  ).map(([path]) => path);
}

if (import.meta.main) generate();
