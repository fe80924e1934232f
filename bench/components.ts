/** The steps of the module one by one, in both builds: where the time of a signature goes. */
import { falcon512, falcon1024 } from '../src/falcon/index.ts';
import { machine as machineOf } from '../src/falcon/wasm.ts';
import { testRandom } from '../test/support/random.ts';
import type { BenchOptions } from './main.ts';
import { type Contender, interleave } from './support/interleave.ts';
import { machine } from './support/machine.ts';

export async function run({ quick }: BenchOptions): Promise<void> {
  const figures: Record<string, Record<string, number>> = {};
  for (const falcon of [falcon512, falcon1024]) {
    const contenders = (['plain', 'relaxed'] as const).flatMap((module) =>
      steps(falcon, module).map((step) => ({ ...step, name: `${step.name} (${module})` })),
    );
    const measured = await interleave(contenders, { rounds: quick ? 5 : 25, sliceMs: 15 });
    console.log(`${falcon.name}: median of one call`);
    const half = measured.length / 2;
    for (let i = 0; i < half; i++) {
      const [plain, relaxed] = [measured[i]!, measured[half + i]!];
      const times = [plain, relaxed].map(({ medianUs }) =>
        `${medianUs.toFixed(2)} µs`.padStart(12),
      );
      const name = plain.name.replace(' (plain)', '').padEnd(18);
      console.log(`  ${name} plain ${times[0]}   relaxed ${times[1]}`);
    }
    console.log('');
    figures[falcon.name] = Object.fromEntries(
      measured.map(({ name, medianUs }) => [name, Number(medianUs.toPrecision(5))]),
    );
  }
  console.log(JSON.stringify({ bench: 'components', quick, machine: machine(), figures }));
}

/**
 * The module's exports applied to one key, one signature and one message, which they do not change.
 */
function steps(falcon: typeof falcon512, module: 'plain' | 'relaxed'): Contender[] {
  const random = testRandom(`components ${falcon.name}`);
  const logn = falcon.name === 'falcon512' ? 9 : 10;
  const { publicKey, secretKey } = falcon.keygen(random.bytes(48));
  const message = random.bytes(32);
  const signature = falcon.sign(message, secretKey);
  const seeds = random.bytes(88);

  const { exports, memory } = machineOf(module);
  /** Puts the inputs where the exports expect them: other contenders run in between. */
  const load = (): void => {
    memory.set(message, exports.IN.value);
    memory.set(publicKey, exports.PK.value);
    memory.set(signature, exports.SIG.value);
    memory.set(secretKey, exports.SK.value);
    memory.set(seeds, exports.SEED.value);
  };
  const step = (name: string, call: () => unknown): Contender => ({
    name,
    operate: () => {
      load();
      const status = call();
      if (typeof status === 'number' && status < 0) throw new Error(`${name}: status ${status}`);
    },
  });
  return [
    step('load the inputs', () => undefined),
    step('decodePublicKey', () => exports.decodePublicKey(logn)),
    step('decodeSignature', () => exports.decodeSignature(logn, signature.length)),
    step('hashToPoint', () => exports.hashToPoint(logn, message.length, 0)),
    step('prepare', () => exports.prepare(logn)),
    step('verify', () => exports.verify(logn, signature.length, message.length, 0)),
    step('expandKey', () => exports.expandKey(logn)),
    step('sign', () => {
      exports.expandKey(logn);
      exports.signExpanded(logn, 0, message.length, 0);
    }),
  ];
}
