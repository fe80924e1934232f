/** `falconry serve --check`: explains the configuration, and looks for problems. */
import { UsageError } from './command.ts';
import { examineConfig } from './config.ts';
import type { Invocation } from './define.ts';
import { EXIT } from './exitCodes.ts';
import type { Finding } from './finding.ts';
import { hasColour } from './progress.ts';
import { findFaults } from './serveChecks.ts';
import { resolveService, serviceOptions } from './serveConfig.ts';
import { ALL_SETTINGS, SERVE_SETTINGS, type ServeSetting } from './settings.ts';
import { showValue } from './settingText.ts';

/** The explanation of a setting, without the value of a secret. */
interface Explained {
  readonly name: string;
  /** Times in milliseconds, sizes in bytes; null if there is no value. */
  readonly value: unknown;
  /** As it would be written in the configuration. */
  readonly text: string | null;
  readonly source: string;
  readonly at: string;
}

/** @returns 0 without faults, else 1; warnings do not count */
export async function check(invocation: Invocation<ServeSetting>): Promise<number> {
  const { given, io, report } = invocation;
  const config = await examineConfig(SERVE_SETTINGS, { options: given, env: io.env });
  const findings: Finding[] = [
    ...config.faults.map(({ message }): Finding => ({ level: 'fault', check: 'config', message })),
    ...config.warnings.map(
      (message): Finding => ({ level: 'warning', check: 'environment', message }),
    ),
  ];
  let explained: Explained[] = [];
  try {
    const settings = resolveService(serviceOptions(config));
    explained = SERVE_SETTINGS.map((name): Explained => {
      const row = ALL_SETTINGS[name]!;
      const { source, at, secretFile } = config.origins[name];
      const found = config.values[name];
      const hidden = row.type === 'secret' && found !== undefined;
      const shown = hidden ? '(hidden)' : showValue(row, found) || row.fallbackText;
      const where = secretFile === undefined ? at : `${at} → ${secretFile}`;
      const value = hidden ? null : (found ?? null);
      return { name, value, text: shown ?? null, source, at: where };
    });
    findings.push(...(await findFaults(config, settings, io.env)));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    findings.push({ level: 'fault', check: 'config', message: error.message });
  }
  const count = (level: Finding['level']) => findings.filter((f) => f.level === level).length;
  const faults = count('fault');
  const warnings = count('warning');
  const colour = io.stdout.isTTY === true && hasColour(io.env);
  report(
    { ok: faults === 0, file: config.file, config: explained, findings, faults, warnings },
    `${configText(explained, config.file)}\n${findingsText(findings, colour)}\n` +
      `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}\n`,
  );
  return faults === 0 ? EXIT.ok : EXIT.invalid;
}

function configText(explained: readonly Explained[], file: string | null): string {
  const lines = explained.map(({ name, text, source, at }) => {
    const where = source === 'default' ? 'default' : at;
    return `  ${name.padEnd(20)} ${(text ?? '-').padEnd(34)} ${where}\n`;
  });
  const from = file === null ? 'no configuration file' : `file ${file}`;
  return `Configuration (${from})\n${lines.join('')}`;
}

const MARKS = { ok: 32, warning: 33, fault: 31 } as const;

/** Findings as people read them. */
export function findingsText(findings: readonly Finding[], colour: boolean): string {
  const lines = findings.map(({ level, check, message, advice }) => {
    const mark = level.padEnd(8);
    const shown = colour ? `\x1b[${MARKS[level]}m${mark}\x1b[0m` : mark;
    const more = advice === undefined ? '' : `\n${' '.repeat(24)}${advice}`;
    return `  ${shown} ${check.padEnd(12)} ${message}${more}\n`;
  });
  return `Checks\n${lines.join('')}`;
}

/** `1 fault`, `2 faults`. */
export const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
