/**
 * The blocks of code in documents: found, typed and run as they are written.
 *
 * A block whose fence says `ts fragment` cannot run by itself. It is still typed, behind the
 * declarations of {@link FRAGMENT_PREAMBLE}.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = new URL('../../', import.meta.url);

/** The file of every entry of the package, by the name that users import. */
const ENTRIES: ReadonlyMap<string, string> = readEntries();

function readEntries(): Map<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
    exports: Record<string, string | { default: string }>;
  };
  const found = new Map<string, string>();
  for (const [path, target] of Object.entries(exports)) {
    const file = typeof target === 'string' ? target : target.default;
    if (!file.startsWith('./dist/')) continue;
    const isModule = file.endsWith('.js');
    const source = isModule ? file.slice(7).replace(/js$/, 'ts') : 'shared/wasmModule.d.ts';
    found.set(`falconry${path.slice(1)}`, `src/${source}`);
  }
  return found;
}

export interface Block {
  /** The document's path in the repository. */
  readonly path: string;
  /** The line of the fence, from 1. */
  readonly line: number;
  /** The heading of the second level that it stands under; empty above the first. */
  readonly heading: string;
  readonly language: string;
  /** What stands behind the language. */
  readonly info: string;
  readonly source: string;
}

/** Every block of a document, in order; blocks in lists lose their indentation. */
export function blocksOf(path: string): Block[] {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  return [...text.matchAll(/^( *)```(\w+) *(.*)\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [, indent = '', language = '', info = '', source = ''] = match;
    const before = text.slice(0, match.index);
    return {
      path,
      line: before.split('\n').length,
      heading: [...before.matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? '',
      language,
      info: info.trim(),
      source: source.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

/** A program with its imports pointed at this checkout and its packages. */
export function localised(source: string): string {
  return source.replace(/from '([^']+)'/g, (_, name: string) => {
    const own = ENTRIES.get(name);
    return `from '${own === undefined ? import.meta.resolve(name) : new URL(own, ROOT).href}'`;
  });
}

/** Values that a line of output can be, alone. */
const VALUE = /^(?:true|false|\d+|\[\]|proof|bundle|\w+ \d+ of \d+)$/;

/** The values that a block says it prints, in order. */
export function promised(source: string): string[] {
  const said = source.matchAll(/console\.log\(.*\)[,;]? \/\/ ([^;:\n]*)/gm);
  return [...said].map(([, text]) => text!).filter((text) => VALUE.test(text));
}

/** Runs a block in an empty folder; @returns the values among the lines that it prints */
export async function runBlock(source: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-block-'));
  try {
    const file = join(folder, 'example.mts');
    writeFileSync(file, localised(source));
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      cwd: folder,
      env: { ...process.env, ...env },
    });
    return stdout.split('\n').filter((line) => VALUE.test(line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What fragments may use without saying where it is from. */
const FRAGMENT_PREAMBLE = `
import { createAggregatePool, createVerifyPool } from 'falconry';
import type { BlobStore, Signer, TaskStore } from 'falconry/middleware';
import { falconService } from 'falconry/middleware';
declare const service: ReturnType<typeof falconService>;
declare const device: Signer & { isBusy(): boolean; mayUse(clientId: number): boolean };
declare function userOf(cookies: string | null): Promise<string | null>;
declare function openMyStore(options: { nowMs: () => number }): Promise<TaskStore>;
declare function openMyFiles(options: { nowMs: () => number }): Promise<BlobStore>;
declare function removeMyFiles(): Promise<void>;
`;

/** A fragment as the body of a function, behind the preamble; and by how many lines it moved. */
function framed(source: string): { text: string; moved: number } {
  const lines = source.split('\n');
  const isImport = (line: string) => line.startsWith('import ');
  const head = [
    FRAGMENT_PREAMBLE,
    // What the preamble has already, a fragment may import for its reader.
    ...lines.filter((line) => isImport(line) && !FRAGMENT_PREAMBLE.includes(line)),
    'export async function fragment() {',
  ].join('\n');
  const body = lines.map((line) => (isImport(line) ? '' : line)).join('\n');
  return { text: `${head}\n${body}\n}\n`, moved: head.split('\n').length };
}

/** The parts of Deno and Bun that programs for them use. */
const OTHER_HOSTS = `
declare const Deno: {
  env: { get(name: string): string | undefined };
  serve(
    options: { port: number },
    handler: (request: Request, info: object) => Response | Promise<Response>,
  ): { addr: { port: number }; shutdown(): Promise<void> };
  addSignalListener(signal: 'SIGTERM', listener: () => void): void;
  exit(code: number): never;
};
interface BunServer { port: number; stop(): Promise<void> }
declare const Bun: {
  serve(options: {
    port: number;
    idleTimeout: number;
    fetch(request: Request, server: BunServer): Response | Promise<Response>;
  }): BunServer;
};
`;

const configuration = (): string =>
  JSON.stringify({
    extends: '../../../tsconfig.json',
    compilerOptions: {
      lib: ['esnext', 'dom', 'dom.iterable'],
      paths: Object.fromEntries([...ENTRIES].map(([name, file]) => [name, [`../../../${file}`]])),
    },
    include: ['*.ts'],
    exclude: [],
  });

/**
 * Types blocks as one program each, by the project's compiler and settings.
 *
 * @returns its complaints, with the document and the line in it
 */
export async function typeBlocks(blocks: readonly Block[]): Promise<string[]> {
  const folder = fileURLToPath(new URL('test/build/document-blocks/', ROOT));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const programs = blocks.map(({ source, info }) =>
    info === 'fragment' ? framed(source) : { text: source, moved: 0 },
  );
  for (const [i, { text }] of programs.entries()) {
    writeFileSync(join(folder, `block${i}.ts`), text);
  }
  writeFileSync(join(folder, 'hosts.d.ts'), OTHER_HOSTS);
  writeFileSync(join(folder, 'tsconfig.json'), configuration());
  const compiler = fileURLToPath(new URL('node_modules/.bin/tsc', ROOT));
  const arguments_ = ['-p', folder, '--pretty', 'false'];
  const printed = await promisify(execFile)(compiler, arguments_, { maxBuffer: 1 << 24 }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  );
  const complaints = printed.split('\n').filter((line) => line !== '');
  return complaints.map((line) =>
    line.replace(/^.*?block(\d+)\.ts\((\d+),\d+\)/, (_, number: string, at: string) => {
      const block = blocks[Number(number)]!;
      return `${block.path}:${block.line + Number(at) - programs[Number(number)]!.moved}`;
    }),
  );
}
