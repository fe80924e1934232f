/**
 * An example in an empty folder, as one who copied it has it: its files, the library unpacked from
 * its tarball, and those packages that it declares, with what they need. Nothing else is in reach,
 * so an import that `package.json` does not name fails. Nothing is downloaded: the packages are
 * those that this project has installed, in the very versions that the example asks for.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beside, command } from '../bundlers/project.ts';
import { packageFolders } from '../support/programs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const examplesFolder = join(root, 'examples');
/** What `package.json` of an example says of the library, until the test names the tarball. */
export const PLACEHOLDER = '*';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Where Node would find a package from a folder; undefined if it would not. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) return place;
    if (folder === dirname(folder)) return undefined;
  }
}

/** What comes with a package when it is installed, each with whether it must be there. */
function needs(manifest: Manifest): (readonly [name: string, must: boolean])[] {
  const { optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter((name) => {
    return !peerDependenciesMeta[name]?.optional;
  });
  const musts = [...Object.keys(manifest.dependencies ?? {}), ...peers];
  return [
    ...musts.filter((name) => !(name in optionalDependencies)).map((name) => [name, true] as const),
    ...Object.keys(optionalDependencies).map((name) => [name, false] as const),
  ];
}

/** The folder `node_modules` of an example, while it is filled. */
class Modules {
  readonly #folder: string;
  /** Where each package in the folder came from. */
  readonly #from = new Map<string, string>();

  constructor(example: string) {
    this.#folder = join(example, 'node_modules');
  }

  /** Adds a package of this project and what it needs; `to` is where it would be looked for. */
  async add(name: string, source: string, to: string = this.#folder): Promise<void> {
    const known = this.#from.get(name);
    if (known === source) return;
    // Another version of the same name goes beside the package that needs it.
    const target = join(known === undefined ? this.#folder : to, name);
    if (known === undefined) this.#from.set(name, source);
    else if (existsSync(target)) return;
    await mkdir(dirname(target), { recursive: true });
    await copyLinked(source, target);
    if (to === this.#folder) await this.addPrograms(target, source);
    await this.addNeeds(source, target);
  }

  /** Makes the programs of a package callable by their names. */
  async addPrograms(target: string, source: string = target): Promise<void> {
    const { name, bin = {} } = manifestOf(target);
    const programs = typeof bin === 'string' ? { [name]: bin } : bin;
    await mkdir(join(this.#folder, '.bin'), { recursive: true });
    for (const [program, file] of Object.entries(programs)) {
      // A package may have put its native program in the place of a script, as Deno does.
      const linked = join(source.slice(0, -name.length), '.bin', program);
      const real = existsSync(linked) ? relative(realpathSync(source), realpathSync(linked)) : file;
      const inside = real.startsWith('..') ? file : real;
      await symlink(join(target, inside), join(this.#folder, '.bin', program));
    }
  }

  /** Adds what the package at `source` needs; it has been copied to `target`. */
  async addNeeds(source: string, target: string, from: string = source): Promise<void> {
    for (const [name, must] of needs(manifestOf(source))) {
      const place = find(name, from);
      if (place === undefined && must) throw new Error(`${source} needs ${name}: not installed`);
      // What is below the package has been copied with it.
      if (place === undefined || place.startsWith(`${source}/`)) continue;
      await this.add(name, place, join(target, 'node_modules'));
    }
  }
}

/** Hard links where the file system has them, copies elsewhere. */
async function copyLinked(source: string, target: string): Promise<void> {
  await command(root, 'cp', ['-al', source, target]).catch(() =>
    cp(source, target, { recursive: true, force: true, verbatimSymlinks: true }),
  );
}

/**
 * Lays an example out in a new folder.
 *
 * @param name its folder in `examples`
 * @param tarball the packed library
 * @returns the new folder
 * @throws if the example asks for a version that is not the installed one
 */
export async function layOutExample(name: string, tarball: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `falconry-example-${name}-`));
  const source = join(examplesFolder, name);
  await cp(source, folder, {
    recursive: true,
    filter: (path) =>
      !/^\/(node_modules|dist|\.next|\.falconry)(\/|$)/.test(path.slice(source.length)),
  });
  const library = join(folder, 'node_modules/falconry');
  await mkdir(library, { recursive: true });
  await command(folder, 'tar', ['-xzf', tarball, '-C', library, '--strip-components=1']);
  const modules = new Modules(folder);
  const manifest = manifestOf(folder);
  const declared = { ...manifest.dependencies, ...manifest.devDependencies };
  if (declared.falconry !== PLACEHOLDER) throw new Error(`${name}: falconry is not a dependency`);
  for (const [wanted, version] of Object.entries(declared)) {
    if (wanted === 'falconry') continue;
    const places = [...packageFolders(wanted), beside(wanted)].filter(existsSync);
    const found = places.map((place) => manifestOf(place).version);
    const place = places[found.indexOf(version)];
    if (place === undefined) {
      throw new Error(`${name} asks for ${wanted} ${version}; installed: ${found.join(', ')}`);
    }
    await modules.add(wanted, place);
  }
  await modules.addNeeds(library, library, root);
  await modules.addPrograms(library);
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const pinned = text.replace(`"falconry": "${PLACEHOLDER}"`, `"falconry": "file:${tarball}"`);
  await writeFile(join(folder, 'package.json'), pinned);
  return folder;
}

/** The words of a script of the example, as npm would run them: `node server.ts`, `tsc`. */
export function scriptOf(folder: string, name: string): [program: string, ...args: string[]] {
  const script = manifestOf(folder).scripts?.[name];
  if (script === undefined) throw new Error(`no script ${name} in ${folder}`);
  const [program = '', ...args] = script.split(' ');
  if (program === 'node') return [process.execPath, ...args];
  return [join(folder, 'node_modules/.bin', program), ...args];
}
