/** The log of the server on standard error, one line per message, as text or JSON. */
import type { Logger } from '../../middleware/index.ts';
import type { Io } from '../lib/command.ts';
import { hasColour } from '../lib/progress.ts';
import { LOG_LEVELS } from '../lib/settings.ts';

type LogLevel = (typeof LOG_LEVELS)[number];
type Fields = Readonly<Record<string, unknown>>;

const COLOURS: Readonly<Record<string, number>> = { debug: 2, info: 36, warn: 33, error: 31 };

/** @param format default: text on a terminal, else JSON */
export function createLogger(
  io: Pick<Io, 'stderr' | 'env'>,
  level: LogLevel,
  format: 'text' | 'json' = io.stderr.isTTY ? 'text' : 'json',
): Logger {
  const colour = io.stderr.isTTY === true && hasColour(io.env);
  const line = format === 'json' ? jsonLine : (...parts: Line) => textLine(parts, colour);
  const write =
    (name: LogLevel) =>
    (message: string, fields: Fields = {}) => {
      if (LOG_LEVELS.indexOf(name) < LOG_LEVELS.indexOf(level)) return;
      io.stderr.write(`${line(new Date(), name, message, fields)}\n`);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

type Line = [time: Date, level: LogLevel, message: string, fields: Fields];

function jsonLine(...[time, level, message, fields]: Line): string {
  return JSON.stringify({ time: time.toISOString(), level, message, ...fields });
}

function textLine([time, level, message, fields]: Line, colour: boolean): string {
  const name = level.padEnd(5);
  const shown = colour ? `\x1b[${COLOURS[level]}m${name}\x1b[0m` : name;
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(value)}`);
  return `${time.toISOString()} ${shown} ${message}${rest.join('')}`;
}

/** Keeps a message on one line, whatever a field holds; only stacks are written as they are. */
function fieldText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? String(value);
  if (value.includes('\n')) return `\n    ${value.replaceAll('\n', '\n    ')}`;
  return /^[\w./:+-]+$/.test(value) ? value : JSON.stringify(value);
}
