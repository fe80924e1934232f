/**
 * Makes the parts of the site that are not written by hand: pages from documents elsewhere in the
 * repository, the list of decisions, the reference of the API, the sizes of aggregates, copies of
 * linked files, and the package that the playground runs.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { compilePackage } from '../../scripts/compilePackage.ts';
import { makeApi } from './api.ts';
import { httpPage, readOpenApi } from './http.ts';
import { EXAMPLES, GATHERED, linkedFiles } from './links.ts';
import { DOCS, HOME, MADE, MADE_FILES, MADE_PAGES, PACKAGE, ROOT } from './places.ts';
import { measureSizes } from './sizes.ts';

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Documents from elsewhere, each as a page. */
function gather(): void {
  for (const [path, page] of Object.entries(GATHERED)) {
    if (existsSync(join(ROOT, path))) {
      put(join(MADE_PAGES, page), readFileSync(join(ROOT, path), 'utf8'));
    }
  }
}

/** What installing, building and running leave in the folder of an example. */
const LEFT_BEHIND = ['node_modules/**', 'dist/**', '.*/**', 'next-env.d.ts', 'package-lock.json'];
const CODE = /\.(ts|tsx|js|mjs|json|html|capnp)$/;

/** The code of the examples, below what their READMEs say, and the way to it. */
function addCode(): void {
  const all = `${HOME.page}/tree/${HOME.tag}/examples`;
  const index = join(MADE_PAGES, 'examples/index.md');
  const way = `All of them are in [the repository](${all}); each has its code on its page, too.`;
  put(index, `${readFileSync(index, 'utf8')}\n${way}\n`);
  for (const name of EXAMPLES) {
    const folder = join(ROOT, 'examples', name);
    const files = globSync('**/*', { cwd: folder, exclude: LEFT_BEHIND }).filter((path) =>
      CODE.test(path),
    );
    const parts = files.toSorted().map((path) => {
      const title = `### ${path.replaceAll(/[[\]]/g, '\\$&')}`;
      const language = extname(path).replace('.mjs', '.js').slice(1);
      const code = readFileSync(join(folder, path), 'utf8').trimEnd();
      return `${title}\n\n\`\`\`${language}\n${code}\n\`\`\``;
    });
    const place = `[${name}](${all}/${name})`;
    const head = `## The code\n\nThe folder of the repository is ${place}.`;
    const page = join(MADE_PAGES, 'examples', `${name}.md`);
    const text = readFileSync(page, 'utf8').trimEnd();
    put(page, `${[text, head, ...parts].join('\n\n')}\n`);
  }
}

function listDecisions(): void {
  const names = readdirSync(join(DOCS, 'decisions')).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const lines = names.toSorted().map((name) => {
    const text = readFileSync(join(DOCS, 'decisions', name), 'utf8');
    const [, number = '', title = ''] = /^# (\d+)\. (.*)$/m.exec(text) ?? [];
    return `| ${number} | [${title}](${name}) |`;
  });
  const head = [
    '# Decisions',
    '',
    'Why things are as they are. Each page has the context, the decision and the trade-off.',
    '',
    '| number | decision |',
    '|---|---|',
  ];
  put(join(MADE_PAGES, 'decisions/index.md'), [...head, ...lines, ''].join('\n'));
}

/** Every document that is a page and may link to files. */
function documents(): string[] {
  const own = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !/(^|\/)(node_modules|build)\//.test(name))
    .map((name) => `docs/${name}`);
  return [...own, ...Object.keys(GATHERED).filter((path) => existsSync(join(ROOT, path)))];
}

/** Copies of linked files, as text, so that browsers show them. */
function copyFiles(): void {
  for (const path of linkedFiles(documents())) {
    const place = join(ROOT, path);
    if (statSync(place).isDirectory()) {
      put(join(MADE_FILES, 'files', path, 'index.txt'), `${readdirSync(place).join('\n')}\n`);
    } else {
      const copy = join(MADE_FILES, 'files', `${path}.txt`);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(place, copy);
    }
  }
}

/** Everything anew. */
async function prepare(): Promise<void> {
  for (const folder of [MADE_PAGES, MADE_FILES]) rmSync(folder, { recursive: true, force: true });
  gather();
  addCode();
  listDecisions();
  copyFiles();
  copyFileSync(join(ROOT, 'src/middleware/page/browser/icon.svg'), join(MADE_FILES, 'icon.svg'));
  put(join(MADE, 'sizes.json'), `${JSON.stringify(measureSizes(), null, 2)}\n`);
  put(join(MADE_PAGES, 'http.md'), httpPage(await readOpenApi()));
  compilePackage(join(PACKAGE, 'dist'));
  await makeApi();
}

await prepare();
