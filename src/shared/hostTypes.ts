/**
 * Types of the host's objects, for declarations that need neither the DOM's types nor Node's: the
 * types of the project that compiles them, if it has any, else the members that are used here.
 */

/** The instances of a global class. */
type Host<Name extends string, Otherwise> = typeof globalThis extends {
  readonly [N in Name]: { prototype: infer T };
}
  ? T
  : Otherwise;

/** `AbortSignal` */
export type HostSignal = Host<
  'AbortSignal',
  {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: 'abort', listener: () => void): void;
    removeEventListener(type: 'abort', listener: () => void): void;
  }
>;

/** `URL` */
export type HostUrl = Host<'URL', { readonly href: string }>;

/** `Blob` */
export type HostBlob = Host<
  'Blob',
  { readonly size: number; arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> }
>;

/** A `ReadableStream` of bytes: what is used of one. */
export interface ReadableBytes {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(reason?: unknown): Promise<unknown>;
    releaseLock(): void;
  };
}

/** `ReadableStream<Uint8Array>` */
export type HostStream = Host<'ReadableStream', unknown> & ReadableBytes;

/** `Response` */
export type HostResponse = Host<
  'Response',
  {
    readonly ok: boolean;
    readonly status: number;
    readonly headers: { get(name: string): string | null };
    readonly body: ReadableBytes | null;
    text(): Promise<string>;
  }
>;

/** `RequestInit` */
export type HostRequestInit = typeof globalThis extends {
  fetch: (input: never, init?: infer Init) => unknown;
}
  ? NonNullable<Init>
  : {
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly signal?: HostSignal;
      readonly body?: string | Uint8Array | ReadableBytes;
    };

/** `Worker` */
export type HostWorker = Host<'Worker', object>;

/** The classes of `WebAssembly`. */
type Wasm<Name extends string> = typeof globalThis extends {
  WebAssembly: { readonly [N in Name]: { prototype: infer T } };
}
  ? T
  : object;

export type WasmModule = Wasm<'Module'>;
export type WasmInstance = Wasm<'Instance'>;
