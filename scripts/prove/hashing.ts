/**
 * The statements on Keccak and ChaCha, and on hashing to a point. Which words are rejected is
 * public, and addresses depend on it: each proof is about the hashes in which some given words are
 * rejected. In those, outputs of permutations are new unknowns.
 */
import { BitForms } from './bits.ts';
import type { Value } from './execute.ts';
import { addressOf, functionNamed, type Kernel, runsOf } from './kernel.ts';
import { linear, modulo } from './modular.ts';
import { CHACHA_CONSTANTS, chacha, FALCON_Q } from './references.ts';
import { isSame, type Statement } from './statements.ts';
import type { Term } from './terms.ts';

const LIMIT = 61445n;
const NONE = new Map<number, bigint>();

/** Lanes of 64 bits in memory. */
const lanesAt = ({ machine: { memory } }: Kernel, at: number, step: number, count: number) =>
  Array.from({ length: count }, (_, i) => memory.load(at + step * i, 8));

/** The words of a hash that are read one after the other, and those that are kept. */
class Stream {
  /** Of the last permutation, those that are still to be read, less 2^15, as forms. */
  readonly open: Map<number, bigint>[] = [];
  readonly kept: Term[] = [];
  /** Blocks of input that are still to be absorbed: lanes, zeros at the end left out. */
  readonly input: Term[][];
  state: readonly Term[];
  counter = 0n;

  constructor({ machine: { terms } }: Kernel, input: Term[][]) {
    this.input = input;
    this.state = Array<Term>(25).fill(terms.constant(64, 0));
  }
}

/** A word of a lane, less 2^15. */
function wordOf({ machine: { terms } }: Kernel, lane: Term, at: number, isBig: boolean) {
  const bytes = [16 * at, 16 * at + 8].map((from) => terms.bits(64, lane, from, from + 8, false));
  const [high, low] = isBig ? bytes : bytes.reverse();
  const word = terms.add(64, terms.shl(64, high!, 8), low!);
  return linear(terms, terms.sub(64, word, terms.constant(64, 32768)), 0n);
}

/** Checks what is about to be permuted: the last state, and a block of input if there is one. */
function checkInput(kernel: Kernel, stream: Stream, at: number, step: number): void {
  const { terms } = kernel.machine;
  const block = stream.input[0] ?? [];
  lanesAt(kernel, at, step, 25).forEach((lane, i) => {
    const expected = block[i] ? terms.xor(64, stream.state[i]!, block[i]!) : stream.state[i]!;
    const isSame =
      terms.isEqual(lane, expected) || areEqualBytes(kernel, lane, stream.state[i]!, block[i]);
    kernel.check(isSame, () => `lane ${i} isn't that of the state and the input`);
  });
}

/** Whether bytes are those of a lane, some of them with a constant added. */
function areEqualBytes({ machine: { terms } }: Kernel, lane: Term, old: Term, pad?: Term): boolean {
  if (pad?.value === undefined) return false;
  return Array.from({ length: 8 }, (_, i) => {
    const byte = terms.constant(32, (pad.value! >> BigInt(8 * i)) & 255n);
    const before = terms.extend(32, terms.extract(8, old, 8 * i), false);
    const expected = terms.extract(8, terms.xor(32, before, byte), 0);
    return terms.isEqual(terms.extract(8, lane, 8 * i), expected);
  }).every(Boolean);
}

/** Gives names to what was permuted; the words of the first lanes can be read. */
function permuted(kernel: Kernel, stream: Stream, place: readonly [number, number], read: Reading) {
  const { terms, memory } = kernel.machine;
  const [at, step] = place;
  stream.state = lanesAt(kernel, at, step, 25).map((lane, i) => {
    const name = terms.opaque('name', 64, [lane]);
    memory.store(at + step * i, name);
    return name;
  });
  stream.input.shift();
  stream.open.length = 0;
  if (stream.input.length > 0) return;
  for (const lane of stream.state.slice(0, read.lanes)) {
    for (let i = 0; i < 4; i++) stream.open.push(wordOf(kernel, lane, i, read.isBig));
  }
}

interface Reading {
  readonly lanes: number;
  readonly isBig: boolean;
}

/**
 * Chooses which of the words that are compared with the limit are below it: masks in an order in
 * which each occurs.
 */
function chooseMasks(kernel: Kernel, streams: readonly Stream[]): void {
  const { pattern = 0 } = kernel.instance;
  let turn = 128 * pattern;
  kernel.machine.onMask = (lanes) => {
    const mask = (turn++ * 167) & 255;
    const forms = lanes.map(({ args: [word] }) =>
      word ? linear(kernel.machine.terms, word, 0n) : NONE,
    );
    const stream = streams.find(({ open }) => open[0] && isSame(forms[0]!, open[0]));
    if (stream === undefined) throw new Error('words are read out of order');
    return lanes.reduce((chosen, lane, i) => {
      if (lane.value === 0n) return chosen;
      const word = stream.open.shift() ?? NONE;
      const [left, right] = lane.args;
      const isLimit = lane.op === 'lt_s' && right!.value === LIMIT - 32768n;
      const isCompared = isLimit && isSame(forms[i]!, word);
      kernel.check(isCompared, () => `lane ${i} isn't compared with the limit`);
      if (((mask >> i) & 1) === 0) return chosen;
      stream.kept.push(left!);
      return chosen | (1 << i);
    }, 0);
  };
}

/** Lanes of a padded message: FIPS 202, 5.1, after the bits of a domain. */
function padded(
  { machine: { terms } }: Kernel,
  message: readonly Term[],
  domain: number,
): Term[][] {
  const blocks: Term[][] = [];
  for (let at = 0; at <= message.length; at += 17) blocks.push(message.slice(at, at + 17));
  const last = blocks.at(-1)!;
  last.push(terms.constant(64, domain));
  while (last.length < 16) last.push(terms.constant(64, 0));
  if (last.length === 17) throw new Error('a message whose padding is one lane');
  last.push(terms.constant(64, 1n << 63n));
  return blocks;
}

/** Salt and message as lanes. */
function putMessage(kernel: Kernel, salt: number, at: number, bytes: number): Term[] {
  const own = kernel.unknowns('salt', salt, 5, 64);
  return [...own, ...kernel.unknowns('message', at, bytes / 8, 64)];
}

const ETH_FALCON = 2;
const FN_DSA_DRAFT = 3;

/** The first n words of the hash that are below 61445, modulo q. */
const hash: Statement = (kernel) => {
  const { machine, instance } = kernel;
  const { terms } = machine;
  const { profile, messageLen } = instance;
  const isCounter = profile === ETH_FALCON;
  for (const name of ['SIG', 'IN']) kernel.filled.add(name);
  const message = putMessage(
    kernel,
    addressOf(kernel.module, 'SIG') + 1,
    addressOf(kernel.module, 'IN'),
    messageLen!,
  );
  const first = new Stream(kernel, padded(kernel, message, isCounter ? 1 : 0x1f));
  const streams = [first];
  const read = { lanes: isCounter ? 0 : 17, isBig: profile !== FN_DSA_DRAFT };
  const keccak = functionNamed(kernel.module, 'keccakF');
  const places: [number, number][] = [];
  machine.onCall = (index, [at]) => {
    if (index !== keccak) return;
    const place: [number, number] = [Number((at as Term).value), 8];
    if (isCounter && first.input.length === 0) streams[1] = counterBlock(kernel, first, streams[1]);
    places.push(place);
    checkInput(kernel, streams.at(-1)!, ...place);
  };
  machine.onReturn = (index) => {
    if (index !== keccak) return;
    const isDigest = streams.length === 1 && isCounter;
    permuted(
      kernel,
      streams.at(-1)!,
      places.at(-1)!,
      isCounter && !isDigest ? { lanes: 4, isBig: true } : read,
    );
  };
  chooseMasks(kernel, streams);
  kernel.call();
  const { kept } = streams.at(-1)!;
  const q = BigInt(FALCON_Q);
  kernel.outputs('POINT').forEach((term, i) => {
    kernel.stated.set(term, q);
    const form = linear(terms, kept[i]!, q);
    const constant = modulo((form.get(0) ?? 0n) + 32768n, q);
    if (constant === 0n) form.delete(0);
    else form.set(0, constant);
    kernel.check(isSame(linear(terms, term, q), form), () => `coefficient ${i} isn't the word`);
  });
};

/** The next block of the counter mode: digest, counter, padding; what was kept goes on. */
function counterBlock(kernel: Kernel, digest: Stream, last: Stream | undefined): Stream {
  const { terms } = kernel.machine;
  const counter = last === undefined ? 0n : last.counter + 1n;
  const big = BigInt(
    `0x${Buffer.from(counter.toString(16).padStart(16, '0'), 'hex').reverse().toString('hex')}`,
  );
  const stream = new Stream(
    kernel,
    padded(kernel, [...digest.state.slice(0, 4), terms.constant(64, big)], 1),
  );
  stream.counter = counter;
  stream.kept.push(...(last?.kept ?? []));
  return stream;
}

/** Where the two states are: the compiler has fixed it. */
function statesOf(kernel: Kernel, index: number): number {
  const probe = kernel.newMachine();
  probe.memory.watch();
  probe.call(index, []);
  const [run, ...others] = runsOf(probe.memory.written);
  if (others.length > 0 || run![1] - run![0] !== 400) throw new Error('the states are not found');
  return run![0];
}

/** Two hashes of a batch, whose signatures are then found too short. */
const hashTwo: Statement = (kernel) => {
  const { machine, instance } = kernel;
  const { memory } = machine;
  const n = 2 ** instance.logn!;
  const [records, data] = ['BATCH_RECORDS', 'BATCH_DATA'].map((name) =>
    addressOf(kernel.module, name),
  );
  const streams = [instance.first!, instance.second!].map((bytes, item) => {
    const [input, sig] = [16384 * item, 16384 * item + 8192];
    const number = (i: number, value: number) =>
      kernel.put(records! + 24 * item + 4 * i, machine.terms.constant(32, value));
    [input, 40 + bytes, sig, 41, 0].forEach((value, i) => {
      number(i, value);
    });
    kernel.put(data! + sig, machine.terms.constant(8, 0x30 + instance.logn!));
    const message = putMessage(kernel, data! + sig + 1, data! + input + 40, bytes);
    return new Stream(kernel, padded(kernel, message, 0x1f));
  });
  const keccak = functionNamed(kernel.module, 'keccakF2');
  const at = statesOf(kernel, keccak);
  machine.onCall = (index) => {
    if (index !== keccak) return;
    streams.forEach((stream, i) => {
      const isRead = stream.open.length === 0 || stream.kept.length >= n;
      kernel.check(isRead, () => 'words are left out');
      checkInput(kernel, stream, at + 8 * i, 16);
    });
  };
  machine.onReturn = (index) => {
    if (index !== keccak) return;
    streams.forEach((stream, i) => {
      permuted(kernel, stream, [at + 8 * i, 16], { lanes: 17, isBig: true });
    });
  };
  chooseMasks(kernel, streams);
  const [invalid] = kernel.call() as Term[];
  kernel.check(invalid!.value === 2n, () => 'a signature that is too short is accepted');
  const isPoint = (from: number, { kept }: Stream) =>
    kept.slice(0, n).every((word, i) => memory.load(from + 2 * i, 2) === word);
  const isFirst = isPoint(addressOf(kernel.module, 'POINT'), streams[0]!);
  kernel.check(
    isFirst && streams[0]!.kept.length >= n,
    () => "the first point isn't that of its hash",
  );
  const starts = [...memory.written].filter((from) => from % 64 === 0);
  const isSecond = starts.some((from) => isPoint(from, streams[1]!));
  kernel.check(
    isSecond && streams[1]!.kept.length >= n,
    () => "the second point isn't that of its hash",
  );
};

/** Keccak-f[1600] on each of the interleaved states. */
const keccak: Statement = (kernel, [states]) => {
  const count = Number(states);
  const inputs = [...kernel.inputs('state')];
  kernel.call();
  const outputs = kernel.outputs('state');
  for (let state = 0; state < count; state++) {
    const forms = new BitForms(kernel.machine.terms);
    const own = inputs.filter((_, i) => i % count === state);
    const expected = forms.keccak(own.map((term) => forms.input(term)));
    expected.forEach((form, lane) => {
      const isEqual = forms.isEqual(forms.of(outputs[count * lane + state]!), form);
      kernel.check(isEqual, () => `lane ${lane} of state ${state} isn't Keccak's`);
    });
  }
};

const chachaBlock = ({ machine: { terms } }: Kernel, state: readonly Term[], rounds: number) =>
  chacha(
    {
      add: (a, b) => terms.add(32, a, b),
      xor: (a, b) => terms.xor(32, a, b),
      rotate: (a: Term, bits) => terms.rotl(32, a, bits),
    },
    state,
    rounds,
  );

/** Four blocks of ChaCha20, the 64-bit counter xored into the last words of the nonce. */
const chacha20: Statement = (kernel) => {
  const { terms } = kernel.machine;
  const words = [...kernel.inputs('key')];
  const counter = terms.input(64, 'counter', 100);
  kernel.put(kernel.address('key') + 48, counter);
  kernel.call();
  const outputs = kernel.outputs('out');
  for (let block = 0; block < 4; block++) {
    const count = terms.add(64, counter, terms.constant(64, block));
    const nonce = [0, 32].map((bit, i) =>
      terms.xor(32, terms.extract(32, count, bit), words[10 + i]!),
    );
    const constants = CHACHA_CONSTANTS.map((value) => terms.constant(32, value));
    const state = [...constants, ...words.slice(0, 10), ...nonce];
    chachaBlock(kernel, state, 20).forEach((word, w) => {
      const isEqual = terms.isEqual(outputs[8 * w + block]!, word);
      kernel.check(isEqual, () => `word ${w} of block ${block} isn't ChaCha20's`);
    });
  }
  const next = kernel.machine.memory.load(kernel.address('key') + 48, 8);
  const expected = terms.add(64, counter, terms.constant(64, 4));
  kernel.check(terms.isEqual(next, expected), () => 'the counter is wrong');
};

/** Makes the module's state of ChaCha unknown. @returns its address, and the state */
export function chachaState(kernel: Kernel): [at: number, state: Term[]] {
  const { terms } = kernel.machine;
  const sigma = CHACHA_CONSTANTS.flatMap((word) => [0, 8, 16, 24].map((s) => (word >> s) & 255));
  const isStart = ({ bytes }: { bytes: Uint8Array }) => sigma.every((byte, i) => bytes[i] === byte);
  const at = kernel.module.data.find(isStart)?.at;
  if (at === undefined) throw new Error('the state of ChaCha is not found');
  const state = Array.from({ length: 16 }, (_, i) => {
    if (i < 4) return terms.constant(32, CHACHA_CONSTANTS[i]!);
    return terms.input(32, `state[${i}]`, 100 + i);
  });
  state.forEach((term, i) => {
    kernel.put(at + 4 * i, term);
  });
  return [at, state];
}

/** Four blocks for each quad from `counter` of ChaCha8 with the state of the module's memory. */
const chacha8: Statement = (kernel) => {
  const { terms } = kernel.machine;
  const [at, state] = chachaState(kernel);
  const counter = terms.input(32, 'counter', 200);
  kernel.callWith(new Map<string, Value>([['counter', counter]]));
  const outputs = kernel.outputs('out');
  // By induction, of turn k alone.
  const k = kernel.turn?.k ?? terms.constant(32, 0);
  const start = terms.add(32, counter, terms.mul(32, k, terms.constant(32, 4)));
  for (let block = 0; block < outputs.length / 16; block++) {
    const first = terms.add(32, start, terms.constant(32, block & ~3));
    const own = state.with(12, terms.add(32, first, terms.constant(32, block & 3)));
    chachaBlock(kernel, own, 8).forEach((word, w) => {
      const isEqual = terms.isEqual(outputs[16 * block + w]!, word);
      kernel.check(isEqual, () => `word ${w} of block ${block} isn't ChaCha8's`);
    });
  }
  const next = terms.add(32, start, terms.constant(32, outputs.length / 16));
  kernel.check(terms.isEqual(kernel.machine.memory.load(at + 48, 4), next), () => 'counter');
};

export const HASHING: Readonly<Record<string, Statement>> = {
  ...{ hash, hashTwo, keccak, chacha20, chacha8 },
};
