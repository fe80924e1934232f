/**
 * A process that compiles the kernels with one source replaced in memory: for the product, or, with
 * inner functions as further exports, for the kernels' own tests.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, entryArguments } from '../../test/support/assembly.ts';
import { ROOT, sha256 } from '../generated.ts';
import { serve } from './child.ts';

export interface BuildQuestion {
  readonly purpose: 'product' | 'tests';
  readonly module?: 'plain' | 'relaxed';
  /** the source to replace, and its text; none: the kernels as they are */
  readonly file?: string;
  readonly text?: string;
  /** where to put a module for tests */
  readonly folder: string;
}

export interface BuildAnswer {
  readonly hash?: string;
  /** the product's module as a source, by its path */
  readonly sources?: Readonly<Record<string, string>>;
  /** why it does not compile */
  readonly error?: string;
}

const ENTRY = 'labrador';
/** The build that the tests' host prefers. */
const MODULE = 'relaxed';
const GENERATED = `src/aggregate/${ENTRY}.${MODULE}.wasm.gen.ts`;

if (process.send !== undefined) serve(build);

async function build(question: BuildQuestion): Promise<BuildAnswer> {
  const { purpose, module = MODULE, file, text, folder } = question;
  const product = [`assembly/${ENTRY}/index.ts`, '--target', `${ENTRY}.${MODULE}`];
  const args =
    purpose === 'tests' ? entryArguments(ENTRY, module) : [...product, '--outFile', 'out.wasm'];
  try {
    const files = await compile(args, (path, source) => (path === file ? text! : source));
    const bytes = files.get('out.wasm') as Uint8Array;
    const hash = sha256(bytes);
    if (purpose === 'product') return { hash, sources: { [GENERATED]: asSource(bytes) } };
    writeFileSync(join(folder, `${ENTRY}.${module}.wasm`), bytes);
    return { hash };
  } catch (error) {
    return { error: String(error) };
  }
}

/** The generated source with other edits of the plain build: nothing kept, all inserted. */
function asSource(bytes: Uint8Array): string {
  const edits = Buffer.concat([Uint8Array.of(0, 0, ...leb128(bytes.length)), bytes]);
  const text = readFileSync(join(ROOT, GENERATED), 'utf8');
  const start = text.indexOf("'", text.indexOf('EDITS')) + 1;
  if (start === 0) throw new Error(`no edits in ${GENERATED}`);
  return text.slice(0, start) + edits.toString('base64') + text.slice(text.indexOf("'", start));
}

const leb128 = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...leb128(value >> 7)];
