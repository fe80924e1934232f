/** The signer port: what a signer is asked, and what becomes of each of its answers. */
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import {
  type Signed,
  type Signer,
  SignerBusy,
  SignerRefusal,
  type SignRequest,
} from '../../src/middleware/index.ts';
import { VerifiedSigner } from '../../src/middleware/signing/signer.ts';
import { CodedError } from '../../src/shared/errors.ts';
import { expectProblem, recordedLog, serviceTest } from './support.ts';

const PATH = '/v1/falcon/sign';
const pair = falcon512.keygen();
const other = falcon512.keygen();
const large = falcon1024.keygen();
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

const signed = (message: Uint8Array): Signed => ({
  signature: falcon512.sign(message, pair.secretKey),
  publicKey: pair.publicKey,
});

let answer: Signer['sign'];
const asked: SignRequest[] = [];
const { lines: logged, logger } = recordedLog();
const { it, http } = serviceTest({
  ...{ workers: false, logger },
  signer: {
    sign(request) {
      asked.push(request);
      return answer(request);
    },
  },
});
beforeEach(() => {
  asked.length = 0;
  logged.length = 0;
});
afterEach(() => void vi.useRealTimers());
const sign = () => http.ask('POST', PATH, { digest: '0x0102' });

describe('a signer of the host', () => {
  it('signs instead of a key file, and is told client, message and set', async () => {
    answer = async ({ message }) => signed(message);
    const mine = await sign();
    expect(mine.status).toBe(200);
    expect(Object.keys(mine.json)).toEqual(['digest', 'signature', 'public_key']);
    expect(mine.json).toMatchObject({ digest: '0x0102', public_key: hex(pair.publicKey) });
    await http.ask('POST', PATH, { digest: '0x' }, { key: http.bob });
    const keys = await http.service.apiKeys.list();
    const clientOf = (name: string) => keys.find((each) => each.name === name)?.clientId;
    expect(asked).toEqual([
      { clientId: clientOf('alice'), message: Uint8Array.of(1, 2), set: 'falcon512' },
      { clientId: clientOf('bob'), message: new Uint8Array(0), set: 'falcon512' },
    ]);
  });

  it('is busy: a 503 that says when to come again', async () => {
    answer = () => Promise.reject(new SignerBusy(7));
    const busy = await sign();
    expectProblem(busy, 503, 'OVERLOADED');
    expect(busy.headers.get('retry-after')).toBe('7');
    expect(busy.json.detail).toBe('The signer is busy');
  });

  it('refuses: a 422 with its reason', async () => {
    answer = () => Promise.reject(new SignerRefusal('This message is not in the list'));
    const refused = await sign();
    expectProblem(refused, 422, 'SIGNING_REFUSED');
    expect(refused.json.detail).toBe('This message is not in the list');
  });

  it('says nothing for ten seconds: a 503, which the operator hears of', async () => {
    const isAsked = new Promise<void>((resolve) => {
      answer = () => {
        resolve();
        return new Promise(() => {});
      };
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const waiting = http.service.app.request(PATH, {
      method: 'POST',
      headers: { authorization: http.alice, 'content-type': 'application/json' },
      body: '{"digest":"0x01"}',
    });
    await isAsked;
    await vi.advanceTimersByTimeAsync(9999);
    expect(await Promise.race([waiting, null])).toBeNull();
    // The limit, and the second look of `withTimeout`.
    await vi.advanceTimersByTimeAsync(1 + 50);
    const { status, headers } = await waiting;
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(logged.join('\n')).toContain('TIMED_OUT');
  });

  const wrong: [string, (message: Uint8Array) => unknown][] = [
    ['nothing', () => undefined],
    ['null', () => null],
    ['no bytes', (m) => ({ signature: hex(signed(m).signature), publicKey: pair.publicKey })],
    ['no public key', (m) => ({ signature: signed(m).signature })],
    ['the public key of another', (m) => ({ ...signed(m), publicKey: other.publicKey })],
    ['the public key of another set', (m) => ({ ...signed(m), publicKey: large.publicKey })],
    [
      'a pair of another set',
      (m) => ({ signature: falcon1024.sign(m, large.secretKey), publicKey: large.publicKey }),
    ],
    ['a short public key', (m) => ({ ...signed(m), publicKey: pair.publicKey.slice(1) })],
    ['a short signature', (m) => ({ ...signed(m), signature: signed(m).signature.slice(0, 41) })],
    ['a signature with a tail', (m) => ({ ...signed(m), signature: [...signed(m).signature, 0] })],
    ['the signature of another message', () => signed(Uint8Array.of(9))],
  ];
  it.each(wrong)('returns %s: a fault of ours, which is not sent', async (_, make) => {
    let made: Partial<Signed> | null | undefined;
    answer = async ({ message }) => {
      made = make(message) as Signed;
      return made as Signed;
    };
    const failed = await sign();
    expectProblem(failed, 500, 'INTERNAL');
    expect(failed.json.detail).toBe('Something went wrong on our side');
    const log = logged.join('\n');
    expect(log).toContain('the signer returned');
    for (const bytes of [made?.signature, made?.publicKey, pair.secretKey]) {
      if (!(bytes instanceof Uint8Array)) continue;
      expect(log).not.toContain(Buffer.from(bytes).toString('hex').slice(2, 34));
      expect(failed.text).not.toContain(Buffer.from(bytes).toString('hex').slice(2, 34));
    }
  });

  it('fails in any other way: a 500, whose text is only in the log', async () => {
    const message = 'slot 3 is on fire';
    for (const fault of [new Error(message), new CodedError('NOT_FOUND', { message })]) {
      const fail = () => {
        throw fault;
      };
      for (answer of [fail, async () => fail()]) {
        logged.length = 0;
        const failed = await http.ask('POST', PATH, { digest: '0x01' });
        expectProblem(failed, 500, 'INTERNAL');
        expect(failed.text).not.toContain('slot');
        expect(logged.join('\n')).toContain(message);
      }
    }
  });

  it('cannot change what is answered, neither the message nor its own bytes', async () => {
    let given: Signed | undefined;
    answer = async ({ message }) => {
      given = signed(message);
      setTimeout(() => given?.signature.fill(0));
      message.fill(7);
      return given;
    };
    const { status, json } = await sign();
    expect([status, json.digest]).toEqual([200, '0x0102']);
    const signature = Buffer.from(json.signature.slice(2), 'hex');
    expect(falcon512.verify(signature, Uint8Array.of(1, 2), pair.publicKey)).toBe(true);
  });
});

describe('errors of signers', () => {
  it('round the time to wait up to whole seconds, within an hour', () => {
    const seconds = [0.2, 1, 1.5, 7200, Number.POSITIVE_INFINITY, 0, -1, Number.NaN];
    expect(seconds.map((each) => new SignerBusy(each).retryAfterSeconds)).toEqual([
      1, 1, 2, 3600, 3600, 1, 1, 1,
    ]);
    expect(new SignerBusy().retryAfterSeconds).toBe(1);
    expect(new SignerRefusal().message).toBe('The signer does not sign this message');
  });

  it('are known by their code: they may be of another copy of the library', async () => {
    const busy = Object.assign(new CodedError('OVERLOADED', { message: 'secret' }), {
      retryAfterSeconds: 3,
    });
    const signer = new VerifiedSigner({ sign: () => Promise.reject(busy) }, 'falcon512');
    await expect(signer.sign(1, Uint8Array.of(1))).rejects.toMatchObject({
      message: 'The signer is busy',
      retryAfterSeconds: 3,
    });
  });
});

describe('the parameter set', () => {
  it('is asked for, and checked', async () => {
    const sets: string[] = [];
    const signer = new VerifiedSigner(
      {
        async sign({ message, set }) {
          sets.push(set);
          const signature = falcon1024.sign(message, large.secretKey);
          return { signature, publicKey: large.publicKey };
        },
      },
      'falcon1024',
    );
    const { publicKey } = await signer.sign(1, Uint8Array.of(1));
    expect([sets, publicKey]).toEqual([['falcon1024'], large.publicKey]);
  });
});
