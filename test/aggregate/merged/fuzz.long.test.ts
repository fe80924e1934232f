/** Fuzzed merged proofs. */
import { openMergedFile } from '../../../src/aggregate/mergedFormat.ts';
import { openMerged } from '../../../src/aggregate/proof/verifier/verifyMerged.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import { type Target, testFuzzOf } from '../proof/fuzz.ts';
import { mergedProof, placesOf, useRows } from './mergedFiles.ts';

useRows([MERGED_TOY_ROWS['levels 0 and 1 hidden']!]);

testFuzzOf('two parts', 500_000, async (): Promise<Target> => {
  const { parts, bytes: good } = mergedProof(MERGED_TOY_ROWS['levels 0 and 1 hidden']!, 2);
  const file = openMergedFile(good);
  if (typeof file === 'string') throw new Error(file);
  const packed = placesOf(openMerged(file.parameters, good, file.bodyAt)!, good);
  const starts = file.parts.map(({ bytes }) => bytes.byteOffset - good.byteOffset);
  return {
    ...{ items: parts.flat(), good, headerLength: file.bodyAt, packed, sections: [] },
    borders: [
      ...[0, 4, 5, 6, 38],
      ...starts.flatMap((at) => [at, at + 32, at + 34, at + 38]),
      ...packed.flatMap(({ at, length }) => [at, at + length]),
      good.length,
    ],
  };
});
