/**
 * One check of the whole library for every runtime: plain ECMAScript and web-standard globals, no
 * test framework.
 *
 * Its known answers are the hashes of a few keys and signatures that @noble/post-quantum computed
 * (`nobleAnswers` in runtimes.long.test.ts makes them again).
 */
import {
  aggregate,
  extractSignatures,
  inspectAggregate,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import {
  createFalcon,
  createVerifyPool,
  type Falcon,
  falcon512,
  falcon1024,
  type ModuleName,
  type SignatureFormat,
  type VerifyPoolStats,
} from '../../src/falcon/index.ts';
import * as integer from '../../src/falcon/integer.ts';
import { shake256 } from '../../src/falcon/points.ts';

export interface Reproducible {
  readonly det: string;
  readonly derived: string;
}

export interface Report {
  /**
   * SHA-256 of the keys and signatures of `checkInputs`, by set, for each build of the module that
   * this engine runs.
   */
  answers: Partial<Record<ModuleName, Record<string, string>>>;
  /**
   * SHA-256 of the first 32 signatures of test/support/algorand.ts, deterministic and derived, by
   * set, for each build.
   */
  reproducible: Partial<Record<ModuleName, Record<string, Reproducible>>>;
  /** SHA-256 of small proofs, by parameter sets. */
  proofs: Record<string, string>;
  /** The build that the library picks by itself. */
  picked: ModuleName;
  /** Checks that were made. */
  checks: number;
  /** What went wrong; empty when all is well. */
  faults: string[];
}

const FORMATS: readonly SignatureFormat[] = ['compressed', 'padded', 'constantTime'];

/**
 * Seeds and messages, from a small generator that needs nothing of the host (xorshift, 32 bits).
 */
export function* checkInputs(): Generator<{
  seed: Uint8Array;
  message: Uint8Array;
  salt: Uint8Array;
  samplerSeed: Uint8Array;
}> {
  let state = 0x2545f491;
  const bytes = (length: number): Uint8Array =>
    Uint8Array.from({ length }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return state & 0xff;
    });
  for (const length of [0, 33, 9000]) {
    yield { seed: bytes(48), message: bytes(length), salt: bytes(40), samplerSeed: bytes(48) };
  }
}

export async function sha256(parts: readonly Uint8Array[]): Promise<string> {
  const all = Uint8Array.from(parts.flatMap((part) => [...part]));
  const digest = await crypto.subtle.digest('SHA-256', all);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));

/** Runs everything. Never throws: an exception is a fault of the report. */
export async function check(): Promise<Report> {
  const report: Report = {
    answers: {},
    reproducible: {},
    proofs: {},
    picked: falcon512.module,
    checks: 0,
    faults: [],
  };
  const expect = (what: string, holds: boolean): void => {
    report.checks++;
    if (!holds) report.faults.push(what);
  };
  try {
    for (const module of ['plain', 'relaxed', 'integer'] as const) {
      let sets: Falcon[];
      try {
        sets =
          module === 'integer'
            ? [integer.falcon512, integer.falcon1024]
            : [createFalcon('falcon512', { module }), createFalcon('falcon1024', { module })];
      } catch (error) {
        // An engine without relaxed SIMD says so; every engine must run the plain build.
        expect(`${module}: ${String(error)}`, module === 'relaxed' && error instanceof RangeError);
        continue;
      }
      const answers: Record<string, string> = {};
      for (const falcon of sets) answers[falcon.name] = await checkSet(falcon, expect);
      report.answers[module] = answers;
      const reproducible: Record<string, Reproducible> = {};
      for (const falcon of sets) {
        reproducible[falcon.name] = await checkReproducible(falcon, expect);
      }
      report.reproducible[module] = reproducible;
    }
    await checkPool(expect);
    await checkAggregate(expect);
    report.proofs = await checkProofs(expect);
  } catch (error) {
    report.faults.push(error instanceof Error ? `${error}\n${error.stack}` : String(error));
  }
  return report;
}

type Expect = (what: string, holds: boolean) => void;

async function checkSet(falcon: Falcon, expect: Expect): Promise<string> {
  const { name } = falcon;
  const parts: Uint8Array[] = [];
  for (const { seed, message, salt, samplerSeed } of checkInputs()) {
    const { publicKey, secretKey } = falcon.keygen(seed);
    const signature = falcon.sign(message, secretKey, { testSeed: { salt, samplerSeed } });
    parts.push(publicKey, secretKey, signature);
    expect(`${name} getPublicKey`, same(falcon.getPublicKey(secretKey), publicKey));

    const prepared = falcon.preparePublicKey(publicKey);
    const expanded = falcon.expandSecretKey(secretKey);
    const signatures = FORMATS.map((format) => {
      const options = { format, testSeed: { salt, samplerSeed } };
      const raw = falcon.sign(message, secretKey, options);
      expect(`${name} ${format} expanded`, same(falcon.sign(message, expanded, options), raw));
      return raw;
    });
    expanded.destroy();
    expect(
      `${name} destroyed`,
      throws(() => falcon.sign(message, expanded), TypeError),
    );
    signatures.push(falcon.sign(message, secretKey)); // with the host's own randomness
    for (const [i, each] of signatures.entries()) {
      expect(`${name} verify ${i}`, falcon.verify(each, message, publicKey));
      expect(`${name} verify prepared ${i}`, falcon.verify(each, message, prepared));
      expect(`${name} flipped ${i}`, !falcon.verify(flipped(each, 60), message, publicKey));
      expect(`${name} flipped prepared ${i}`, !falcon.verify(flipped(each, 3), message, prepared));
    }

    const items = Array.from({ length: 40 }, (_, i) => ({
      signature: i === 17 ? flipped(signatures[0]!, 2) : signatures[i % 4]!,
      message: i === 31 ? new Uint8Array(5) : message,
      publicKey: i % 2 === 0 ? prepared : publicKey,
    }));
    const invalid = JSON.stringify(falcon.verifyBatch(items).map(({ index }) => index));
    expect(`${name} batch ${invalid}`, invalid === '[17,31]');

    const sealed = falcon.attached.seal(message, secretKey);
    expect(`${name} attached`, same(falcon.attached.open(sealed, publicKey), message));
    expect(
      `${name} attached, flipped`,
      throws(() => falcon.attached.open(flipped(sealed, 5), publicKey)),
    );
  }
  const fresh = falcon.keygen();
  const message = new Uint8Array([1]);
  const signature = falcon.sign(message, fresh.secretKey);
  expect(`${name} fresh key`, falcon.verify(signature, message, fresh.publicKey));
  return sha256(parts);
}

/** The first 32 cases of test/support/algorand.ts, by what the library has. */
async function checkReproducible(falcon: Falcon, expect: Expect): Promise<Reproducible> {
  const text = (name: string) => Uint8Array.from(name, (character) => character.charCodeAt(0));
  const lines = { det: '', derived: '' };
  const hex = (bytes: Uint8Array) =>
    `${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}\n`;
  for (let i = 0; i < 32; i++) {
    const number = String(i).padStart(4, '0');
    const { publicKey, secretKey } = falcon.keygen(text(`key-${number}`), { allowShortSeed: true });
    const message = i === 0 ? new Uint8Array(0) : shake256([text(`msg-${number}`)], i);
    const det = falcon.det.sign(message, secretKey);
    const options = { salt: 'derived', format: 'padded' } as const;
    const derived = falcon.sign(message, secretKey, options);
    expect(`${falcon.name} det ${i}`, falcon.det.verify(det, message, publicKey));
    expect(`${falcon.name} derived ${i}`, falcon.verify(derived, message, publicKey));
    lines.det += hex(det);
    lines.derived += hex(derived);
  }
  return { det: await sha256([text(lines.det)]), derived: await sha256([text(lines.derived)]) };
}

function throws(run: () => unknown, kind: new (message?: string) => Error = Error): boolean {
  try {
    run();
    return false;
  } catch (error) {
    return error instanceof kind;
  }
}

async function checkPool(expect: Expect): Promise<void> {
  const items = fixedItems(falcon512, 200);
  const wrong = items.map((item, i) =>
    i % 50 === 7 ? { ...item, message: item.publicKey } : item,
  );
  const pool = createVerifyPool({ threads: 2 });
  const invalid = await pool.verifyBatch(wrong);
  expect('pool', JSON.stringify(invalid) === JSON.stringify(falcon512.verifyBatch(wrong)));
  expect('pool count', invalid.length === 4);
  expect('pool, all valid', (await pool.verifyBatch(items)).length === 0);
  await pool.close();

  // Where no thread can start, the calling one answers.
  const workerUrl = new URL('./nothing-here.ts', import.meta.url);
  let threads: number | undefined;
  const onStats = (stats: VerifyPoolStats): void => {
    threads = stats.threads;
  };
  const alone = createVerifyPool({ threads: 1, workerUrl, onStats });
  const here = await alone.verifyBatch(wrong);
  expect('pool without threads', JSON.stringify(here) === JSON.stringify(invalid));
  expect(`pool without threads: ${threads}`, threads === 0);
  await alone.close();
}

async function checkAggregate(expect: Expect): Promise<void> {
  const items = fixedItems(falcon512, 20);
  const bytes = await aggregate(items);
  expect('aggregate', verifyAggregate(bytes, items));
  expect('aggregate, flipped', !verifyAggregate(flipped(bytes, bytes.length - 1), items));
  expect('aggregate, other statements', !verifyAggregate(bytes, items.toReversed()));
  const signatures = extractSignatures(bytes, items);
  expect(
    'extracted',
    signatures.every((signature, i) => same(signature, items[i]!.signature)),
  );
}

/** A batch that is the same everywhere: three keys, salts and sampler seeds that count up. */
export function fixedItems(falcon: Falcon, count: number) {
  const keys = [3, 4, 5].map((fill) => falcon.keygen(new Uint8Array(48).fill(fill)));
  return Array.from({ length: count }, (_, i) => {
    const { publicKey, secretKey } = keys[i % 3]!;
    const message = Uint8Array.of(i, i >> 8, 7);
    const testSeed = {
      salt: new Uint8Array(40).fill(i + 1),
      samplerSeed: new Uint8Array(48).fill(i + 2),
    };
    return { publicKey, message, signature: falcon.sign(message, secretKey, { testSeed }) };
  });
}

async function checkProofs(expect: Expect): Promise<Record<string, string>> {
  const small = fixedItems(falcon512, 3);
  const large = fixedItems(falcon1024, 2);
  const mixed = [small[1]!, large[0]!, small[0]!, large[1]!];
  const batches = { falcon512: small, falcon1024: large, mixed };
  const proofs: Record<string, string> = {};
  for (const [name, items] of Object.entries(batches)) {
    const proof = await aggregate(items, { format: 'proof' });
    expect(`proof of ${name}`, verifyAggregate(proof, items));
    expect(`proof of ${name}, flipped`, !verifyAggregate(flipped(proof, proof.length - 9), items));
    proofs[name] = await sha256([proof]);
  }
  return proofs;
}

/** Proves and verifies, where a batch is large enough to be proved without asking. */
export async function proveMany(count: number) {
  const items = fixedItems(falcon512, count);
  const proof = await aggregate(items);
  const { format } = inspectAggregate(proof);
  const valid = verifyAggregate(proof, items);
  return { format, bytes: proof.length, valid, sha256: await sha256([proof]) };
}

/** Verifies a proof that was made elsewhere, in hex, and refuses it damaged. */
export function verifyMany(hex: string, count: number): readonly boolean[] {
  const items = fixedItems(falcon512, count);
  const proof = Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
  return [
    verifyAggregate(proof, items),
    verifyAggregate(flipped(proof, proof.length - 2000), items),
  ];
}
