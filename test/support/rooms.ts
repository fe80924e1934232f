/** Who may import whom: the rooms of the house, for test/architecture.test.ts. */

/** What the library's rooms stand on. */
const FOUNDATION =
  /^src\/shared\/(errors|intrinsics|arguments|bytes|utf8|host\w+|inflate|random|wait|wasm.+)\.ts$/;

/** What all of the command line may use. */
const LIBRARY: readonly RegExp[] = [
  /^src\/shared\/(errors|bytes|utf8)\.ts$/,
  /^src\/(falcon|aggregate)\/index\.ts$/,
  /^src\/wire\//,
  /^node:/,
];
const OPTIONS = /^src\/(middleware\/options\/optionTable|shared\/optionRows)\.ts$/;

/**
 * The import table. A file is under the first row whose pattern it matches; everything it imports
 * must match one of the row's targets. Files of its own folder (and below) are always allowed.
 */
export const ROOMS: readonly { from: RegExp; self: string; to: readonly RegExp[] }[] = [
  { from: /^assembly\/shared\//, self: 'assembly/shared/', to: [] },
  { from: /^assembly\/falcon\//, self: 'assembly/falcon/', to: [/^assembly\/shared\//] },
  { from: /^assembly\/labrador\//, self: 'assembly/labrador/', to: [/^assembly\/shared\//] },
  // Entries that exist to be tested.
  { from: /^assembly\/test\//, self: 'assembly/test/', to: [/^assembly\//] },
  {
    from: /^src\/shared\/(intr\w+|errors|arguments|bytes|utf8|host\w+|random|wait|wasm.+)\.ts$/,
    self: '',
    to: [/^src\/shared\/(errors|hostTypes|intrinsics|moduleEdits|utf8)\.ts$/],
  },
  {
    from: /^src\/shared\/(hostTypes|inflate|moduleEdits)\.ts$/,
    self: '',
    to: [/^src\/shared\/moduleEdits\.ts$/],
  },
  // Hashes and tables of options, for the service and the command line.
  { from: /^src\/shared\/(hash|optionRows)\.ts$/, self: '', to: [/^@noble\/hashes\//] },
  {
    from: /^src\/index\.ts$/,
    self: '',
    to: [/^src\/shared\/errors\.ts$/, /^src\/(falcon|aggregate)\/index\.ts$/],
  },
  // The pool of threads serves every room and knows none.
  { from: /^src\/shared\/threads\//, self: 'src/shared/threads/', to: [FOUNDATION] },
  // Other schemes on the same module: their encodings and hashes.
  {
    from: /^src\/falcon\/profiles\//,
    self: 'src/falcon/profiles/',
    to: [
      FOUNDATION,
      /^src\/falcon\/(det|deterministic|index|params|points|sign|types|verifier|verify|wasm)\.ts$/,
      /^@noble\/hashes\//,
    ],
  },
  // Wrappings of keys; the frame of attached signatures is falcon's own.
  {
    from: /^src\/falcon\/keys\//,
    self: 'src/falcon/keys/',
    to: [FOUNDATION, /^src\/falcon\/(index|attached|params)\.ts$/, /^@noble\/hashes\//],
  },
  // Accounts of Algorand: from outside, as its users see Falcon.
  {
    from: /^src\/falcon\/compat\/algorand\//,
    self: 'src/falcon/compat/algorand/',
    to: [FOUNDATION, /^src\/falcon\/index\.ts$/, /^@noble\/hashes\//],
  },
  // Another library's shape of ours.
  {
    from: /^src\/falcon\/compat\/noble\//,
    self: 'src/falcon/compat/noble/',
    to: [FOUNDATION, /^src\/falcon\/(index|params)\.ts$/, /^@noble\/hashes\//],
  },
  { from: /^src\/falcon\//, self: 'src/falcon/', to: [FOUNDATION, /^src\/shared\/threads\//] },
  // The proof is a room within the room: it knows nothing of bundles, formats or options.
  {
    from: /^src\/aggregate\/(proof|parameters)\/|^src\/aggregate\/wasm\.ts$/,
    self: 'src/aggregate/proof/',
    to: [
      FOUNDATION,
      /^src\/falcon\/(index|params|points|salts)\.ts$/,
      /^src\/aggregate\/(wasm|labrador(\.relaxed)?\.wasm\.gen)\.ts$/,
      /^src\/aggregate\/(gaussianCoder|salts|statement)\.ts$/,
      /^src\/aggregate\/parameters\//,
      /^src\/shared\/wait\.ts$/,
    ],
  },
  {
    from: /^src\/aggregate\//,
    self: 'src/aggregate/',
    to: [
      FOUNDATION,
      /^src\/falcon\/(index|params|points|salts|deterministic|verifyItems)\.ts$/,
      /^src\/falcon\/falcon\.verify\.wasm\.gen\.ts$/,
      /^src\/shared\/threads\//,
      /^@noble\/hashes\//,
    ],
  },
  // What service, client, command line and page share: the formats of files, hex, the page's
  // configuration.
  {
    from: /^src\/wire\//,
    self: 'src/wire/',
    to: [/^src\/shared\/(errors|bytes|utf8|arguments)\.ts$/, /^src\/aggregate\/index\.ts$/],
  },
  // The page runs in browsers.
  {
    from: /^src\/middleware\/page\/browser\//,
    self: 'src/middleware/page/browser/',
    to: [
      /^src\/shared\/(errors|bytes|threads\/(thread|serve|slices))\.ts$/,
      /^src\/(falcon|aggregate|client)\/index\.ts$/,
      // The module of the library's threads, bundled.
      /^src\/aggregate\/aggregateWorker\.ts$/,
      /^src\/wire\//,
    ],
  },
  // The store on a server: the port, what tasks are, its one driver, and the files of its TLS.
  {
    from: /^src\/middleware\/stores\/postgres\//,
    self: 'src/middleware/stores/postgres/',
    to: [
      /^src\/shared\/(errors|wait)\.ts$/,
      /^src\/middleware\/stores\/port\/\w+\.ts$/,
      /^src\/wire\/taskStates\.ts$/,
      /^pg$/,
      /^node:fs$/,
    ],
  },
  // The store in a bucket: an entry of its own, with a dependency that no other room has.
  {
    from: /^src\/middleware\/blobs\/s3\//,
    self: 'src/middleware/blobs/s3/',
    to: [
      /^src\/shared\/(errors|bytes|wait)\.ts$/,
      /^src\/middleware\/blobs\/port\/(blobStore|chunks)\.ts$/,
      /^src\/shared\/optionRows\.ts$/,
      /^@noble\/hashes\//,
      /^aws4fetch$/,
      /^node:/,
    ],
  },
  // The suites for stores: the ports that they hold stores to, and Node's assertions.
  {
    from: /^src\/middleware\/testing\//,
    self: 'src/middleware/testing/',
    to: [
      /^src\/middleware\/(stores\/port\/\w+|blobs\/port\/blobStore)\.ts$/,
      /^src\/wire\/taskStates\.ts$/,
      /^node:assert\/strict$/,
    ],
  },
  // A port knows tasks and the wire only; the rules know the port; SQLite knows both.
  {
    from: /^src\/middleware\/stores\/port\//,
    self: 'src/middleware/stores/port/',
    to: [/^src\/shared\/(errors|random)\.ts$/, /^src\/wire\/taskStates\.ts$/],
  },
  {
    from: /^src\/middleware\/stores\/rules\//,
    self: 'src/middleware/stores/rules/',
    to: [/^src\/middleware\/stores\/port\//, /^src\/wire\/taskStates\.ts$/, /^node:/],
  },
  {
    from: /^src\/middleware\/stores\/sqlite\//,
    self: 'src/middleware/stores/sqlite/',
    to: [
      /^src\/shared\/(errors|wait)\.ts$/,
      /^src\/shared\/threads\//,
      /^src\/middleware\/stores\/(port|rules)\//,
      /^node:/,
    ],
  },
  {
    from: /^src\/middleware\/(stores|blobs)\//,
    self: '',
    to: [
      /^src\/shared\/(errors|bytes|hostTypes|wait)\.ts$/,
      /^src\/middleware\/(stores|blobs)\//,
      /^src\/middleware\/events\.ts$/,
      // Checksums of files.
      /^@noble\/hashes\//,
      // A store may have a thread of its own.
      /^src\/shared\/threads\//,
      /^src\/wire\/taskStates\.ts$/,
      /^node:/,
    ],
  },
  // The port of signers, and the key file.
  {
    from: /^src\/middleware\/signing\//,
    self: 'src/middleware/signing/',
    to: [
      /^src\/shared\/(arguments|bytes|errors|utf8|wait)\.ts$/,
      /^src\/falcon\/(index|integer)\.ts$/,
      /^node:/,
    ],
  },
  // API keys and callers.
  {
    from: /^src\/middleware\/identity\//,
    self: 'src/middleware/identity/',
    to: [
      /^src\/shared\/(errors|hash|random)\.ts$/,
      /^src\/middleware\/(events|stores\/port\/\w+)\.ts$/,
    ],
  },
  // Adapters to hosts know the service from outside only.
  {
    from: /^src\/middleware\/hosts\//,
    self: 'src/middleware/hosts/',
    to: [
      /^src\/shared\/errors\.ts$/,
      /^src\/middleware\/http\/(address|continue|direct|npmInstallHono|observe|problems)\.ts$/,
      /^@hono\/node-server$/,
      /^node:/,
    ],
  },
  {
    from: /^src\/middleware\//,
    self: 'src/middleware/',
    to: [
      /^src\/shared\/(errors|hostTypes|bytes|utf8|random|wait|hash|optionRows)\.ts$/,
      /^src\/(falcon|falcon\/keys|aggregate)\/index\.ts$/,
      /^src\/(shared\/threads|wire)\//,
      /^hono(\/|$)/,
      /^@noble\/hashes\//,
      /^node:/,
    ],
  },
  // The client knows the wire, not the service; the library only checks its results.
  {
    from: /^src\/client\//,
    self: 'src/client/',
    to: [
      /^src\/shared\/(errors|bytes|hostTypes|random|arguments)\.ts$/,
      /^src\/aggregate\/index\.ts$/,
      // Formats that need nothing of the library.
      /^src\/wire\/(hex|triple|taskStates)\.ts$/,
      /^eventsource-parser$/,
    ],
  },
  // The command line by purpose: the folders share only lib/, and only operate/ needs Hono.
  { from: /^src\/cli\/lib\//, self: 'src/cli/lib/', to: [...LIBRARY, OPTIONS] },
  {
    from: /^src\/cli\/files\//,
    self: 'src/cli/files/',
    to: [
      ...LIBRARY,
      /^src\/cli\/lib\//,
      /^src\/falcon\/keys\/index\.ts$/,
      // What a deterministic signature stands for, the bounds of a seed, and another build.
      /^src\/falcon\/(deterministic|integer|params)\.ts$/,
    ],
  },
  {
    from: /^src\/cli\/service\//,
    self: 'src/cli/service/',
    to: [...LIBRARY, /^src\/cli\/lib\//, /^src\/client\/index\.ts$/, /^src\/shared\/hash\.ts$/],
  },
  {
    from: /^src\/cli\/operate\//,
    self: 'src/cli/operate/',
    to: [
      ...LIBRARY,
      /^src\/cli\/lib\//,
      OPTIONS,
      /^src\/shared\/wait\.ts$/,
      /^src\/middleware\//,
      /^@hono\/node-server$/,
      // Loaded if they are there: metrics, spans, the signer of a bucket's requests.
      /^(prom-client|@opentelemetry\/api|aws4fetch)$/,
    ],
  },
  { from: /^src\/cli\//, self: 'src/cli/', to: [/^node:/] },
];

/**
 * The folder of a source file, for the rule that no two folders import each other: the first one
 * below `src`, and of the service the one below it. The files beside these folders count as one;
 * `events.ts`, which everything may import, is on its own.
 */
export function folderOf(path: string): string {
  if (path === 'src/middleware/events.ts') return path;
  const parts = path.split('/').slice(0, -1);
  return parts.slice(0, parts[1] === 'middleware' ? 3 : 2).join('/');
}
