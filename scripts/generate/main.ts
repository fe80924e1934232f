/**
 * Writes the straight-line and table sources under assembly/ (`*.gen.ts`, committed).
 *
 *   node scripts/generate/main.ts           writes them
 *   node scripts/generate/main.ts --check   exits with 1 if a committed file differs
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chachaSource } from './chacha.ts';
import { cosinesSource } from './cosines.ts';
import { keccakSource } from './keccak.ts';
import { labradorPassesSource, labradorTablesSource } from './labrador.ts';
import { nttPassesSource, nttTablesSource } from './ntt.ts';
import { rejectionSource } from './rejection.ts';
import { fftTablesSource, samplerTablesSource } from './signTables.ts';

/** Path under the package's root, and its text. */
export function generatedSources(): [path: string, text: string][] {
  return [
    ['assembly/shared/keccakF.gen.ts', keccakSource()],
    ['assembly/falcon/rejection.gen.ts', rejectionSource()],
    ['assembly/shared/nttPasses.gen.ts', nttPassesSource()],
    ['assembly/shared/nttTables.gen.ts', nttTablesSource()],
    ['assembly/falcon/fftTables.gen.ts', fftTablesSource()],
    ['assembly/falcon/samplerTables.gen.ts', samplerTablesSource()],
    ['assembly/labrador/chacha.gen.ts', chachaSource()],
    ['assembly/labrador/cosTable.gen.ts', cosinesSource()],
    ['assembly/labrador/nttPasses.gen.ts', labradorPassesSource()],
    ['assembly/labrador/nttTables.gen.ts', labradorTablesSource()],
  ];
}

export function staleSources(): string[] {
  return generatedSources()
    .filter(([path, text]) => readFileSync(absolute(path), 'utf8') !== text)
    .map(([path]) => path);
}

function absolute(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const stale = staleSources();
    for (const path of stale) console.error(`${path} is not what the generator writes`);
    process.exitCode = stale.length ? 1 : 0;
  } else {
    for (const [path, text] of generatedSources()) writeFileSync(absolute(path), text);
  }
}
