/**
 * The reference of the API, from the comments in the sources: one page for every entry of the
 * package. TypeDoc needs the TypeScript that is installed beside it; the project itself is compiled
 * by a newer one.
 */
import { join } from 'node:path';
import { Application, ReflectionKind, type TypeDocOptions } from 'typedoc';
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

/** Writes the pages. @throws Error if the comments give TypeDoc a reason to warn */
export async function makeApi(): Promise<void> {
  const list = documented();
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    entryPoints: list.map(({ source }) => join(ROOT, source)),
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources');
  const modules = project.getChildrenByKind(ReflectionKind.Module);
  for (const module of modules) {
    const sources = [`src/${module.name}.ts`, `src/${module.name}/index.ts`];
    const entry = list.find(({ source }) => sources.includes(source));
    if (entry === undefined) throw new Error(`${module.name} is no entry of the package`);
    module.name = entry.name;
  }
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) {
    throw new Error('TypeDoc found faults in the comments');
  }
}
