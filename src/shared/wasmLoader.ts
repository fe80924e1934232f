/**
 * Compiles and instantiates the modules. Importing never throws: if the host lacks a feature, the
 * first call that needs it throws.
 */

import { CodedError, isStackOverflow } from './errors.ts';
import type { WasmInstance, WasmModule } from './hostTypes.ts';
import { type EmbeddedModule, moduleBytes } from './moduleEdits.ts';

/**
 * `relaxed` uses relaxed SIMD instructions, only on inputs for which they are exact. `integer` has
 * no floating-point instructions; only objects of `falconry/integer` run on it. Results are the
 * same.
 */
export type ModuleName = 'plain' | 'relaxed' | 'integer';

/** The two builds of one module. */
export interface ModuleLoader {
  /**
   * @returns a new instance
   * @throws CodedError `NO_WEBASSEMBLY`, `OUT_OF_MEMORY` if this host cannot create one
   */
  instantiate(name: ModuleName): WasmInstance;
  /**
   * Compiles without blocking, for hosts that prefer or require it.
   *
   * @throws CodedError `NO_WEBASSEMBLY`, `OUT_OF_MEMORY` (as the promise's rejection)
   */
  compileAsync(name: ModuleName): Promise<void>;
  /**
   * Uses a precompiled module as the named build.
   *
   * @throws TypeError if it is not a compiled module, RangeError if it is a different module;
   *   CodedError `NO_WEBASSEMBLY`
   */
  use(module: WasmModule, name?: ModuleName): void;
}

/** The properties of a module that its loader needs. */
export interface ModuleSource {
  /** The plain build. */
  readonly plain: EmbeddedModule;
  /**
   * Edits, in base64, that turn the plain build into the relaxed one: see moduleEdits.ts. Without
   * them, both names mean the plain build.
   */
  readonly relaxed: string | undefined;
  /** File of the package that contains the module, for error messages. */
  readonly file: string;
  /** Function that accepts a compiled module, for error messages. */
  readonly setter: string;
  /** Name of an export that the module has, and one that only another module has. */
  readonly landmark: string;
  readonly foreign?: string;
}

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** Builds a module with one function () -> v128 of these instructions. */
const probe = (...code: readonly number[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.of(
    ...MAGIC,
    ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
    ...[0x03, 0x02, 0x01, 0x00],
    ...[0x0a, code.length + 4, 0x01, code.length + 2, 0x00, ...code, 0x0b],
  );

/** i32.const 0, i16x8.splat */
const ZEROS = [0x41, 0x00, 0xfd, 0x10];
/** i16x8.relaxed_q15mulr_s */
const RELAXED_PRODUCT = [0xfd, 0x91, 0x02];

const accepts = (bytes: Uint8Array<ArrayBuffer>): boolean =>
  typeof WebAssembly === 'object' && WebAssembly.validate(bytes);

let relaxedIsSupported: boolean | undefined;

/** Returns the fastest build that this engine supports; `plain` if it supports neither. */
export function bestModule(): 'plain' | 'relaxed' {
  relaxedIsSupported ??= accepts(probe(...ZEROS, ...ZEROS, ...RELAXED_PRODUCT));
  return relaxedIsSupported ? 'relaxed' : 'plain';
}

/**
 * @throws RangeError if it is not the name of a build, or this engine does not support the build
 */
export function checkModule(name: unknown): ModuleName {
  if (name !== 'plain' && name !== 'relaxed') {
    throw new RangeError('"module" expected "plain" or "relaxed"');
  }
  if (name === 'relaxed' && bestModule() !== 'relaxed') {
    throw new RangeError('this engine has no relaxed SIMD');
  }
  return name;
}

/** Creates the loader of a module. Nothing is compiled before the first instance. */
export function moduleLoader(source: ModuleSource): ModuleLoader {
  const compiled: Partial<Record<ModuleName, WasmModule>> = {};
  const bytes = (name: ModuleName) =>
    moduleBytes(source.plain, name === 'relaxed' ? source.relaxed : undefined);

  return Object.freeze({
    instantiate(name) {
      requireWebAssembly();
      try {
        compiled[name] ??= new WebAssembly.Module(bytes(name));
        return new WebAssembly.Instance(compiled[name]);
      } catch (error) {
        throw refusal(error, source);
      }
    },
    async compileAsync(name) {
      if (compiled[name] !== undefined) return;
      requireWebAssembly();
      try {
        const module = await WebAssembly.compile(bytes(name));
        compiled[name] ??= module;
      } catch (error) {
        throw refusal(error, source);
      }
    },
    use(module, name = bestModule()) {
      requireWebAssembly();
      const names = new Set(exportsOf(module).map((each) => each.name));
      if (!names.has(source.landmark) || (source.foreign && names.has(source.foreign))) {
        throw new RangeError(`"module" expected ${source.file}, got another module`);
      }
      compiled[name] = module;
    },
  } satisfies ModuleLoader);
}

function exportsOf(module: WasmModule): readonly { readonly name: string }[] {
  try {
    return WebAssembly.Module.exports(module);
  } catch {
    throw new TypeError('"module" expected a WebAssembly.Module');
  }
}

const lacks = (message: string, cause?: unknown): CodedError =>
  new CodedError('NO_WEBASSEMBLY', { message, cause });

function requireWebAssembly(): void {
  if (typeof WebAssembly === 'object') return;
  throw lacks(
    'This host has no WebAssembly. Node’s --jitless and Safari’s Lockdown Mode switch it off.',
  );
}

/**
 * Determines, as far as possible, why the engine rejected a module. Returns a stack overflow
 * unchanged.
 */
function refusal(cause: unknown, { file, setter }: ModuleSource): unknown {
  if (isStackOverflow(cause)) return cause;
  if (/memory|allocat/i.test(String(cause))) {
    return new CodedError('OUT_OF_MEMORY', {
      message:
        'This host has no memory left for a WebAssembly module. Engines reserve up to 10 GB of ' +
        'virtual memory for one: a limit on that (ulimit -v) must allow it.',
      cause,
    });
  }
  if (!accepts(probe(...ZEROS))) {
    return lacks(
      'This engine has no WebAssembly SIMD. Chrome 91, Firefox 89, Safari 16.4 and later ' +
        'have it, on processors with SSE4.1 or NEON.',
      cause,
    );
  }
  try {
    new WebAssembly.Module(Uint8Array.from(MAGIC));
  } catch {
    return lacks(
      "This host forbids compiling WebAssembly. A page allows it with 'wasm-unsafe-eval' in the " +
        'script-src of its Content-Security-Policy; a host that compiles ahead of time passes ' +
        `${file} to ${setter}().`,
      cause,
    );
  }
  return lacks(
    'This engine refuses the WebAssembly module. If it only refuses to compile it synchronously, ' +
      'await ready() first.',
    cause,
  );
}
