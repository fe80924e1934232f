import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aggregateParts, mergeParts } from '../../src/aggregate/index.ts';
import { parseTaskFile } from '../../src/wire/taskFile.ts';
import { bytesOf } from '../aggregate/batches.ts';
import { fact } from '../support/facts.ts';
import { noblePeer, oqsPeer, type Peer, pqcleanPeer } from '../support/peers.ts';
import { NIGHTLY } from '../support/run.ts';
import { falconry, falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const run = (...args: string[]) => falconry(folder.path, args);
const here = (...args: string[]) => falconryHere(args);
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
const read = (name: string) => readFileSync(at(name), 'utf8');

interface Triple {
  digest: string;
  public_key: string;
  signature: string;
}

/** Triples by another implementation, keys and randomness of its own. */
function triplesBy(peer: Peer, count: number): Triple[] {
  const { publicKey, secretKey } = peer.keygen();
  return Array.from({ length: count }, (_, i) => {
    const message = bytesOf(`${peer.name} ${i}`, (3 * i) % 100);
    const signature = peer.sign(message, secretKey);
    return { digest: hex(message), public_key: hex(publicKey), signature: hex(signature) };
  });
}

let foreign: Triple[];

beforeAll(async () => {
  process.chdir(folder.path);
  const peers = [
    pqcleanPeer(512),
    pqcleanPeer(1024, true),
    await oqsPeer(512, true),
    noblePeer(1024),
  ];
  foreign = peers.flatMap((peer) => triplesBy(peer, 5));
  for (const peer of peers) peer.close();
  writeFileSync(at('task.json'), JSON.stringify(foreign, null, 2));
}, 120_000);

afterAll(() => {
  process.chdir('/');
});

describe('aggregate and verify-aggregate', () => {
  it('work on a task file that other programs wrote', async (context) => {
    const made = await run('aggregate', 'task.json', '-o', 'out.json');
    expect([made.code, made.err]).toEqual([0, '']);
    expect(made.out).toMatch(/^20 signatures valid; bundle of \d+ bytes/);

    const result = JSON.parse(read('out.json'));
    expect(Object.keys(result)).toEqual([
      'version',
      'process_id',
      'count',
      'format',
      'parameter_set',
      'statement',
      'aggregate',
      'sizes',
      'timings',
    ]);
    expect(result).toMatchObject({
      version: 1,
      process_id: null,
      count: 20,
      format: 'bundle',
      parameter_set: 'mixed',
      statement: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      aggregate: expect.stringMatching(/^0x464c52590102([0-9a-f]{2})+$/),
      timings: { aggregate_ms: expect.any(Number) },
    });
    expect(result.sizes.aggregate).toBe(result.aggregate.length / 2 - 1);
    const sum = foreign.reduce((total, t) => total + t.signature.length / 2 - 1, 0);
    expect(result.sizes.signatures).toBe(sum);

    const judged = await run('verify-aggregate', 'out.json', 'task.json');
    expect([judged.code, judged.err]).toEqual([0, '']);
    expect(judged.out).toMatch(/^valid: 20 signatures/);
    fact(context, 'command line', '20 signatures of pqclean, liboqs and noble aggregated');
  });

  it('give back the exact signatures to one who knows digests and keys alone', async () => {
    const statements = foreign.map(({ digest, public_key }) => ({ digest, public_key }));
    writeFileSync(at('statements.json'), JSON.stringify(statements));
    const args = ['verify-aggregate', 'out.json', 'statements.json', '--extract', 'again.json'];
    expect((await run(...args)).code).toBe(0);
    expect(JSON.parse(read('again.json'))).toEqual(foreign);
  });

  it('take standard input and the bare aggregate', async () => {
    const bare = await falconry(folder.path, ['aggregate', '-', '--raw'], read('task.json'));
    expect(bare.code).toBe(0);
    expect(bare.stdout.subarray(0, 4).toString()).toBe('FLRY');
    expect(bare.err).toMatch(/^20 signatures valid/);
    const args = ['verify-aggregate', '-', 'task.json', '--json'];
    const judged = await falconry(folder.path, args, bare.stdout);
    expect(judged.code).toBe(0);
    expect(JSON.parse(judged.out)).toEqual({
      ok: true,
      count: 20,
      format: 'bundle',
      aggregate_bytes: bare.stdout.length,
      sizes: expect.objectContaining({ total: bare.stdout.length, salts: 800 }),
    });
  });

  it('make the format that is asked for, say why, and extract nothing from a proof', async () => {
    const few = foreign.slice(0, 3);
    writeFileSync(at('few.json'), JSON.stringify(few));
    const asked = await run('aggregate', 'few.json', '--format', 'proof', '-o', 'proof.json');
    expect([asked.code, asked.err]).toEqual([0, '']);
    expect(asked.out).toMatch(
      /^3 signatures valid; proof of \d+ bytes .*\na proof, as requested\n$/,
    );
    const result = JSON.parse(read('proof.json'));
    expect(result).toMatchObject({ format: 'proof', count: 3, sizes: { salts: 120 } });
    expect(result.aggregate).toMatch(/^0x464c52590203/);

    const judged = await run('verify-aggregate', 'proof.json', 'few.json');
    expect(judged.out).toMatch(
      /^valid: 3 signatures proved in \d+ bytes \(including 120 bytes of salts\)\n$/,
    );
    const extract = ['verify-aggregate', 'proof.json', 'few.json', '--extract', 'none.json'];
    const extracted = await run(...extract);
    expect([extracted.code, extracted.err]).toEqual([
      1,
      'falconry verify-aggregate: A proof keeps no signatures\n',
    ]);
    expect(() => statSync(at('none.json'))).toThrow();
    writeFileSync(at('other.json'), JSON.stringify(few.toReversed()));
    expect((await run('verify-aggregate', 'proof.json', 'other.json')).code).toBe(1);

    const auto = await run('aggregate', 'few.json', '-o', 'auto.json');
    expect(auto.out).toMatch(/\na bundle: a proof would have about \d+ bytes\n$/);
    const json = await run('aggregate', 'few.json', '-o', 'auto.json', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ format: 'bundle', reason: 'smaller' });
    const wrong = await run('aggregate', 'few.json', '--format', 'zip');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('--format must be one of auto, proof, bundle');
  });

  it('come to the same bytes with any number of threads', async () => {
    const aggregates: string[] = [];
    for (const threads of [1, 3]) {
      const args = ['aggregate', 'few.json', '--format', 'proof', '-o', 'threads.json', '--json'];
      const made = await run(...args, '--threads', String(threads));
      // A batch this small is not worth the threads that it may have: what was used is told.
      expect(JSON.parse(made.out)).toMatchObject({ ok: true, threads: 1 });
      aggregates.push(JSON.parse(read('threads.json')).aggregate);
      const judge = ['verify-aggregate', 'threads.json', 'few.json', '--threads', String(threads)];
      expect((await run(...judge)).code).toBe(0);
      const other = ['verify-aggregate', 'threads.json', 'other.json', '--threads', `${threads}`];
      expect((await run(...other)).code).toBe(1);
    }
    expect(aggregates[1]).toBe(aggregates[0]);
    for (const wrong of ['0', '65', 'two', '1.5', '-1']) {
      const refused = await here('aggregate', 'few.json', `--threads=${wrong}`);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('from 1 to 64')]);
    }
  });

  it.runIf(NIGHTLY)(
    'prove 1722 signatures of another implementation',
    {
      timeout: 600_000,
    },
    async (context) => {
      const peer = pqcleanPeer(512);
      writeFileSync(at('many.json'), JSON.stringify(triplesBy(peer, 1722)));
      peer.close();
      const made = await run('aggregate', 'many.json', '-o', 'many.out');
      expect([made.code, made.err]).toEqual([0, '']);
      expect(made.out).toMatch(/^1722 signatures valid; proof of 1\d{5} bytes/);
      const judged = await run('verify-aggregate', 'many.out', 'many.json');
      expect([judged.code, judged.out.slice(0, 28)]).toEqual([0, 'valid: 1722 signatures prove']);
      fact(context, 'command line', `1722 signatures of pqclean: ${made.out.split('\n')[0]}`);
    },
  );

  it('name every invalid signature with its reason, and write nothing', async () => {
    const wrong = foreign.map((t) => ({ ...t }));
    wrong[2]!.digest = '0x00';
    wrong[7]!.signature = wrong[0]!.signature;
    wrong[19]!.public_key = `${wrong[19]!.public_key.slice(0, -2)}`;
    writeFileSync(at('wrong.json'), JSON.stringify(wrong));
    const text = await run('aggregate', 'wrong.json', '-o', 'never.json');
    expect([text.code, text.out]).toEqual([1, '']);
    expect(text.err.split('\n')).toEqual([
      'falconry aggregate: 3 of 20 signatures are invalid',
      '  item 2: the signature does not match the message and the key (signatureMismatch)',
      expect.stringMatching(/^ {2}item 7: .*signature .*\(signature(Header|Length)\)$/),
      '  item 19: the public key has the wrong length (publicKeyLength)',
      '',
    ]);
    expect(() => statSync(at('never.json'))).toThrow();

    const json = await run('aggregate', 'wrong.json', '-o', 'never.json', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      code: 'INVALID_SIGNATURES',
      count: 20,
      invalid: [
        { index: 2, reason: 'signatureMismatch' },
        { index: 7 },
        { index: 19, reason: 'publicKeyLength' },
      ],
    });
    const verified = await here('verify', 'wrong.json', '--json');
    expect(verified.code).toBe(1);
    expect(JSON.parse(verified.out).invalid).toEqual(JSON.parse(json.out).invalid);
  });

  it('judge another list, or a file that says what is not so, as invalid', async () => {
    writeFileSync(at('turned.json'), JSON.stringify([...foreign].reverse()));
    const turned = await here('verify-aggregate', 'out.json', 'turned.json');
    expect([turned.code, turned.err]).toEqual([1, '']);
    expect(turned.out).toMatch(/^invalid: /);

    const result = JSON.parse(read('out.json'));
    for (const change of [
      { count: 19 },
      { format: 'proof' },
      { parameter_set: 'falcon512' },
      { statement: `0x${'00'.repeat(32)}` },
      { aggregate: `${result.aggregate}00` },
      { sizes: { ...result.sizes, aggregate: 1 } },
    ]) {
      writeFileSync(at('lies.json'), JSON.stringify({ ...result, ...change }));
      const judged = await here('verify-aggregate', 'lies.json', 'task.json', '--json');
      expect(judged.code, Object.keys(change)[0]).toBe(1);
      expect(JSON.parse(judged.out)).toMatchObject({ ok: false, code: 'BAD_AGGREGATE' });
    }
  });
});

describe('keygen, sign and verify', () => {
  it('make what other programs accept, and a task file of it', async () => {
    expect((await run('keygen', '-o', 'key.json', '--public', 'public.json')).code).toBe(0);
    expect(statSync(at('key.json')).mode & 0o777).toBe(0o600);
    expect(JSON.parse(read('public.json'))).toEqual({
      parameter_set: 'falcon512',
      public_key: JSON.parse(read('key.json')).public_key,
    });
    writeFileSync(at('a.txt'), 'one');
    writeFileSync(at('b.txt'), '');
    expect(
      (await run('sign', '--key', 'key.json', 'a.txt', 'b.txt', '-o', 'signed.json')).code,
    ).toBe(0);
    const triples = JSON.parse(read('signed.json')) as Triple[];
    expect(triples.map((t) => t.digest)).toEqual([hex(Buffer.from('one')), '0x']);
    const peer = pqcleanPeer(512);
    for (const triple of triples) {
      const [signature, message, publicKey] = [
        triple.signature,
        triple.digest,
        triple.public_key,
      ].map((text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')));
      expect(peer.verify(signature!, message!, publicKey!)).toBe(true);
    }
    const verified = await run('verify', 'signed.json');
    expect([verified.code, verified.out]).toEqual([0, 'valid: 2 signatures\n']);
    const piped = await falconry(folder.path, ['aggregate', '-'], read('signed.json'));
    expect(piped.code).toBe(0);
    expect(JSON.parse(piped.out).count).toBe(2);
  });

  it('sign deterministically, or with derived salts, and aggregate both beside others', async () => {
    const sign = async (...args: string[]) => {
      const { code, out, err } = await run('sign', '--key', 'key.json', 'a.txt', ...args);
      expect([code, err]).toEqual([0, expect.stringMatching(/^1 message signed\n$/)]);
      return JSON.parse(out) as Triple[];
    };
    const kinds = [['--deterministic'], ['--salt', 'derived'], ['--format', 'padded']];
    const made: Triple[] = [];
    for (const kind of kinds) made.push(...(await sign(...kind)));
    expect(made.map(({ signature }) => signature.slice(0, 6))).toEqual([
      '0xb900',
      expect.stringMatching(/^0x39/),
      expect.stringMatching(/^0x39/),
    ]);
    expect(await sign('--deterministic')).toEqual([made[0]]);
    expect(await sign('--salt', 'derived')).toEqual([made[1]]);
    expect(await sign('--deterministic', '--integer')).toEqual([made[0]]);
    expect(await sign('--salt', 'derived', '--integer')).toEqual([made[1]]);
    writeFileSync(at('kinds.json'), JSON.stringify(made));
    expect((await run('verify', 'kinds.json')).out).toBe('valid: 3 signatures\n');
    const json = await run('aggregate', 'kinds.json', '--format', 'bundle', '-o', 'kinds.out');
    expect(json.code).toBe(0);
    expect(JSON.parse(read('kinds.out')).sizes.salts).toBe(40);
    expect((await run('verify-aggregate', 'kinds.out', 'kinds.json')).code).toBe(0);
  });

  it('take the bare keys and signatures of other programs', async () => {
    const peer = pqcleanPeer(1024);
    const { publicKey, secretKey } = peer.keygen();
    writeFileSync(at('their.sk'), secretKey);
    writeFileSync(at('their.pk'), publicKey);
    const args = ['sign', '--key', 'their.sk', '-', '--raw', '--format', 'padded', '-o', 'our.sig'];
    expect((await falconry(folder.path, args, 'text')).code).toBe(0);
    const ours = new Uint8Array(readFileSync(at('our.sig')));
    expect(ours.length).toBe(1280);
    expect(pqcleanPeer(1024, true).verify(ours, Buffer.from('text'), publicKey)).toBe(true);

    const message = Buffer.from('their message');
    writeFileSync(at('message'), message);
    writeFileSync(at('their.sig'), peer.sign(message, secretKey));
    const verify = ['verify', '--key', 'their.pk', '--signature', 'their.sig', 'message'];
    expect((await here(...verify)).code).toBe(0);
    writeFileSync(at('message'), 'their Message');
    const changed = await here(...verify);
    expect(changed.code).toBe(1);
    expect(changed.out).toContain('signatureMismatch');
  });

  it('make the same key from the same seed, and no other', async () => {
    writeFileSync(at('seed'), hex(bytesOf('key 512 1', 48)));
    const first = await here('keygen', '--seed-file', 'seed');
    expect(first.code).toBe(0);
    const theirs = noblePeer(512).keygen(bytesOf('key 512 1', 48));
    expect(JSON.parse(first.out).public_key).toBe(hex(theirs.publicKey));
    expect(JSON.parse(first.out).secret_key).toBe(hex(theirs.secretKey));
    expect((await here('keygen', '--seed-file', 'seed', '--integer')).out).toBe(first.out);
    writeFileSync(at('seed'), bytesOf('another', 48));
    const second = await here('keygen', '--seed-file', 'seed');
    expect(JSON.parse(second.out).public_key).not.toBe(JSON.parse(first.out).public_key);
    writeFileSync(at('seed'), bytesOf('short', 7));
    expect((await here('keygen', '--seed-file', 'seed')).code).toBe(1);
  });

  it('never replace a key file', async () => {
    const before = read('key.json');
    const again = await here('keygen', '-o', 'key.json');
    expect([again.code, again.out]).toEqual([3, '']);
    expect(again.err).toBe('falconry keygen: cannot write key.json: it already exists\n');
    expect(read('key.json')).toBe(before);
  });
});

describe('mistakes', () => {
  const cases: [string, number, RegExp, string[]][] = [
    ['no argument', 2, /expected one task file/, ['aggregate']],
    ['too many', 2, /expected/, ['verify-aggregate', 'a', 'b', 'c']],
    ['an unknown option', 2, /--fast/, ['aggregate', 'task.json', '--fast']],
    ['an unknown set', 2, /must be one of falcon512, falcon1024/, ['keygen', '--set', 'falcon256']],
    ['an unknown form', 2, /--format must be/, ['sign', '--key', 'k', 'm', '--format', 'short']],
    ['an unknown salt', 2, /--salt must be/, ['sign', '--key', 'k', 'm', '--salt', 'none']],
    [
      'two salts',
      2,
      /--deterministic excludes --salt derived/,
      ['sign', '--key', 'k', 'm', '--salt', 'derived', '--deterministic'],
    ],
    [
      'a form that is none of deterministic Falcon',
      2,
      /no padded form/,
      ['sign', '--key', 'k', 'm', '--deterministic', '--format', 'padded'],
    ],
    ['no key', 2, /--key is missing/, ['sign', 'a.txt']],
    ['half a pair', 2, /--key needs --signature/, ['verify', '--key', 'public.json', 'a.txt']],
    ['help as a value', 2, /'--key' argument is ambiguous/, ['sign', '--key', '--help', 'a.txt']],
    ['a file of that name', 3, /cannot read --help/, ['sign', '--key=--help', 'a.txt']],
    ['standard input twice', 2, /only once/, ['verify-aggregate', '-', '-']],
    ['a file that is not there', 3, /no such file/, ['aggregate', 'nowhere.json']],
    ['a directory', 3, /it is a directory/, ['aggregate', '.']],
    ['a place that is not there', 3, /cannot write/, ['aggregate', 'task.json', '-o', 'x/y.json']],
    ['what is not JSON', 1, /not valid JSON/, ['aggregate', 'garbage']],
    ['what is not a task file', 1, /must be an array/, ['verify', 'out.json']],
    ['a faulty element', 1, /item 1: digest is missing/, ['aggregate', 'faulty.json']],
    [
      'a result file that is none',
      1,
      /result file/,
      ['verify-aggregate', 'object.json', 'task.json'],
    ],
    [
      'a secret key that is none',
      1,
      /"secret_key" is missing/,
      ['sign', '--key', 'public.json', 'a.txt'],
    ],
    [
      'a broken secret key',
      1,
      /does not hold a valid secret key/,
      ['sign', '--key', 'broken.sk', 'a.txt'],
    ],
  ];

  beforeAll(() => {
    writeFileSync(at('garbage'), '[{');
    writeFileSync(at('object.json'), '{}');
    writeFileSync(
      at('faulty.json'),
      JSON.stringify([foreign[0], { ...foreign[1], digest: undefined }]),
    );
    writeFileSync(at('broken.sk'), new Uint8Array(1281).fill(0x59));
  });

  it.each(cases)('%s', async (_name, code, message, args) => {
    const ended = await here(...args);
    expect([ended.code, ended.out]).toEqual([code, '']);
    expect(ended.err).toMatch(message);
    expect(ended.err).not.toMatch(/\n\s+at /);
  });

  it('are told in JSON when asked', async () => {
    const ended = await here('verify', 'nowhere.json', '--json');
    expect([ended.code, ended.err]).toEqual([3, '']);
    expect(JSON.parse(ended.out)).toMatchObject({ ok: false, code: 'IO' });
  });

  it.each(['aggregate', 'verify-aggregate', 'keygen', 'sign', 'verify'])(
    '%s --help',
    async (name) => {
      const ended = await here(name, '--help');
      expect([ended.code, ended.err]).toEqual([0, '']);
      expect(ended.out).toMatch(new RegExp(`^Usage: falconry ${name} `));
      for (const part of ['Examples', 'Exit codes', '--json']) expect(ended.out).toContain(part);
    },
  );
});

describe('lists that do not fit one aggregate', () => {
  // One signature again and again: what is said of it is the same.
  const count = 8193;

  it('may be a merged proof, which is verified and inspected', async () => {
    const triples = foreign.slice(0, 5);
    writeFileSync(at('part.json'), JSON.stringify(triples));
    const statements = parseTaskFile(read('part.json'));
    const { value } = await aggregateParts(statements).next();
    writeFileSync(at('merged'), await mergeParts([{ part: value as Uint8Array, statements }]));
    const judged = await run('verify-aggregate', 'merged', 'part.json');
    expect([judged.code, judged.err]).toEqual([0, '']);
    expect(judged.out).toMatch(/^valid: 5 signatures in one proof in 1 part, \d+ bytes/);
    const { format, elements } = JSON.parse((await run('inspect', 'merged', '--json')).out);
    expect([format, elements]).toEqual([
      'merged',
      [expect.stringMatching(/^part of 5 \(\d+ bytes\)$/)],
    ]);
  });

  it('become a series, which is verified and extracted', async () => {
    const [one] = foreign;
    const list = new Array<Triple>(count).fill(one!);
    writeFileSync(at('many.ndjson'), list.map((each) => `${JSON.stringify(each)}\n`).join(''));
    writeFileSync(at('many.json'), JSON.stringify(list));
    const made = await run('aggregate', 'many.ndjson', '--format', 'bundle', '-o', 'many.out');
    expect([made.code, made.err]).toEqual([0, '']);
    expect(made.out).toMatch(/^8193 signatures valid; series of \d+ bytes .*\na series: /);
    expect(JSON.parse(read('many.out'))).toMatchObject({ format: 'series', count });
    for (const name of ['many.ndjson', 'many.json']) {
      const judged = await run('verify-aggregate', 'many.out', name);
      expect([judged.code, judged.err]).toEqual([0, '']);
      expect(judged.out).toMatch(/^valid: 8193 signatures in a series in 2 aggregates, \d+ bytes/);
    }
    const extract = ['verify-aggregate', 'many.out', 'many.json', '--extract', 'again.json'];
    expect((await run(...extract)).code).toBe(0);
    expect(JSON.parse(read('again.json'))).toEqual(list);
    const inspected = JSON.parse((await run('inspect', 'many.out', '--json')).out);
    expect(inspected).toMatchObject({ kind: 'result file', format: 'series', count });
    expect(inspected.elements).toHaveLength(2);
    expect(inspected.elements[0]).toMatch(/^bundle of 4097 \(\d+ bytes\)$/);
    const raw = await falconry(
      folder.path,
      ['aggregate', '-', '--format', 'bundle', '--raw'],
      read('many.ndjson'),
    );
    expect(raw.stdout.subarray(0, 6)).toEqual(Buffer.from([0x46, 0x4c, 0x52, 0x59, 3, 1]));
    writeFileSync(at('many.raw'), raw.stdout);
    expect((await run('inspect', 'many.raw')).out).toMatch(/^aggregate \(series\)/);
    const piped = await falconry(
      folder.path,
      ['verify-aggregate', 'many.raw', '-'],
      read('many.ndjson'),
    );
    expect(piped.code).toBe(0);
    list[5000] = { ...one!, digest: '0x01' };
    writeFileSync(at('wrong.json'), JSON.stringify(list));
    const refused = await run('verify-aggregate', 'many.out', 'wrong.json');
    expect([refused.code, refused.out]).toEqual([
      1,
      'invalid: not an aggregate of signatures for 8193 statements\n',
    ]);
    const invalid = await run('aggregate', 'wrong.json', '--format', 'bundle', '-o', 'none.out');
    expect(invalid.code).toBe(1);
    expect(invalid.err).toMatch(/: 1 of 8193 signatures is invalid\n/);
    expect(invalid.err).toContain('5000');
    expect(() => statSync(at('none.out'))).toThrow();
  }, 300_000);
});
