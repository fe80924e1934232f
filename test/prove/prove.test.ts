/** The prover: what it refuses, faults that fail a proof by name, and the state of the lock. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesBelow, ROOT } from '../../scripts/generated.ts';
import { evaluateBound, parseContracts, readContracts } from '../../scripts/prove/contracts.ts';
import { decode, type Instruction, type Module } from '../../scripts/prove/decode.ts';
import { Lock } from '../../scripts/prove/lock.ts';
import { bytesOf, moduleNames, readModule } from '../../scripts/prove/modules.ts';
import {
  explanation,
  REFUSED,
  refusal,
  report,
  tryMutants,
  UNEXPLAINED,
} from '../../scripts/prove/mutants.ts';
import { attempt, type Job, jobsOf, nameOf } from '../../scripts/prove/prove.ts';
import { Terms } from '../../scripts/prove/terms.ts';
import { disagreements, validateOperations } from '../../scripts/prove/validate.ts';
import { address, branch, withStart } from './planted.ts';

const contracts = readContracts();
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** A module with one function of this body. */
const moduleOf = (...body: number[]): Uint8Array =>
  Uint8Array.from([
    ...[...HEADER, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0],
    ...[10, body.length + 4, 1, body.length + 2, 0, ...body, 0x0b],
  ]);

describe('the decoder', () => {
  test('accepts a known module, and a Buffer that shares its memory with others', () => {
    const shared = Buffer.concat([Buffer.from('before'), moduleOf(0x01)]).subarray(6);
    const module = decode(shared);
    shared.fill(0);
    expect(module.bodies[0]!.code.map(({ op }) => op)).toEqual(['nop', 'end']);
    expect([...module.bytes.subarray(0, 8)]).toEqual(HEADER);
  });

  test.each([
    ['a reserved opcode', moduleOf(0x06)],
    ['an atomic instruction', moduleOf(0xfe, 0x03, 0x00)],
    ['an unknown vector instruction', moduleOf(0xfd, 0xff, 0x03)],
    ['another relaxed instruction', moduleOf(0xfd, 0x85, 0x02)],
    ['an indirect call', moduleOf(0x11, 0, 0)],
    ['an else without an if', moduleOf(0x05)],
    ['a body with more after its end', moduleOf(0x0b, 0x01)],
    ['an import', Uint8Array.from([...HEADER, 2, 1, 0])],
    ['an unknown section', Uint8Array.from([...HEADER, 13, 0])],
    ['sections out of order', Uint8Array.from([...HEADER, 3, 1, 0, 1, 1, 0])],
    ['another version', Uint8Array.from([...HEADER.slice(0, 4), 2, 0, 0, 0])],
  ])('refuses %s', (_, bytes) => {
    expect(() => decode(bytes)).toThrow();
  });

  test('refuses a truncated module, wherever it ends inside a section', () => {
    const bytes = moduleOf(0x41, 0x05, 0x1a);
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      // After the types, and after the header, a module may end.
      if (length === 8 || length === 14) expect(decode(cut).bodies).toEqual([]);
      else expect(() => decode(cut), `${length} bytes`).toThrow();
    }
  });
});

describe('terms', () => {
  test('a quotient with two operands of -2^15 has no rule, and is a fault if relaxed', () => {
    const terms = new Terms();
    const [a, b] = [terms.input(16, 'a', 1), terms.input(16, 'b', 2)];
    expect(terms.quotient('q15', a, b).op).toBe('saturating');
    expect(terms.faults).toEqual([]);
    terms.quotient('relaxedQ15', a, b);
    expect(terms.faults).toHaveLength(1);
  });

  test('a sum that may wrap has no definition; one within its width has', () => {
    const terms = new Terms();
    const wide = terms.input(16, 'a', 1);
    const narrow = terms.input(16, 'b', 2, 0n, 100n);
    expect(terms.add(16, wide, narrow).definition).toBeUndefined();
    expect(terms.add(16, narrow, terms.constant(16, 32667)).definition).toBeDefined();
    expect(terms.add(16, narrow, terms.constant(16, 32668)).definition).toBeUndefined();
  });
});

describe('products of lanes', () => {
  test('an operand that is only known modulo 2^16 gives no value modulo 2^32', () => {
    const terms = new Terms();
    const a = terms.input(16, 'a', 1, 0n, 32767n);
    const [one, zero] = [terms.constant(16, 1), terms.constant(16, 0)];
    // 4 a wraps in 16 bits, and would fit 32
    const wrapped = terms.shl(16, a, 2);
    const product = terms.dot(wrapped, one, zero, zero);
    expect(product.high).toBe(32767n);
    expect(product.definition).toEqual(new Map([[wrapped.id, 1n]]));
    expect(product.ring).toBeUndefined();
  });
});

describe('unsigned values', () => {
  test('a sum of squares of up to 2^31 is exact if it is read as unsigned', () => {
    const terms = new Terms();
    const [a, b] = [terms.input(16, 'a', 1), terms.input(16, 'b', 2)];
    const squares = terms.dot(a, a, b, b);
    expect(squares.definition).toBeUndefined();
    const wide = terms.extend(64, squares, false);
    expect([wide.low, wide.high]).toEqual([0n, 2n ** 31n]);
    expect(wide.definition).toEqual(squares.ring);
    expect(terms.extend(64, terms.dot(a, b, a, b), false).definition).not.toEqual(squares.ring);
  });
});

describe('operations', () => {
  const run = (ran: string[], ...body: number[]): [boolean, string[]] => {
    const lines: string[] = [];
    const say = (text: string) => void lines.push(text);
    return [validateOperations([decode(moduleOf(...body))], new Set(ran), say), lines];
  };

  test('are compared with the engine, each alone', () => {
    const [isRight, lines] = run([], 0x41, 5, 0x41, 5, 0x6a, 0x1a);
    expect(isRight).toBe(true);
    expect(lines[0]).toMatch(/^2 operations alone, \d\d+ trials: .* 0 wrong$/);
  });

  test('that nothing has exercised fail the validation, by name', () => {
    const copy = [0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 10, 0, 0];
    expect(run(['memory.copy'], ...copy)[0]).toBe(true);
    const [isRight, lines] = run([], ...copy);
    expect(isRight).toBe(false);
    expect(lines.at(-1)).toBe('NOT EXERCISED: memory.copy');
  });
});

describe('contracts', () => {
  const parse = (lines: string) => {
    const block = lines.split('\n').map((line) => ` * ${line}`);
    return parseContracts('x.ts', ['/**', ...block, ' */', 'function f(a: usize) {}'].join('\n'));
  };

  test('bounds are expressions', () => {
    expect(evaluateBound('6940 * 29753 - (p + 1) / 2', { p: 13697n })).toBe(206478971n);
    expect(() => evaluateBound('2^', {})).toThrow();
    expect(() => evaluateBound('n', {})).toThrow('n is unknown');
  });

  test.each([
    ['a bound of a region without a shape', 'Shape:  a: i16[4]\nBounds: |x| <= 2\nProof:  ntt()'],
    ['words in a shape', 'Shape:  a: i16[4], coefficients\nProof:  ntt()'],
    ['words as a bound', 'Shape:  a: i16[4]\nBounds: small\nProof:  ntt()'],
    ['a proof without brackets', 'Shape:  a: i16[4]\nProof:  ntt'],
  ])('refuse %s', (_, lines) => {
    expect(() => parse(lines)).toThrow('x.ts, f:');
  });

  test('a function has proofs of several builds, but one for each', () => {
    const lines =
      'Proof:  reveals(1)\nBuilds: falcon\nProof:  reveals(2), logn in {9}\nBuilds: x, y';
    const [one, two] = parse(lines);
    expect([one!.builds, two!.builds]).toEqual([['falcon'], ['x', 'y']]);
    expect([one!.proof!.args, two!.proof!.args]).toEqual([['1'], ['2']]);
    const module = { names: new Map([[0, 'f']]) } as Module;
    expect(jobsOf('y', module, [one!, two!])).toHaveLength(1);
    expect(() => jobsOf('y', module, [two!, two!])).toThrow('y f logn=9: two proofs');
    expect(() => parse('Builds: falcon\nProof:  reveals(1)')).toThrow('Builds: of no proof');
  });

  test('every function with bounds or secrets has a proof, or a reason for having none', () => {
    const open = filesBelow('assembly')
      .filter((path) => /^assembly\/(?!test\/).*(?<!\.gen)\.ts$/.test(path))
      .flatMap((path) => parseContracts(path, readFileSync(join(ROOT, path), 'utf8')))
      .filter(({ proof, none }) => proof === undefined && none === undefined);
    expect(open.map(({ file, name }) => `${file} ${name}`)).toEqual([]);
  });
});

const labrador = readModule('labrador')!;
const jobFor = (module: Module, name: string): Job =>
  jobsOf('labrador', module, contracts).find(({ contract }) => contract.name === name)!;

describe('faults', () => {
  interface Change {
    readonly op?: string;
    readonly map?: number[];
    readonly value?: (v: bigint) => bigint;
  }

  /** The module with a function's first instruction of this kind changed. */
  function withChange(
    name: string,
    op: string,
    change: Change,
    isWanted = ({ value }: Instruction) => !change.value || value! > 100n,
  ): Module {
    const module = { ...labrador, bodies: [...labrador.bodies] };
    const index = [...module.names].find(([, full]) => full.endsWith(`/${name}`))![0];
    const body = module.bodies[index]!;
    const at = body.code.findIndex((one) => one.op === op && isWanted(one));
    const old = body.code[at]!;
    const { value, ...rest } = change;
    const next = { ...old, ...rest, ...(value && { value: value(old.value!) }) };
    module.bodies[index] = { ...body, code: body.code.with(at, next) };
    return module;
  }

  const planted = (name: string, op: string, change: Change) =>
    refusal(jobFor(labrador, name), withChange(name, op, change));

  test('without a fault the proofs hold', () => {
    expect(refusal(jobFor(labrador, 'sigmaForm'), labrador)).toBeUndefined();
    expect(refusal(jobFor(labrador, 'decompose'), labrador)).toBeUndefined();
  });

  test('an operation taken for another is found', () => {
    expect(planted('decompose', 'i64x2.add', { op: 'i64x2.sub' })).toMatch(/digit/);
  });

  test('a status that is set too early is found', () => {
    const job = jobsOf('labrador', labrador, contracts).find(
      ({ contract, instance }) => contract.name === 'decompose' && instance.count === 2,
    )!;
    expect(refusal(job, labrador)).toBeUndefined();
    expect(refusal(job, withChange('decompose', 'i64x2.gt_s', { op: 'i64x2.ge_s' }))).toMatch(
      /the status is not that/,
    );
  });

  test('a status of a function that has no errors is found', () => {
    const changed = withChange('cutSigned', 'i32.const', { value: () => 1n }, (one) => {
      const { code } = labrador.bodies.find((body) => body.code.includes(one))!;
      return code[code.indexOf(one) + 1]!.op === 'end';
    });
    const says = 'the status of a function without errors is not 0';
    expect(refusal(jobFor(labrador, 'cutSigned'), changed)).toBe(says);
  });

  test('a pointer that a second turn needs is found', () => {
    const isStep = ({ value }: Instruction) => value === 256n;
    const changed = withChange('xofBlocks', 'i32.const', { value: (v) => v - 16n }, isStep);
    const [one, two] = jobsOf('labrador', labrador, contracts).filter(
      ({ contract }) => contract.name === 'xofBlocks',
    );
    expect(refusal(one!, changed)).toBeUndefined();
    expect(refusal(two!, changed)).toMatch(/isn't ChaCha8's/);
  });

  test('a change that survives has an explanation only if no output differs', () => {
    const job = jobFor(labrador, 'sigmaForm');
    const original = attempt(job, labrador);
    expect(explanation(original, attempt(job, labrador))).toBe('the same terms');
    const changed = withChange('sigmaForm', 'i8x16.shuffle', { map: [...Array(16).keys()] });
    expect(explanation(original, attempt(job, changed))).toBeUndefined();
  });

  test('a change in the bytes is decoded again, and refused or explained', () => {
    const job = jobFor(labrador, 'sigmaForm');
    const before = labrador.bytes.slice();
    const tried = tryMutants(job, labrador, [job], 4);
    expect(tried).toHaveLength(4);
    expect(tried.map(({ kind }) => kind)).toContain('constant');
    expect(tried.filter(({ verdict }) => verdict === REFUSED).length).toBeGreaterThan(1);
    expect(report(tried, () => {})).toBe(true);
    expect(labrador.bytes).toEqual(before);
  });

  test('a campaign with a mutant that is neither refused nor explained fails', () => {
    const tried = [{ kind: 'opcode', verdict: UNEXPLAINED, what: '' }] as const;
    expect(report(tried, () => {})).toBe(false);
  });

  test('the engine disagrees if the executor takes an operation for another', () => {
    const job = jobFor(labrador, 'mulForm');
    expect(disagreements(attempt(job, labrador))).toBe(0);
    const changed = withChange('mulForm', 'i16x8.sub', { op: 'i16x8.add' });
    expect(disagreements(attempt(job, changed))).toBeGreaterThan(0);
  });

  test('a constant off by one is found', () => {
    expect(planted('sigmaForm', 'i32.const', { value: (v) => v + 1n })).toMatch(/output|address/);
  });

  test('a bound that is wrong by one is found', () => {
    const job = jobFor(labrador, 'cutSigned');
    const bounds = job.contract.output.bounds.map((one) => ({ ...one, high: `${one.high} - 1` }));
    const contract = { ...job.contract, output: { ...job.contract.output, bounds } };
    expect(refusal({ ...job, contract }, labrador)).toMatch(/e\[0\] in \[0, 1\], not \[0, 0\]/);
  });
});

describe('induction', () => {
  const job = (name: string): Job =>
    jobsOf('labrador', labrador, contracts).find(
      ({ contract, range }) => contract.name === name && range !== undefined,
    )!;

  type Change = (one: Instruction, next: Instruction | undefined) => Partial<Instruction> | false;

  /** The module with one instruction of a function changed. */
  function withOne(name: string, change: Change): Module {
    const index = [...labrador.names].find(([, full]) => full.endsWith(`/${name}`))![0];
    const body = labrador.bodies[index]!;
    const at = body.code.findIndex((one, i) => change(one, body.code[i + 1]));
    const code = body.code.with(at, {
      ...body.code[at]!,
      ...change(body.code[at]!, body.code[at + 1]),
    });
    return { ...labrador, bodies: labrador.bodies.with(index, { ...body, code }) };
  }

  test.each(['cutSigned', 'normSq', 'addInnerProduct', 'xofBlocks'])('%s is proved', (name) => {
    expect(refusal(job(name), labrador)).toBeUndefined();
  });

  const step =
    (from: bigint, to: bigint): Change =>
    ({ value }, next) =>
      value === from && next?.op === 'i32.add' && { value: to };
  const offset =
    (op: string, from: number, to: number): Change =>
    (one) =>
      one.op === op && one.offset === from && { offset: to };

  test.each<[string, string, Change, RegExp]>([
    [
      'a bound that is off by one',
      'cutSigned',
      ({ op }) => op === 'i32.lt_u' && { op: 'i32.le_u' },
      /coefs$/,
    ],
    [
      'a count that is off by one',
      'xofBlocks',
      ({ op }) => op === 'i32.gt_s' && { op: 'i32.ge_s' },
      /out$/,
    ],
    ['another length', 'normSq', ({ value }) => value === 7n && { value: 8n }, /^a branch depends/],
    ['blocks that overlap', 'cutSigned', step(16n, 8n), /block of e$/],
    ['another distance of blocks', 'xofBlocks', step(256n, 320n), /block of out$/],
    ['another step of the counter', 'xofBlocks', step(4n, 5n), /isn't ChaCha8's$/],
    ['a read of the next block', 'cutSigned', offset('v128.load', 48, 512), /block of coefs$/],
    ['a write to the next block', 'cutSigned', offset('v128.store', 48, 512), /block of high$/],
    [
      'another sum',
      'normSq',
      ({ op }) => op === 'i64x2.extend_low_i32x4_u' && { op: 'i64x2.extend_low_i32x4_s' },
      /^a turn doesn't add the products of its block$/,
    ],
  ])('%s is found: %s', (_, name, change, says) => {
    expect(refusal(job(name), withOne(name, change))).toMatch(says);
  });

  test('a sum that may wrap, and a region that no memory has, are found', () => {
    const own = job('addInnerProduct');
    const input = own.contract.input;
    const bounds = input.bounds.map((one) =>
      one.name === 'out' ? { ...one, high: '2^63 - 2^53' } : one,
    );
    const wide = { ...own, contract: { ...own.contract, input: { ...input, bounds } } };
    expect(refusal(wide, labrador)).toBe('the sum of products is another one');
    const range = { ...own.range!, most: 2 ** 24 };
    expect(refusal({ ...own, range }, labrador)).toBe('no memory has such a a');
  });

  test('a status that the next turn forgets is found', () => {
    const own = jobsOf('labrador', labrador, contracts).find(
      ({ contract: { name }, instance, range }) =>
        name === 'decomposeMany' && instance.count === 2 && range !== undefined,
    )!;
    expect(refusal(own, labrador)).toBeUndefined();
    const isJoined: Change = ({ op }) => op === 'i32.or' && { op: 'i32.and' };
    expect(refusal(own, withOne('decomposeMany', isJoined))).toMatch(/status/);
  });

  test('a row that is taken for another is found, at any distance of rows', () => {
    const own = job('addFunctionals');
    expect(own.range).toEqual({ name: 'rhoStride', most: 0 });
    const isThird: Change = ({ value }, next) =>
      value === 3n && next?.op === 'i32.mul' && { value: 2n };
    expect(refusal(own, withOne('addFunctionals', isThird))).toMatch(/isn't the sum$/);
  });

  test('a count that no loop has is found', () => {
    const own = job('xofBlocks');
    expect(refusal({ ...own, range: { name: 'counter', most: 9 } }, labrador)).toBe(
      'no loop has this count',
    );
  });
});

describe('what control flow and addresses reveal', () => {
  const falcon = readModule('falcon')!;
  const job = (name: string): Job =>
    jobsOf('falcon', falcon, contracts).find(({ contract }) => contract.name === name)!;
  const withArgs = (own: Job, ...args: string[]): Job => {
    const proof = { ...own.contract.proof!, args };
    return { ...own, contract: { ...own.contract, proof } };
  };

  test('a branch on a secret that is not counted is found', () => {
    const decoder = job('decodeSecretKey');
    expect(refusal(decoder, falcon)).toBeUndefined();
    expect(refusal(withArgs(decoder, '1'), falcon)).toMatch(/^2 branches depend on inputs/);
  });

  test('an address with a coefficient of a secret key is found', () => {
    const index = [...falcon.names].find(([, name]) => name.endsWith('/unpackSmall'))![0];
    const body = falcon.bodies[index]!;
    const at = body.code.findIndex(({ op }) => op === 'i32.store8');
    // The store's value: its address is two variables and a sum.
    const value = body.code[at - 1]!;
    const code = body.code.with(at - 3, { ...body.code[at - 3]!, index: value.index! });
    const module = { ...falcon, bodies: falcon.bodies.with(index, { ...body, code }) };
    expect(refusal(job('decodeSecretKey'), module)).toMatch(/^an address depends on an input/);
  });

  test.each(['absorbKey', 'startHedged', 'startCoins', 'updateCoins', 'finishCoins'])(
    'a branch and an address that %s takes from a secret are found',
    (name) => {
      const own = job(name);
      expect(refusal(own, falcon)).toBeUndefined();
      expect(refusal(own, withStart(falcon, name, ...branch))).toMatch(
        /^1 branches depend on inputs/,
      );
      expect(refusal(own, withStart(falcon, name, ...address))).toMatch(
        /^an address depends on an input/,
      );
    },
  );

  test.each([
    ['expandSecretKey', 'expandSecretKey'],
    ['signExpanded', 'signExpanded'],
    ['signExpanded', 'attempt'],
    ['signHedged', 'signHedged'],
    ['signReproducibly', 'signReproducibly'],
    ['encodeSignature', 'compress'],
  ])('in a proof of %s, an address that %s takes from a secret is found', (name, place) => {
    const says = /^an address depends on an input/;
    expect(refusal(job(name), withStart(falcon, place, ...address))).toMatch(says);
  });

  test('an address that the point of the compressed form takes from a secret is found', () => {
    const own = jobsOf('falcon', falcon, contracts).find(
      (one) => nameOf(one) === 'falcon signExpanded logn=9 format=0 messageLen=64 profile=0',
    )!;
    const says = /^an address depends on an input: squeezePoint/;
    expect(refusal(own, withStart(falcon, 'squeezePoint', ...address))).toMatch(says);
  });

  test('a branch on more than s2 while it is compressed is found', () => {
    const encoder = job('encodeSignature');
    expect(refusal(encoder, falcon)).toBeUndefined();
    const says = /^1 branches depend on inputs instead of 0: compress/;
    expect(refusal(encoder, withStart(falcon, 'compress', ...branch))).toMatch(says);
  });

  test('compression without its s2 revealed is found', () => {
    const own = { ...job('encodeSignature'), instance: { format: 0, logn: 10 } };
    expect(refusal(own, falcon)).toBeUndefined();
    expect(refusal(withArgs(own, '0'), falcon)).toMatch(/^an address is not known: compress/);
  });

  test('where a sponge stands is known only after what has filled it', () => {
    const says = /^an address depends on an input: shakeAbsorb/;
    expect(refusal(withArgs(job('startHedged'), '0'), falcon)).toMatch(says);
  });

  test.each([
    ['after absorbKey(logn)', /^absorbKey has 2 parameters$/],
    ['after nothing()', /^0 functions are called nothing$/],
    ['shift 1', /^not a declaration: shift 1$/],
    ['S2..PRODUCT at compress', /^a function that reveals something is not called$/],
  ])('a declaration of %s is refused', (text, says) => {
    expect(refusal(withArgs(job('absorbKey'), '0', text), falcon)).toMatch(says);
  });

  test.each([
    ['bits that are not declared', ['9', 'shifts 1', 'judgeFour & 3607'], /^an address depends/],
    ['nothing that is declared', ['9', 'shifts 1'], /^an address depends/],
  ])('signing reveals %s', (_, args, says) => {
    expect(refusal(withArgs(job('signExpanded'), ...args), falcon)).toMatch(says);
  });
});

describe('names of results', () => {
  const verifier = readModule('falcon.verify')!;
  const job = (name: string): Job =>
    jobsOf('falcon.verify', verifier, contracts).find(({ contract }) => contract.name === name)!;

  /** The module, with the first such constant of a function one higher. */
  function withNext(name: string, value: bigint): Module {
    const index = [...verifier.names].find(([, full]) => full.endsWith(`/${name}`))![0];
    const body = verifier.bodies[index]!;
    const at = body.code.findIndex((one) => one.value === value);
    const code = body.code.with(at, { ...body.code[at]!, value: value + 1n });
    return { ...verifier, bodies: verifier.bodies.with(index, { ...body, code }) };
  }

  test('another status of the verdict is found', () => {
    expect(refusal(job('judge'), withNext('judge', -6n))).toMatch(
      /^the status is not a comparison/,
    );
  });

  test('another padding is found', () => {
    const says = /^lane 16 isn't that of the state and the input$/;
    expect(refusal(job('hashToPoint'), withNext('flip', 128n))).toMatch(says);
  });
});

test('the lock is up to date: every statement is proved for these bytes and this prover', () => {
  const lock = new Lock();
  const open = moduleNames().flatMap((name) => {
    const module = readModule(name, bytesOf(name));
    if (module === undefined) return [`${name}: names`];
    const jobs = jobsOf(name, module, contracts);
    return jobs.filter((job) => lock.find(job, module) === undefined).map(nameOf);
  });
  // `npm run prove` proves what is open, and writes the lock.
  expect(open).toEqual([]);
});
