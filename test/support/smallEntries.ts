/** The entries that have modules of their own, as the package builds them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../scripts/generated.ts';
import { bundleSmallEntries } from '../../scripts/smallEntries.ts';
import type * as Aggregate from '../../src/aggregate/verifyOnly.ts';
import type * as Integer from '../../src/falcon/integer.ts';
import type * as Signatures from '../../src/falcon/verifyOnly.ts';

export interface SmallEntries {
  /** Where they are. */
  readonly folder: string;
  readonly signatures: typeof Signatures;
  readonly aggregate: typeof Aggregate;
  readonly integer: typeof Integer;
  remove(): Promise<void>;
}

/** Bundles them into a folder of their own, and loads them. */
export async function buildSmallEntries(): Promise<SmallEntries> {
  await mkdir(join(ROOT, 'build'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, 'build/small-'));
  await bundleSmallEntries(folder);
  await mkdir(join(folder, 'shared'), { recursive: true });
  // The errors and keys of the sources are those of the package here.
  for (const path of ['shared/errors', 'falcon/keys']) {
    await writeFile(join(folder, `${path}.js`), `export * from '../../../src/${path}.ts';\n`);
  }
  const load = (entry: string) => import(pathToFileURL(join(folder, `${entry}.js`)).href);
  return {
    folder,
    signatures: await load('falcon/verifyOnly'),
    aggregate: await load('aggregate/verifyOnly'),
    integer: await load('falcon/integer'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
