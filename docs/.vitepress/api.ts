/**
 * The reference of the API, from the comments in the sources: one page for every entry of the
 * package. TypeDoc needs the TypeScript that is installed beside it; the project itself is compiled
 * by a newer one.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Application,
  type DeclarationReflection,
  ReflectionGroup,
  ReflectionKind,
  type TypeDocOptions,
} from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { type Entry, entries, MADE_PAGES, ROOT } from './places.ts';

/** Modules that threads run: they export nothing. */
const OF_THREADS = new Set(['falconry/verify-worker', 'falconry/aggregate-worker']);

/** Entries that have something to document. */
export const documented = (): Entry[] => entries().filter(({ name }) => !OF_THREADS.has(name));

/** The page of an entry, without its ending. */
export const apiPage = (name: string): string => `api/${name}`;

const OPTIONS: TypeDocOptions & PluginOptions = {
  plugin: ['typedoc-plugin-markdown'],
  // Never the default: that is docs/, which TypeDoc would empty first.
  out: join(MADE_PAGES, 'api'),
  cleanOutputDir: false,
  tsconfig: join(ROOT, 'tsconfig.build.json'),
  name: 'API',
  readme: 'none',
  entryFileName: 'index',
  alwaysCreateEntryPointModule: true,
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  // The project's own compiler checks the sources; this one only reads them.
  skipErrorChecking: true,
  logLevel: 'Warn',
  validation: { notExported: false, invalidLink: true, invalidPath: false },
  outputFileStrategy: 'modules',
  // Headings that differ by a dot alone get one anchor from some, and two from others.
  useHTMLAnchors: true,
  anchorPrefix: 'api-',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  groupOrder: ['Functions', 'Variables', 'Classes', '*'],
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  pageTitleTemplates: {
    index: 'API reference',
    module: ({ name }: { name: string }) => name,
  },
};

/** What the page of the main entry opens with. */
const FIRST = ['falcon512', 'aggregate', 'verifyAggregate'];

/** What each entry is for, in the index. */
const PURPOSES: Readonly<Record<string, string>> = {
  falconry: 'The library: signatures, batches, aggregates.',
  'falconry/falcon': 'Signatures alone: a smaller bundle.',
  'falconry/aggregate': 'Aggregation alone.',
  'falconry/verify': 'Verifies signatures of every profile, for pages that count kilobytes.',
  'falconry/verify-aggregate': 'Verifies aggregates, for pages that count kilobytes.',
  'falconry/integer': 'Signatures without floating point.',
  'falconry/keys': 'Imports and exports keys: PEM, DER, JWK, passphrases, other programs.',
  'falconry/noble': 'Falcon with the interface of @noble/post-quantum.',
  'falconry/algorand': 'Accounts, addresses, mnemonics and the signer of Algorand.',
  'falconry/eth-falcon': 'ETHFALCON: Falcon-512 with a hash for the Ethereum virtual machine.',
  'falconry/drafts/fn-dsa-2026-07': 'A draft of FN-DSA, as of July 2026.',
  'falconry/middleware': 'The service: a Hono app, its options, adapters for other servers, ports.',
  'falconry/client': 'The client of the service.',
  'falconry/postgres': 'Stores the tasks of the service in PostgreSQL.',
  'falconry/s3': 'Stores the files of the service in a bucket.',
  'falconry/testing': 'The contract suites that a store of your own must pass.',
};

function indexPage(list: readonly Entry[]): string {
  const rows = list.map(({ name }) => {
    const purpose = PURPOSES[name];
    if (purpose === undefined) throw new Error(`docs/.vitepress/api.ts: what is ${name} for?`);
    return `| [${name}](${name}.md) | ${purpose} |`;
  });
  const head = ['# API reference', '', '| entry | purpose |', '|---|---|'];
  return [...head, ...rows, ''].join('\n');
}

/** Moves what a reader looks for first to the top of a module. */
function putFirst(module: DeclarationReflection): void {
  const group = new ReflectionGroup('Start here', module);
  group.children = FIRST.map((name) => module.children!.find((child) => child.name === name)!);
  for (const other of module.groups ?? []) {
    other.children = other.children.filter((child) => !group.children.includes(child));
  }
  module.groups = [group, ...(module.groups ?? []).filter(({ children }) => children.length > 0)];
}

/** Writes the pages of some entries. TypeDoc makes one page of what several entries export. */
async function makePages(list: readonly Entry[]): Promise<void> {
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    entryPoints: list.map(({ source }) => join(ROOT, source)),
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources');
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const sources = [`src/${module.name}.ts`, `src/${module.name}/index.ts`];
    const entry = list.length === 1 ? list[0] : list.find(({ source }) => sources.includes(source));
    if (entry === undefined) throw new Error(`${module.name} is no entry of the package`);
    module.name = entry.name;
    if (entry === list[0] && list.length === 1) putFirst(module);
  }
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) {
    throw new Error('TypeDoc found faults in the comments');
  }
}

/** Writes all pages. @throws Error if the comments give TypeDoc a reason to warn */
export async function makeApi(): Promise<void> {
  const [main, ...others] = documented();
  await makePages(others);
  // By itself: else its page would only refer to those of the other entries.
  await makePages([main!]);
  writeFileSync(join(MADE_PAGES, 'api/index.md'), indexPage([main!, ...others]));
}
