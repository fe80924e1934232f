/** `falconry doctor`: looks at this machine, the configuration and the service it names. */
import { type Command, UsageError } from './command.ts';
import { examineConfig } from './config.ts';
import { defineCommand, type Invocation } from './define.ts';
import { DOCTOR_SETTINGS, type DoctorSetting, findAilments, thisHost } from './doctorChecks.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import type { Finding } from './finding.ts';
import { hasColour } from './progress.ts';
import { findingsText, plural } from './serveCheck.ts';
import { settingLines } from './settings.ts';

const help = `Usage: falconry doctor [--data <directory>] [--url <url>] [options]

Looks for what could keep falconry from working here: the version of Node, WebAssembly, threads,
memory, the clock, the packages that only some features need, the configuration file; the data
directory, if one is given; the service, if its address is. Each finding is ok, a warning or a
fault, with how to mend it. Nothing is changed, no secret is read or printed, and no machine is
called but that of --url. (falconry serve --check looks at the settings of a service.)

${settingLines(DOCTOR_SETTINGS)}
      --json          the findings as one line of JSON
  -q, --quiet         print nothing: the exit code says whether there is a fault
  -h, --help          this text

Examples
  falconry doctor
  falconry doctor --data . --json

${exitHelp('invalid', 'usage')}`;

/** The `doctor` command. */
export const command: Command = defineCommand({
  name: 'doctor',
  summary: 'look for what could keep falconry from working here',
  help,
  settings: DOCTOR_SETTINGS,
  execute,
});

async function execute(invocation: Invocation<DoctorSetting>): Promise<number> {
  const { io, given, positionals, report } = invocation;
  if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
  const config = await examineConfig(DOCTOR_SETTINGS, { options: given, env: io.env });
  const findings = await findAilments(config, thisHost());
  const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length;
  const faults = count('fault');
  const warnings = count('warning');
  const colour = io.stdout.isTTY === true && hasColour(io.env);
  report(
    { ok: faults === 0, file: config.file, findings, faults, warnings },
    `${findingsText(findings, colour)}\n${plural(faults, 'fault')}, ` +
      `${plural(warnings, 'warning')}\n`,
  );
  return faults === 0 ? EXIT.ok : EXIT.invalid;
}
