/**
 * The same check really run in Node, Deno, Bun, Chromium and Firefox, on all builds of the module.
 */
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { aggregate } from '../../src/aggregate/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { findFirefox, openFirefox } from '../bundlers/bidi.ts';
import { DERIVED_ANSWERS, DET_ANSWERS } from '../support/algorand.ts';
import { findChromium, loadPage, openBrowser } from '../support/chromium.ts';
import { fact } from '../support/facts.ts';
import { BUN, BUN_RUN, DENO, DENO_RUN, reportOf, versionOfHost } from '../support/hostCommands.ts';
import { type Degree, nobleObject, nobleSign } from '../support/peers.ts';
import { check, checkInputs, fixedItems, proveMany, type Report, sha256 } from './check.ts';
import { serveLibrary } from './serve.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const TOPIC = 'runtimes really started';
const LONG = { timeout: 300_000 };

const REPRODUCIBLE = {
  falcon512: { det: DET_ANSWERS[512][32], derived: DERIVED_ANSWERS[512][32] },
  falcon1024: { det: DET_ANSWERS[1024][32], derived: DERIVED_ANSWERS[1024][32] },
};

let answers: Record<string, string>;
let proofs: Record<string, string>;

/** The known answers, by another implementation. */
async function nobleAnswers(): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const degree of [512, 1024] as Degree[]) {
    const parts: Uint8Array[] = [];
    for (const { seed, message, salt, samplerSeed } of checkInputs()) {
      const { publicKey, secretKey } = nobleObject(degree).keygen(seed);
      parts.push(publicKey, secretKey, nobleSign(degree, message, secretKey, salt, samplerSeed));
    }
    result[`falcon${degree}`] = await sha256(parts);
  }
  return result;
}

beforeAll(async () => {
  answers = await nobleAnswers();
  ({ proofs } = await check());
}, LONG.timeout);

function judge(report: Report, needsRelaxed: boolean): string {
  expect(report.faults).toEqual([]);
  expect(report.checks).toBeGreaterThan(200);
  expect(report.answers.plain).toEqual(answers);
  expect(report.answers.integer).toEqual(answers);
  if (needsRelaxed || report.answers.relaxed !== undefined) {
    expect(report.answers.relaxed).toEqual(answers);
  }
  expect(report.reproducible.plain).toEqual(REPRODUCIBLE);
  expect(report.reproducible.integer).toEqual(REPRODUCIBLE);
  if (needsRelaxed || report.reproducible.relaxed !== undefined) {
    expect(report.reproducible.relaxed).toEqual(REPRODUCIBLE);
  }
  expect(Object.keys(report.proofs)).toEqual(['falcon512', 'falcon1024', 'mixed']);
  expect(report.proofs).toEqual(proofs);
  const builds = Object.keys(report.answers).join(' and ');
  return `${report.checks} checks, ${builds} SIMD, ${report.picked} by default`;
}

test.for([
  ['Node', process.execPath, [], true],
  ['Deno', DENO, DENO_RUN, true],
  // JavaScriptCore decides by itself whether it has relaxed SIMD.
  ['Bun', BUN, BUN_RUN, false],
] as const)('%s', LONG, async ([, command, args, needsRelaxed], context) => {
  const report = await reportOf<Report>(command, [...args, main]);
  fact(context, TOPIC, `${versionOfHost(command)}: ${judge(report, needsRelaxed)}`);
});

const executablePath = findChromium();

test('Chromium', LONG, async (context) => {
  if (executablePath === undefined) return context.skip('no Chromium on this machine');
  const server = await serveLibrary();
  const browser = await openBrowser(executablePath);
  try {
    const { page, errors } = await loadPage(browser, server.url, server.missing);
    const report = (await page.evaluate('globalThis.report')) as Report;
    expect(errors).toEqual([]);
    expect(server.missing).toEqual(['/test/runtimes/nothing-here.ts']);
    fact(context, TOPIC, `Chromium ${browser.version()}: ${judge(report, true)}`);

    const proved = await page.evaluate('globalThis.proveMany(110)');
    expect(proved).toEqual(await proveMany(110));
    expect(proved).toMatchObject({ format: 'proof', valid: true });
    const large = await aggregate(fixedItems(falcon512, 1722));
    const hex = Buffer.from(large).toString('hex');
    expect(await page.evaluate(`globalThis.verifyMany('${hex}', 1722)`)).toEqual([true, false]);
    fact(context, TOPIC, 'Chromium proved 110 signatures and verified a proof of 1722');
  } finally {
    await browser.close();
    await server.close();
  }
});

const firefoxPath = findFirefox();

test('Firefox', LONG, async (context) => {
  if (firefoxPath === undefined) return context.skip('no Firefox on this machine');
  const server = await serveLibrary();
  const firefox = await openFirefox(firefoxPath);
  try {
    const report = await firefox.report<Report>(server.url);
    expect(server.missing).toEqual(['/test/runtimes/nothing-here.ts']);
    fact(context, TOPIC, `Firefox ${firefox.version}: ${judge(report, false)}`);
  } finally {
    await firefox.close();
    await server.close();
  }
});
