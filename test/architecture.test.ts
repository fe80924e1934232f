/**
 * The rules of the house, read off the sources: who may import whom, how long a file may be, what
 * every function of the module states about itself. A rule that is not tested is a wish.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { functionsOf, wideLines } from './support/measure.ts';
import { folderOf, ROOMS } from './support/rooms.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

interface Source {
  path: string;
  text: string;
  lines: string[];
  imports: string[];
}

const IMPORT =
  /^(?:import|export)\b[^'";]*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'|\bimport\(\s*'([^']+)'/gm;

/** Comments blanked out, so that an example in a comment is no import. */
const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\//g, '');

function read(directory: string): Source[] {
  return (
    readdirSync(`${root}${directory}`, { recursive: true, encoding: 'utf8' })
      // The bundlers that test/bundlers installs bring sources of their own.
      .filter((name) => name.endsWith('.ts') && !/(^|\/)(node_modules|build)\//.test(name))
      .map((name) => {
        const path = `${directory}/${name}`;
        const text = readFileSync(`${root}${path}`, 'utf8');
        const imports = [...withoutComments(text).matchAll(IMPORT)].map((match) =>
          resolve(path, (match[1] ?? match[2] ?? match[3])!),
        );
        return { path, text, lines: text.split('\n'), imports };
      })
  );
}

/** A relative import as a path of the project, with its ending; a package or a builtin as it is. */
function resolve(from: string, to: string): string {
  if (!to.startsWith('.')) return to;
  const path = new URL(to, `file:///${from}`).pathname.slice(1);
  return path.endsWith('.ts') ? path : `${path}.ts`;
}

const isGenerated = ({ path }: Source): boolean => path.endsWith('.gen.ts');
/** Tables are exempt from the limits of size, and contain nothing else. */
const isTable = ({ path }: Source): boolean => /[tT]ables\.ts$/.test(path);

const src = read('src');
const assembly = read('assembly');
const product = [...src, ...assembly];
const OTHERS = ['test', 'bench', 'scripts', 'examples', 'docs/.vitepress'];
const everything = [...product, ...OTHERS.flatMap(read)];

test('the sources are found', () => {
  expect(src.length).toBeGreaterThan(40);
  expect(assembly.length).toBeGreaterThan(30);
  expect(src.filter(({ imports }) => imports.length > 0).length).toBeGreaterThan(35);
});

describe('imports', () => {
  test('every file imports only what its row allows', () => {
    const wrong = product.flatMap(({ path, imports }) => {
      const row = ROOMS.find(({ from }) => from.test(path));
      if (row === undefined) return [`${path} is in no row of the table`];
      return imports
        .filter((to) => !(row.self !== '' && to.startsWith(row.self)))
        .filter((to) => !row.to.some((allowed) => allowed.test(to)))
        .map((to) => `${path} imports ${to}`);
    });
    expect(wrong).toEqual([]);
  });

  test('no two folders of src import each other', () => {
    const arrows = new Map<string, string>();
    for (const { path, imports } of src) {
      for (const to of imports.filter((each) => each.startsWith('src/'))) {
        const [a, b] = [folderOf(path), folderOf(to)];
        if (a !== b) arrows.set(`${a} → ${b}`, `${path} imports ${to}`);
      }
    }
    expect(arrows.size).toBeGreaterThan(40);
    const both = [...arrows].filter(([arrow]) =>
      arrows.has(arrow.split(' → ').reverse().join(' → ')),
    );
    expect(both.map(([, example]) => example)).toEqual([]);
  });

  test('the table itself bites', () => {
    const row = ROOMS.find(({ from }) => from.test('src/falcon/sign.ts'))!;
    for (const to of ['node:crypto', 'hono', 'src/middleware/index.ts', 'src/aggregate/index.ts']) {
      expect(row.to.some((allowed) => allowed.test(to))).toBe(false);
    }
  });

  test('nothing imports the command line', () => {
    const wrong = product.filter(
      ({ path, imports }) =>
        !path.startsWith('src/cli/') && imports.some((to) => to.startsWith('src/cli/')),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('only the loader sees WebAssembly', () => {
    const seen = src.filter(
      (source) =>
        !isGenerated(source) &&
        // Types of what an instance has are no use of it.
        /\bWebAssembly\.(?!(Global|Memory|RuntimeError|Module|Instance)\b)|new WebAssembly\b/.test(
          withoutComments(source.text),
        ),
    );
    expect(seen.map(({ path }) => path)).toEqual(['src/shared/wasmLoader.ts']);
  });

  test('nothing imports the page: it is bundled', () => {
    const page = /^src\/middleware\/page\/browser\//;
    const wrong = product.filter(
      ({ path, imports }) => !page.test(path) && imports.some((to) => page.test(to)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('the proof is entered by its index', () => {
    const wrong = product.flatMap(({ path, imports }) =>
      path.startsWith('src/aggregate/proof/')
        ? []
        : imports
            .filter((to) => /^src\/aggregate\/proof\/(?!index\.ts$)/.test(to))
            .map((to) => `${path}: ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  describe('the proof has two wings', () => {
    const proof = 'src/aggregate/proof/';
    const wingOf = (path: string): string | undefined =>
      /^src\/aggregate\/proof\/(prover|verifier)\//.exec(path)?.[1];
    const entry = `${proof}index.ts`;
    /** verifies parts, for the prover of what they share */
    const merger = `${proof}merger.ts`;
    /** Every file that a file imports, directly or not, and itself. */
    const reached = (start: string): string[] => {
      const graph = new Map(product.map(({ path, imports }) => [path, imports]));
      const seen = new Set<string>();
      const visit = (path: string): void => {
        if (seen.has(path)) return;
        seen.add(path);
        for (const to of graph.get(path) ?? []) visit(to);
      };
      visit(start);
      return [...seen];
    };

    test('no import runs between them, nor into them from the files that both need', () => {
      const files = src.filter(
        ({ path }) => path.startsWith(proof) && path !== entry && path !== merger,
      );
      for (const wing of ['prover', 'verifier']) {
        expect(files.filter(({ path }) => wingOf(path) === wing).length).toBeGreaterThan(8);
      }
      const wrong = files.flatMap(({ path, imports }) =>
        imports
          .filter((to) => wingOf(to) !== undefined && wingOf(to) !== wingOf(path))
          .map((to) => `${path} imports ${to}`),
      );
      expect(wrong).toEqual([]);
    });

    test('there are no other folders', () => {
      const others = src.filter(
        ({ path }) =>
          path.startsWith(proof) &&
          wingOf(path) === undefined &&
          /\//.test(path.slice(proof.length)),
      );
      expect(others.map(({ path }) => path)).toEqual([]);
    });

    test.each([
      ['verifier', 'verifier/verifyMerged.ts'],
      ['prover', 'prover/prove.ts'],
    ])('the %s and the files that both need can be read alone', (wing, start) => {
      const seen = reached(`${proof}${start}`);
      const own = src.filter(({ path }) => wingOf(path) === wing).map(({ path }) => path);
      // every file of the wing is needed, and nothing of the other one is
      expect(seen.filter((path) => wingOf(path) !== undefined).sort()).toEqual(own.sort());
    });

    test('its README lists every file that the verifier needs', () => {
      const readme = readFileSync(`${root}${proof}README.md`, 'utf8');
      const [, list = ''] = /## The verifier alone\n([\s\S]*?)\n## /.exec(readme) ?? [];
      const listed = [...list.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names]) =>
        names!.split(', ').map((name) => `${proof}${name.slice(1, -1)}`),
      );
      const needed = reached(`${proof}verifier/verifyMerged.ts`).filter((path) =>
        path.startsWith(proof),
      );
      expect(listed.toSorted()).toEqual(needed.toSorted());
    });
  });

  test('labels of the transcript are written in one file', () => {
    const wrong = src.filter(
      ({ path, text }) =>
        path.startsWith('src/aggregate/proof/') &&
        !path.endsWith('/transcript.ts') &&
        /\.(absorb|seed|seal)\(\s*['"`]/.test(withoutComments(text)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('hashes are those of @noble/hashes, on every host, but for whole files', () => {
    const others = src.filter(({ imports }) => imports.includes('node:crypto'));
    expect(others.map(({ path }) => path)).toEqual(['src/middleware/blobs/checksums.ts']);
  });

  test('only those who ask for PostgreSQL load its driver', () => {
    const room = /^src\/middleware\/stores\/postgres\//;
    const loaded = /^(?:import|export)\s(?!type\b)[^'";]*?\bfrom\s*'([^']+)'/gm;
    const wrong = src
      .filter(({ path }) => !room.test(path))
      .flatMap(({ path, text }) =>
        [...withoutComments(text).matchAll(loaded)]
          .map(([, to]) => resolve(path, to!))
          .filter((to) => to === 'pg' || room.test(to))
          .map((to) => `${path}: ${to}`),
      );
    expect(wrong).toEqual([]);
    expect(src.filter(({ path }) => room.test(path)).length).toBeGreaterThan(10);
  });

  test('no cycles', () => {
    const graph = new Map(product.map(({ path, imports }) => [path, imports]));
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
        return;
      }
      if (done.has(path)) return;
      for (const to of graph.get(path) ?? []) visit(to, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });

  test('every relative import has its file', () => {
    const paths = new Set(everything.map(({ path }) => path));
    const missing = product.flatMap(({ path, imports }) =>
      imports
        .filter((to) => /^(src|assembly)\//.test(to) && !paths.has(to))
        .map((to) => `${path}: ${to}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the library needs nothing but the web', () => {
  const library = src.filter(({ path }) =>
    /^src\/(falcon|aggregate|keys|algorand|client|wire)\/|^src\/[^/]*$/.test(path),
  );

  test('no globals of one host', () => {
    const wrong = library
      .filter((source) => !isGenerated(source))
      .filter(({ path }) => path !== 'src/shared/threads/host.ts') // asks for threads, and does without
      .filter(({ text }) =>
        /\b(Buffer|process|require|__dirname|Deno)\b[.(]/.test(withoutComments(text)),
      );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('it writes nothing to the console, and neither does the service', () => {
    const wrong = src.filter(
      ({ path, text }) => !path.startsWith('src/cli/') && /\bconsole\./.test(withoutComments(text)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

/** Functions that may be longer, each with its reason. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  'src/middleware/testing/blobContract.ts: blobContract': 'a suite: its tests are short',
  'src/middleware/testing/queueContract.ts: queueContract': 'a suite: its tests are short',
  'src/middleware/testing/partContract.ts: partContract': 'a suite: its tests are short',
  'src/middleware/testing/clientContract.ts: clientContract': 'a suite: its tests are short',
  'examples/own-store/store.ts: mapStore': 'a store in closures over its rows',
  'test/trace/suite.ts: traceSuite': 'a suite: its tests are short',
  'test/client/plainServer.ts: startPlainServer': 'a server in closures over its tasks',
  'test/middleware/crash.long.test.ts: ': 'one story from start to kill, many times',
  'test/middleware/postgresFaults.long.test.ts: ': 'a suite over servers; and one story of crashes',
  'test/middleware/postgresSchema.long.test.ts: ': 'a suite over servers: its tests are short',
  'test/middleware/page/accessibility.ts: measureContrast':
    'runs in a page, which takes one function',
  'test/middleware/page/flow.long.test.ts: ': 'one story: from a key to a verified aggregate',
};

describe('writing', () => {
  const sources = everything.filter((source) => !isGenerated(source));
  const documents = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/(^|\/)(node_modules|dist|build)\//.test(path))
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }));

  test('functions have at most 60 lines', () => {
    const held = sources;
    const functions = held.flatMap(({ path, text }) =>
      functionsOf(path, text).map((each) => ({ ...each, path })),
    );
    expect(functions.length).toBeGreaterThan(500);
    const long = functions.filter(({ lines }) => lines > 60);
    const unlisted = long.filter(({ path, name }) => !(`${path}: ${name}` in LONG_FUNCTIONS));
    expect(
      unlisted.map(({ path, line, name, lines }) => `${path}:${line} ${name} ${lines}`),
    ).toEqual([]);
    const known = new Set(long.map(({ path, name }) => `${path}: ${name}`));
    expect(Object.keys(LONG_FUNCTIONS).filter((name) => !known.has(name))).toEqual([]);
  });

  test('lines have at most 100 columns, in code, comments and documents', () => {
    const held = [...sources, ...documents];
    expect(held.length).toBeGreaterThan(150);
    const wide = held.flatMap(({ path, text }) =>
      wideLines(path, text, 100).map((line) => `${path}:${line}`),
    );
    expect(wide).toEqual([]);
  });

  test('the measures bite', () => {
    const lines = (count: number) => '\n  // a line'.repeat(count);
    const source = `@inline\nfunction long(): i32 {${lines(70)}\n}
      const o = { inner: () => {${lines(61)}\n} };
      describe('tests', () => {${lines(80)}\n  it('one', () => {${lines(65)}\n});\n});`;
    const long = functionsOf('some.ts', source).filter((each) => each.lines > 60);
    expect(long.map(({ name, line, lines: count }) => [name, line, count])).toEqual([
      ['long', 2, 72],
      ['inner', 74, 63],
      ['', 218, 67],
    ]);
    const wide = 'x'.repeat(101);
    expect(wideLines('a.ts', `${wide}\n// short\n// ${wide}`, 100)).toEqual([1, 3]);
    const link = `[text](https://example.com/${wide})`;
    expect(wideLines('a.md', `| ${wide} |\n${link}\n${wide}`, 100)).toEqual([3]);
    expect(wideLines('a.ts', `// see https://example.com/${wide}`, 100)).toEqual([]);
  });

  test('generated files say so, and who makes them', () => {
    const generated = everything.filter((source) => isGenerated(source));
    expect(generated.length).toBeGreaterThan(0);
    const silent = generated.filter(
      ({ lines: [first = ''] }) =>
        !/^\/\/ Generated by scripts\/\S+\.ts\b.*; do not edit\.$/.test(first),
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test('decisions are numbered without a gap, by their names and titles', () => {
    const names = readdirSync(`${root}docs/decisions`).toSorted();
    expect(names.length).toBeGreaterThan(15);
    const wrong = names.filter((name, i) => {
      const title = readFileSync(`${root}docs/decisions/${name}`, 'utf8').split('\n')[0]!;
      const number = String(i + 1);
      return !name.startsWith(`${number.padStart(4, '0')}-`) || !title.startsWith(`# ${number}. `);
    });
    expect(wrong).toEqual([]);
  });

  test('decisions that are referred to exist', () => {
    const names = new Set(readdirSync(`${root}docs/decisions`));
    const wrong = [...sources, ...documents].flatMap(({ path, text }) =>
      [...text.matchAll(/\bdecisions\/(\d{4}-[\w-]+\.md)/g)]
        .filter(([, name]) => !names.has(name!))
        .map(([reference]) => `${path}: ${reference}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('sizes', () => {
  test('no file passes 600 lines, tables and generated files excepted', () => {
    const long = everything
      .filter((source) => !isGenerated(source) && !isTable(source))
      .filter(({ lines }) => lines.length > 600);
    expect(long.map(({ path, lines }) => `${path}: ${lines.length}`)).toEqual([]);
  });

  test('bytes.ts stays a handful', () => {
    expect(
      src.find(({ path }) => path === 'src/shared/bytes.ts')!.lines.length,
    ).toBeLessThanOrEqual(100);
  });

  test('no drawers for odds and ends', () => {
    const odd = everything.filter(({ path }) =>
      /(^|\/)(utils?|common|helpers?|misc)(\/|\.ts$)/.test(path),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });
});

describe('what functions of the module say about themselves', () => {
  const LABELS = ['Spec', 'Shape', 'Bounds', 'Memory', 'Secret', 'Errors'];

  /** Exported functions with their comment and the number of lines of their body. */
  const functions = assembly
    .filter((source) => !isGenerated(source) && !source.path.startsWith('assembly/test/'))
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, at) => {
        const name = /^export function (\w+)/.exec(line)?.[1];
        if (name === undefined) return [];
        let end = at - 1;
        while (/^(@|\/\/)/.test(lines[end] ?? '')) end--;
        let start = end;
        while (start > 0 && !/^\/\*\*/.test(lines[start]!)) start--;
        const comment = /\*\/\s*$/.test(lines[end] ?? '')
          ? lines.slice(start, end + 1).join('\n')
          : '';
        let close = at;
        while (close < lines.length && !/^\}|\}\s*$/.test(lines[close]!)) close++;
        while (close < lines.length && lines[at]!.endsWith('{') && lines[close] !== '}') close++;
        return [{ name: `${path}: ${name}`, comment, length: close - at + 1 }];
      }),
    );

  test('they are found', () => {
    expect(functions.length).toBeGreaterThan(100);
    expect(functions.filter(({ length }) => length > 8).length).toBeGreaterThan(40);
  });

  test('each has a comment, save formulas of a few lines', () => {
    const silent = functions.filter(({ comment, length }) => comment === '' && length > 4);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  test('each one that does more than a formula states source, shape, bounds, memory, secrets or errors', () => {
    const short = functions.filter(
      ({ comment, length }) =>
        length > 12 && LABELS.filter((label) => comment.includes(`${label}:`)).length < 2,
    );
    expect(short.map(({ name, length }) => `${name} (${length} lines)`)).toEqual([]);
  });

  test('no allocation, no exceptions, no strings', () => {
    const wrong = assembly
      .filter(({ path }) => !path.startsWith('assembly/test/'))
      .filter(({ text }) => {
        const code = withoutComments(text)
          .replaceAll(/\/\/.*$/gm, '')
          .replaceAll(/from '[^']*'/g, '');
        return /\bnew \w|\bthrow\b|\bassert\(|["'`]/.test(
          code.replaceAll(/@external\([^)]*\)/g, ''),
        );
      });
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

test('no unfinished business in the sources', () => {
  const words = new RegExp(
    `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'HA' + 'CK', 'X' + 'XX'].join('|')})\\b`,
  );
  const wrong = everything.flatMap(({ path, lines }) =>
    lines.flatMap((line, i) => (words.test(line) ? [`${path}:${i + 1}`] : [])),
  );
  expect(wrong).toEqual([]);
});
