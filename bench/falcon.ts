/**
 * Falcon compared with other packages: one process, one thread, 32-byte messages, a different key
 * and message in every call.
 *
 *   key generation   the same seeds for ours and noble; the others accept none
 *   integer          key generation and signing of `falconry/integer`
 *   sign, verify     alternating keys and messages; the fastest synchronous call of each peer
 *   det, derived     the same with reproducible signatures; the aim is sign's time and a tenth
 *   verifyBatch      prepared keys, per signature
 *   threads          one large batch on a pool of one thread and of two
 */
import { createVerifyPool, falcon512, falcon1024, type VerifyPool } from '../src/falcon/index.ts';
import * as integer from '../src/falcon/integer.ts';
import { type Degree, loadPeers, type Peer, pqcleanIsNative } from '../test/support/peers.ts';
import { testRandom } from '../test/support/random.ts';
import type { BenchOptions } from './main.ts';
import { type Contender, type Figure, interleave } from './support/interleave.ts';
import { machine, ownVersions } from './support/machine.ts';

const KEYS = 16;
const BATCH = 256;
const POOL_BATCH = 16_384;

const DERIVED = { salt: 'derived' } as const;

/**
 * The limits: how many times as fast as which figure. They are the same for both parameter sets.
 */
const BAR = [
  { ours: 'verify', theirs: 'verify pqclean', must: 6, aim: 7.5 },
  { ours: 'verifyBatch prepared', theirs: 'verify pqclean', must: 7.5, aim: 9.5 },
  { ours: 'sign', theirs: 'sign noble', must: 14, aim: 19 },
  { ours: 'sign expanded', theirs: 'sign noble', must: 20, aim: 26 },
  { ours: 'keygen', theirs: 'keygen noble', must: 25, aim: 40 },
  { ours: 'integer sign', theirs: 'sign noble', must: 2.2, aim: 2.5 },
  { ours: 'integer sign', theirs: 'sign pqclean', must: 2.5, aim: 3 },
  { ours: 'pool 2 threads', theirs: 'pool 1 thread', must: 1.9, aim: 1.95 },
] as const;

interface Ratio {
  set: string;
  ours: string;
  theirs: string;
  ratio: number;
  must: number;
  aim: number;
  verdict: 'aim' | 'must' | 'missed';
}

export async function run({ quick }: BenchOptions): Promise<void> {
  const host = machine();
  const versions: Record<string, string> = { ...ownVersions() };
  console.log(`${host.cpu}, ${host.cores} cores, load ${host.load}`);
  console.log(`Node ${host.node}, V8 ${host.v8}, ${falcon512.module} SIMD`);

  const figures: Record<string, Record<string, Figure>> = {};
  const ratios: Ratio[] = [];
  for (const degree of [512, 1024] as const) {
    const peers = await loadPeers(degree);
    for (const peer of peers) versions[peer.name] = peer.version;
    if (degree === 512) {
      const kind = pqcleanIsNative() ? 'native' : 'WebAssembly, NOT the native add-on';
      console.log(
        `falconry ${versions.falconry}; @noble/post-quantum ${versions.noble}; ` +
          `@oqs/liboqs-js ${versions.oqs}; pqclean ${versions.pqclean} (${kind})\n`,
      );
    }
    const set = `Falcon-${degree}`;
    const measured = await measure(degree, peers, quick);
    for (const peer of peers) peer.close();
    figures[set] = Object.fromEntries(measured.map((figure) => [figure.name, figure]));
    print(set, measured);
    ratios.push(...judge(set, figures[set]));
  }

  printRatios(ratios);
  if (host.load > host.cores / 2) {
    console.log(`Other work was running (load ${host.load}): run it again on a quiet machine.`);
  }
  if (!pqcleanIsNative()) console.log('pqclean is not native here: its ratios say nothing.');
  const rounded = Object.fromEntries(
    Object.entries(figures).map(([set, list]) => [
      set,
      Object.fromEntries(
        Object.entries(list).map(([name, { medianUs, p20Us, samples }]) => [
          name,
          { medianUs: round(medianUs), p20Us: round(p20Us), samples },
        ]),
      ),
    ]),
  );
  console.log(
    JSON.stringify({ bench: 'falcon', quick, machine: host, versions, figures: rounded, ratios }),
  );
}

const round = (us: number): number => Number(us.toPrecision(5));

async function measure(degree: Degree, peers: readonly Peer[], quick: boolean): Promise<Figure[]> {
  const inputs = makeInputs(degree, quick);
  const options = { rounds: quick ? 5 : 25, sliceMs: quick ? 15 : 30 };
  const figures = [
    ...(await interleave(generators(inputs, peers, quick ? 2 : 4), {
      rounds: quick ? 1 : 3,
      sliceMs: 0,
    })),
    ...(await interleave(signers(inputs, peers), options)),
    ...(await interleave(verifiers(inputs, peers), options)),
    ...(await measurePools(degree, inputs.batch, quick)),
  ];
  for (const key of inputs.expanded) key.destroy();
  return figures;
}

type Inputs = ReturnType<typeof makeInputs>;

function makeInputs(degree: Degree, quick: boolean) {
  const [falcon, onIntegers] =
    degree === 512 ? [falcon512, integer.falcon512] : [falcon1024, integer.falcon1024];
  const random = testRandom(`bench ${degree}`);
  const seeds = Array.from({ length: quick ? 4 : 8 }, () => random.bytes(48));
  const keys = Array.from({ length: KEYS }, () => falcon.keygen(random.bytes(48)));
  const messages = Array.from({ length: 4 * KEYS }, () => random.bytes(32));
  const items = messages.map((message, i) => {
    const { publicKey, secretKey } = keys[i % KEYS]!;
    return { message, publicKey, signature: falcon.sign(message, secretKey) };
  });
  const prepared = keys.map(({ publicKey }) => falcon.preparePublicKey(publicKey));
  const expanded = keys.map(({ secretKey }) => falcon.expandSecretKey(secretKey));
  const batch = Array.from({ length: BATCH }, (_, i) => ({
    ...items[i % items.length]!,
    publicKey: prepared[i % KEYS]!,
  }));
  return { falcon, onIntegers, seeds, keys, messages, items, prepared, expanded, batch };
}

/** @param calls of the peers that take no seed, in each round */
function generators(
  { falcon, onIntegers, seeds }: Inputs,
  peers: readonly Peer[],
  calls: number,
): Contender[] {
  const seed = (i: number) => seeds[i % seeds.length];
  return [
    { name: 'keygen', operate: (i) => falcon.keygen(seed(i)), calls: seeds.length },
    { name: 'integer keygen', operate: (i) => onIntegers.keygen(seed(i)), calls: seeds.length },
    ...peers.map((peer) => ({
      name: `keygen ${peer.name}`,
      operate: (i: number) => peer.keygen(peer.name === 'noble' ? seed(i) : undefined),
      calls: peer.name === 'noble' ? seeds.length : calls,
    })),
  ];
}

function signers(inputs: Inputs, peers: readonly Peer[]): Contender[] {
  const { falcon, onIntegers, keys, messages, expanded } = inputs;
  const message = (i: number) => messages[i % messages.length]!;
  const secretKey = (i: number) => keys[i % KEYS]!.secretKey;
  return [
    { name: 'sign', operate: (i) => falcon.sign(message(i), secretKey(i)) },
    { name: 'sign expanded', operate: (i) => falcon.sign(message(i), expanded[i % KEYS]!) },
    { name: 'det.sign', operate: (i) => falcon.det.sign(message(i), secretKey(i)) },
    { name: 'det.sign expanded', operate: (i) => falcon.det.sign(message(i), expanded[i % KEYS]!) },
    { name: 'sign derived', operate: (i) => falcon.sign(message(i), secretKey(i), DERIVED) },
    {
      name: 'sign derived expanded',
      operate: (i) => falcon.sign(message(i), expanded[i % KEYS]!, DERIVED),
    },
    { name: 'integer sign', operate: (i) => onIntegers.sign(message(i), secretKey(i)) },
    {
      name: 'integer sign expanded',
      operate: (i) => onIntegers.sign(message(i), expanded[i % KEYS]!),
    },
    ...peers.map((peer) => ({
      name: `sign ${peer.name}`,
      operate: (i: number) => peer.sign(message(i), secretKey(i)),
    })),
  ];
}

function verifiers(inputs: Inputs, peers: readonly Peer[]): Contender[] {
  const { falcon, items, prepared, batch } = inputs;
  return [
    {
      name: 'verify',
      operate: (i) => {
        const { signature, message, publicKey } = items[i % items.length]!;
        expectTrue(falcon.verify(signature, message, publicKey));
      },
    },
    {
      name: 'verify prepared',
      operate: (i) => {
        const { signature, message } = items[i % items.length]!;
        expectTrue(falcon.verify(signature, message, prepared[i % KEYS]!));
      },
    },
    {
      name: 'verifyBatch prepared',
      operate: () => expectTrue(falcon.verifyBatch(batch).length === 0),
      batch: BATCH,
    },
    {
      name: 'verifyBatch raw',
      operate: () => expectTrue(falcon.verifyBatch(items).length === 0),
      batch: items.length,
    },
    ...peers.map((peer) => ({
      name: `verify ${peer.name}`,
      operate: (i: number) => {
        const { signature, message, publicKey } = items[i % items.length]!;
        expectTrue(peer.verify(signature, message, publicKey));
      },
    })),
  ];
}

function expectTrue(valid: boolean): void {
  if (!valid) throw new Error('a valid signature was refused');
}

type BatchItems = Parameters<typeof falcon512.verifyBatch>[0];

async function measurePools(degree: Degree, batch: BatchItems, quick: boolean): Promise<Figure[]> {
  const parameterSet = degree === 512 ? 'falcon512' : 'falcon1024';
  const count = degree === 512 ? POOL_BATCH : POOL_BATCH / 2;
  const items = Array.from({ length: count }, (_, i) => batch[i % batch.length]!);
  const pools = [1, 2, 1].map((threads) => createVerifyPool({ parameterSet, threads }));
  const [one, two, other] = pools as [VerifyPool, VerifyPool, VerifyPool];
  const verifyWith = async (pool: VerifyPool): Promise<void> => {
    if ((await pool.verifyBatch(items)).length > 0) throw new Error('refused');
  };
  try {
    for (const pool of pools) await pool.verifyBatch(items); // start the threads, warm them up
    const size = { batch: count, calls: 2 };
    return await interleave(
      [
        { name: 'pool 1 thread', operate: async () => verifyWith(one), ...size },
        { name: 'pool 2 threads', operate: async () => verifyWith(two), ...size },
        {
          // The speedup of two threads that share nothing: no pool can do better.
          name: 'two pools at once',
          operate: async () => Promise.all([verifyWith(one), verifyWith(other)]),
          batch: 2 * count,
          calls: 2,
        },
      ],
      { rounds: quick ? 5 : 20, sliceMs: 0 },
    );
  } finally {
    for (const pool of pools) await pool.close();
  }
}

function judge(set: string, figures: Record<string, Figure>): Ratio[] {
  return BAR.map(({ ours, theirs, must, aim }) => {
    const ratio = Number((figures[theirs]!.medianUs / figures[ours]!.medianUs).toFixed(3));
    const verdict = ratio >= aim ? 'aim' : ratio >= must ? 'must' : 'missed';
    return { set, ours, theirs, ratio, must, aim, verdict };
  });
}

function print(set: string, figures: readonly Figure[]): void {
  console.log(`${set}: median of one operation`);
  for (const { name, medianUs, samples } of figures) {
    const time =
      medianUs >= 1000 ? `${(medianUs / 1000).toFixed(3)} ms` : `${medianUs.toFixed(2)} µs`;
    console.log(`  ${name.padEnd(22)} ${time.padStart(12)}   (${samples} samples)`);
  }
  console.log('');
}

function printRatios(ratios: readonly Ratio[]): void {
  const marks = { aim: '✓ aim reached', must: '✓ bar reached', missed: '✗ MISSED' };
  console.log(`${''.padEnd(60)} times as fast    must     aim`);
  for (const { set, ours, theirs, ratio, must, aim, verdict } of ratios) {
    const what = `${set}: ${ours}, against ${theirs}`.padEnd(60);
    const figure = ratio.toFixed(2).padStart(13);
    const limits = [must, aim].map((limit) => String(limit).padStart(7)).join(' ');
    console.log(`${what} ${figure} ${limits}   ${marks[verdict]}`);
  }
  console.log('');
}
