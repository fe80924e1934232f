/**
 * What is mutated, and which tests must notice. The first rule that matches a file is its rule; its
 * tests run in their order until one fails, so those that are quick and see most come first.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { filesBelow, ROOT } from '../generated.ts';
import type { Scope } from './enumerate.ts';

export interface Rule extends Scope {
  readonly files: RegExp;
  /** paths from test/aggregate/, without .test.ts */
  readonly tests: readonly string[];
}

/** A file with its rule. */
export interface Covered {
  readonly file: string;
  readonly scope: Scope;
  readonly tests: readonly string[];
}

/** Where the judging starts: what these import is covered, too. */
const ROOTS = ['src/aggregate/index.ts', 'src/aggregate/proof/merger.ts'];
const ROOM = 'src/aggregate/';
/** Readers and judges outside of it. */
const OTHER_JUDGES: readonly string[] = [
  ...['deterministic', 'salts'].map((name) => `src/falcon/${name}.ts`),
  ...['base64', 'der', 'input', 'jwk', 'keyFile', 'pem', 'pkcs8', 'publicKey', 'secretKey'].map(
    (name) => `src/falcon/keys/${name}.ts`,
  ),
  ...['signatures', 'symptoms'].map((name) => `src/falcon/keys/${name}.ts`),
  ...['address', 'edwards25519', 'mnemonic', 'signature'].map(
    (n) => `src/falcon/compat/algorand/${n}.ts`,
  ),
  ...['fnDsaCodec', 'fnDsaVerifier', 'sha3'].map((name) => `src/falcon/profiles/${name}.ts`),
];

/** What these contain does not judge. */
const OTHERS: readonly RegExp[] = [
  /\.(md|gen\.ts)$/,
  /^src\/aggregate\/proof\/(prover\/|size|index)/,
  // The caller's arguments, which formats and series to make, threads, and memory.
  /^src\/aggregate\/(arguments|options|chooseFormat|aggregateStream)\.ts$/,
  /^src\/aggregate\/(pool|threads|work|aggregateWorker)\.ts$/,
  /^src\/aggregate\/proof\/instances\.ts$/,
  /^assembly\/labrador\/(index|params)\.ts$/,
];

const WING = 'proof/verifier/';
/** Whole proofs and parts of the work: accepted, changed, and refused. */
const PROOFS = ['proof/vectors', 'proof/refusals', 'proof/verify'];
/** Cheats: slow, and few changes are left to them. */
const CHEATS = ['proof/tamper'];
const FIELDS = ['proof/parse', 'proof/fuzzOne'];
/** Proofs over rows that hide messages and cut inner commitments. */
const HIDDEN = ['hidden/verify', 'hidden/quarters', 'hidden/scalars', 'hidden/equations'];
/** Functions of the container that no reader uses. */
const WRITING = ['encodeHeader', 'encodeContents', 'runsOfKinds', 'encodeSaltRun'];
/** Proofs over many parts; the slow prover makes those of the last one. */
const MERGED = ['merged/placing', 'merged/parts', 'merged/verify'];

const RULES: readonly Rule[] = [
  {
    files: /^src\/falcon\/deterministic\.ts$/,
    tests: ['../falcon/deterministicRefusals', '../falcon/deterministic'],
  },
  { files: /^src\/falcon\/salts\.ts$/, tests: ['salts', 'container', '../falcon/derived'] },
  {
    files: /^src\/falcon\/profiles\/fnDsaCodec\.ts$/,
    tests: ['../falcon/profiles/fnDsaDraft'],
    only: ['publicKeyToRound3', 'signatureToRound3', 'BitReader'],
  },
  { files: /^src\/falcon\/profiles\/fnDsaVerifier\.ts$/, tests: ['../falcon/profiles/fnDsaDraft'] },
  { files: /^src\/falcon\/profiles\/sha3\.ts$/, tests: ['../falcon/profiles/sha3'] },
  { files: within('container'), tests: ['container', 'format'], except: WRITING },
  { files: within('bundle'), tests: ['bundle', 'tamper', 'series'], except: ['encodeBundle'] },
  { files: within('series'), tests: ['series', 'vectors'] },
  { files: within('mergedFormat'), tests: MERGED },
  { files: within('sources'), tests: ['streams', 'series'] },
  {
    files: within('verifyStream'),
    tests: ['streams', 'series', 'vectors', ...MERGED],
    // How much is read at once: no verdict depends on it.
    except: ['read'],
  },
  {
    files: within('gaussianCoder'),
    tests: ['gaussianCoder', 'bundle'],
    except: ['encodeCoefficients', 'CodeWriter', 'maxCodedBytes'],
  },
  {
    files: within('index'),
    tests: ['format', 'bundle', 'series', 'tamper', ...MERGED],
    only: ['verifyAggregate', 'verifyAggregateAsync', 'extractSignatures'],
  },
  {
    files: within('openAggregate'),
    tests: ['series', 'format', 'salts', 'profiles', ...MERGED, 'tamper'],
  },
  {
    files: within('parts'),
    tests: ['merged/parts'],
    only: ['checkPart', 'mergeWith', 'isLike', 'readPart', 'parametersOfPart'],
  },
  { files: within('proof/merger'), tests: ['merged/parts'] },
  {
    files: within('salts'),
    tests: ['salts', 'container', 'format', 'series'],
    except: ['codeSalts'],
  },
  {
    files: within('statement'),
    tests: ['bundle', 'tamper', 'streams', 'series'],
    // How much memory is kept: no verdict depends on it.
    except: ['clear', 'reserve'],
    calls: true,
  },
  { files: within('batch'), tests: ['bundle', 'tamper', 'profiles'], only: ['invalidItems'] },
  {
    files: within('onThreads'),
    tests: ['series', 'format', 'bundle', 'threads', ...MERGED, 'tamper'],
    only: [
      'verifyWith',
      'verifyElementWith',
      'verifyProofWith',
      'invalidItemsIn',
      'chunksOf',
      'checkChunks',
    ],
  },
  {
    files: within('proofFormat'),
    tests: ['format', ...PROOFS, 'threads', 'series'],
    only: [
      ...['verifyProof', 'verifyProofIn', 'placedSections', 'sectionsOf', 'openProof'],
      ...['positionsOf', 'isTooLongForProof'],
    ],
  },
  {
    files: within('wasm'),
    tests: ['proof/vectors', 'labrador/machine', ...PROOFS.slice(1)],
    except: ['pairProducts', 'normSq', 'peakBytes', 'beginCount'],
  },
  { files: within('parameters/rows'), tests: ['parameters', 'mergedRows', ...PROOFS] },
  {
    files: within(`${WING}(parse|fieldReader)`),
    tests: [...FIELDS, ...PROOFS, ...HIDDEN, ...MERGED],
    calls: true,
  },
  {
    files: within(`${WING}folds`),
    tests: [...PROOFS, ...HIDDEN, ...MERGED, 'streams', ...CHEATS],
    // How the work is divided: the results do not depend on it.
    except: ['costOfPart', 'costOfItems', 'costOfRest', 'costOfBlocks'],
    calls: true,
  },
  {
    files: within(`${WING}tailRing`),
    tests: ['proof/tailRing', ...PROOFS, ...CHEATS],
    calls: true,
  },
  {
    files: within(`${WING}verify`),
    tests: [
      'proof/vectors',
      'proof/refusals',
      'proof/tamper',
      'format',
      ...FIELDS,
      ...HIDDEN,
      ...MERGED,
      'series',
      'streams',
    ],
    calls: true,
  },
  { files: within(`${WING}(verifyMerged|part)`), tests: MERGED, calls: true },
  {
    files: within(`${WING}foldItems`),
    tests: [...PROOFS, ...HIDDEN, ...CHEATS, 'series'],
    calls: true,
  },
  { files: within(`${WING}(hidden|reduceHidden)`), tests: [...HIDDEN, ...MERGED], calls: true },
  {
    files: within(`${WING}reduceLifts`),
    tests: ['proof/reduceLifts', ...PROOFS, ...HIDDEN, ...CHEATS],
    calls: true,
  },
  {
    files: within(`${WING}\\w+`),
    tests: [...PROOFS, ...HIDDEN, ...MERGED, ...CHEATS],
    calls: true,
  },
  { files: within('proof/ring'), tests: ['proof/ring', ...PROOFS] },
  { files: within('proof/foldKeys'), tests: ['proof/foldKeys', ...PROOFS, ...HIDDEN] },
  // Whether a value has a code is a question of the prover alone.
  { files: within('proof/gaussianFields'), tests: [...FIELDS, ...PROOFS], except: ['hasCode'] },
  { files: within('proof/keyCache'), tests: ['proof/keyCache'] },
  { files: within('proof/projection'), tests: ['proof/parse', ...PROOFS, ...CHEATS] },
  {
    files: within('proof/(columns|itemColumns|shapes)'),
    tests: ['proof/columns', ...PROOFS, ...MERGED],
  },
  { files: within('proof/bits'), tests: ['proof/bits', ...FIELDS] },
  { files: within('proof/transcript'), tests: [...PROOFS, ...MERGED] },
  { files: within('proof/lifts'), tests: ['hidden/scalars', ...PROOFS, ...HIDDEN] },
  { files: within('proof/constants'), tests: ['proof/bits', ...PROOFS, ...CHEATS] },
  { files: within('proof/\\w+'), tests: [...PROOFS, ...MERGED, ...CHEATS] },
  {
    files: kernels('batch'),
    tests: ['proof/vectors', 'labrador/machine', 'proof/verify'],
    except: [
      ...['smallsToVec', 'widesToVec', 'twisted', 'twistedToVec', 'addMultiples', 'selfProduct'],
      ...['decomposeMany', 'formsToCoefs'],
    ],
  },
  {
    files: kernels('digits'),
    tests: ['proof/vectors', 'labrador/digits', 'proof/verify'],
    except: ['decompose', 'beyond', 'cutLow', 'cutSigned', 'packBits', 'normSq'],
  },
  {
    files: kernels('polyVec'),
    tests: ['proof/vectors', 'labrador/polyVec', 'labrador/machine', 'proof/verify'],
    except: ['addSums', 'pairProducts'],
  },
  {
    files: kernels('(ntt|crt|zq|lanes)'),
    tests: ['proof/vectors', 'labrador/ntt', 'proof/verify'],
  },
  {
    files: kernels('(arena|functionals|lifts|modp)'),
    tests: ['proof/vectors', 'labrador/machine', 'proof/verify'],
  },
  {
    files: kernels('\\w+'),
    tests: ['proof/vectors', 'labrador/stream', 'labrador/machine', 'proof/verify'],
  },
  {
    files: /^src\/falcon\/keys\/\w+\.ts$/,
    tests: ['der', 'base64', 'signatures', 'keys', 'keyFiles', 'wrappings', 'qsc', 'wiping'].map(
      (name) => `../falcon/keys/${name}`,
    ),
  },
  {
    files: /^src\/falcon\/compat\/algorand\/\w+\.ts$/,
    tests: ['../falcon/compat/algorand/algorand'],
  },
];

function within(pattern: string): RegExp {
  return new RegExp(`^${ROOM}${pattern}\\.ts$`);
}

function kernels(pattern: string): RegExp {
  return new RegExp(`^assembly/labrador/${pattern}\\.ts$`);
}

export const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

/**
 * Every file that judges, with its rule.
 *
 * @throws Error for a file without a rule, a rule without a file, or a test that does not exist
 */
export function coveredFiles(): Covered[] {
  const files = [
    ...importedFrom([...ROOTS, ...filesBelow(`${ROOM}${WING}`)]),
    ...filesBelow('assembly/labrador'),
    ...OTHER_JUDGES,
  ];
  const judging = [...new Set(files)].filter((file) => !OTHERS.some((other) => other.test(file)));
  const used = new Set<Rule>();
  const covered = judging.map((file): Covered => {
    const rule = RULES.find((one) => one.files.test(file));
    if (rule === undefined) throw new Error(`no rule in scripts/mutants/map.ts for ${file}`);
    used.add(rule);
    return { file, scope: rule, tests: rule.tests.map(testFile) };
  });
  const idle = RULES.find((rule) => !used.has(rule));
  if (idle !== undefined) throw new Error(`scripts/mutants/map.ts: no file for ${idle.files}`);
  return covered.sort((a, b) => (a.file < b.file ? -1 : 1));
}

function testFile(name: string): string {
  const file = join('test/aggregate', `${name}.test.ts`);
  if (!existsSync(`${ROOT}${file}`)) throw new Error(`scripts/mutants/map.ts: no test ${file}`);
  return file;
}

const IMPORT = /^(?:import|export)\b(?! type\b)[^'";]*?\bfrom\s*'(\.[^']+)'/gm;

/** The files and what they import of this room, directly or not. */
function importedFrom(roots: readonly string[]): string[] {
  const found = new Set(roots);
  for (const file of found) {
    for (const [, name] of read(file).matchAll(IMPORT)) {
      const path = join(file, '..', name!);
      if (path.startsWith(ROOM) && !OTHERS.some((other) => other.test(path))) found.add(path);
    }
  }
  return [...found];
}
