/** `falconry doctor`: checks the machine and what `falconry serve` would use on it. */
import { type Command, flag, UsageError } from '../lib/command.ts';
import { type ConfigReading, examineConfig } from '../lib/config.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { hasColour } from '../lib/progress.ts';
import { ALL_SETTINGS, SERVE_SETTINGS } from '../lib/settings.ts';
import { showValue } from '../lib/settingText.ts';
import { plural } from '../lib/text.ts';
import {
  checkRemote,
  type Finding,
  fault,
  type Host,
  MACHINE_CHECKS,
  ok,
  readManifest,
  runChecks,
  thisHost,
  warning,
} from './doctorChecks.ts';
import { SERVE_CHECKS } from './serveChecks.ts';
import { resolveService, serviceOptions } from './serveConfig.ts';
import { withStore } from './stores.ts';

export const DOCTOR_SETTINGS = [...SERVE_SETTINGS, 'url'] as const;
type DoctorSetting = (typeof DOCTOR_SETTINGS)[number];

export const command: Command = defineCommand({
  name: 'doctor',
  summary: 'check this machine and the configuration for problems',
  usage: ['[--accept-clock] [options]'],
  about: [
    'Checks this machine (Node, WebAssembly, threads, memory, clock, packages), and what ' +
      'falconry serve would use with the same settings: ports, addresses, data directory, ' +
      'disk, database, bucket, API keys, signing key. With --url it also calls the service ' +
      'there. It prints every setting that is not a default, with its origin. Each finding is ' +
      'ok, a warning or a fault, with advice. No secret is printed. Nothing is changed (a file ' +
      'in the bucket is written, read and removed), unless --accept-clock says that the clock is ' +
      'right: one that is more than a day ahead of the store is believed only after a day of ' +
      'running; until then, nothing expires.',
    'It accepts every setting of falconry serve as well.',
  ],
  options: [flag('accept-clock', 'believe a clock that is far ahead of the store')],
  settings: DOCTOR_SETTINGS,
  listed: ['url'],
  examples: ['falconry doctor', 'falconry doctor --data . --json'],
  exits: ['invalid', 'usage', 'io'],
  execute,
});

async function execute(invocation: Invocation<DoctorSetting>): Promise<void> {
  const { io, given, report } = invocation;
  const accepts = invocation.flag('accept-clock');
  const accepted =
    accepts && (await withStore(invocation, { mayBeNew: false }, (s) => s.tasks.acceptClock()));
  const config = await examineConfig(DOCTOR_SETTINGS, { options: given, env: io.env });
  const findings = await examine(config, thisHost(), io.env);
  const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length;
  const faults = count('fault');
  const warnings = count('warning');
  const explained = DOCTOR_SETTINGS.map((name) => explain(name, config));
  const colour = io.stdout.isTTY === true && hasColour(io.env);
  report(
    {
      ok: faults === 0,
      ...(accepts && { accepted }),
      file: config.file,
      config: explained,
      findings,
      faults,
      warnings,
    },
    `${accepts ? `The clock was ${accepted ? '' : 'not '}suspect, and is believed.\n\n` : ''}` +
      `${configText(explained, config.file)}\n${findingsText(findings, colour)}\n` +
      `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}\n`,
  );
}

/** Returns every finding, in the order in which a start would meet them. */
export async function examine(
  config: ConfigReading<DoctorSetting>,
  host: Host,
  env: Invocation['io']['env'],
): Promise<Finding[]> {
  const machine = { host, manifest: await readManifest() };
  const { file, faults, warnings } = config;
  const ofConfig = [
    ...faults.map(({ message }) => fault('config', message, 'correct it, or leave it out')),
    ...warnings.map((message) => warning('environment', message)),
  ];
  let ofService: Finding[];
  try {
    const settings = resolveService(serviceOptions(config));
    ofService = await runChecks(SERVE_CHECKS, { ...config, settings, env });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    ofService = [fault('config', error.message)];
  }
  const isUnfit = ofService.some(({ check, level }) => check === 'config' && level === 'fault');
  if (!isUnfit && faults.length === 0) {
    ofConfig.push(ok('config', file === null ? 'no configuration file' : `${file} is valid`));
  }
  return [
    ...(await runChecks(MACHINE_CHECKS, machine)),
    ...ofConfig,
    ...ofService,
    ...(await checkRemote(config, machine, env)),
  ];
}

/** A setting and the origin of its value, without the value of a secret. Units are ms and bytes. */
function explain(name: DoctorSetting, config: ConfigReading<DoctorSetting>) {
  const row = ALL_SETTINGS[name]!;
  const { source, at, secretFile } = config.origins[name];
  const found = config.values[name];
  const hidden = row.type === 'secret' && found !== undefined;
  const text = hidden ? '(hidden)' : showValue(row, found) || (row.fallbackText ?? null);
  const where = secretFile === undefined ? at : `${at} → ${secretFile}`;
  return { name, value: hidden ? null : (found ?? null), text, source, at: where };
}

function configText(explained: ReturnType<typeof explain>[], file: string | null): string {
  const lines = explained
    .filter(({ source }) => source !== 'default')
    .map(({ name, text, at }) => `  ${name.padEnd(20)} ${(text ?? '-').padEnd(34)} ${at}\n`);
  const from = file === null ? 'no configuration file' : `file ${file}`;
  return `Configuration (${from})\n${lines.join('') || '  all defaults\n'}`;
}

const MARKS = { ok: 32, warning: 33, fault: 31 } as const;

function findingsText(findings: readonly Finding[], colour: boolean): string {
  const lines = findings.map(({ level, check, message, advice }) => {
    const mark = level.padEnd(8);
    const shown = colour ? `\x1b[${MARKS[level]}m${mark}\x1b[0m` : mark;
    const more = advice === undefined ? '' : `\n${' '.repeat(24)}${advice}`;
    return `  ${shown} ${check.padEnd(12)} ${message}${more}\n`;
  });
  return `Checks\n${lines.join('')}`;
}
