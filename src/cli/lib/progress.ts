/**
 * Progress on a terminal: one line on standard error, which is redrawn, and cleared at the end.
 *
 *   uploading   ██████████░░░░░░░░░░  52 %  10.2 of 19.6 MB
 */
import { sizeText } from '../../wire/sizes.ts';
import type { Io } from './command.ts';

export interface ProgressState {
  readonly phase: string;
  readonly done: number;
  /** Absent or 0: unknown; a moving mark replaces the bar. */
  readonly total?: number;
  readonly unit?: 'bytes' | 'items';
}

export interface Progress {
  /** May be called at any rate. */
  update(state: ProgressState): void;
  /** Clears the line; a later `update` draws it again. */
  end(): void;
}

const REDRAW_MS = 80;
const IDLE_REDRAW_MS = 200;
const BAR_CELLS = 24;
const MOVING = ['|', '/', '-', '\\'];

/** Writes nothing if standard error is not a terminal, or with `quiet`. */
export function createProgress(
  { stderr, env }: Pick<Io, 'stderr' | 'env'>,
  quiet = false,
): Progress {
  if (quiet || stderr.isTTY !== true || env.TERM === 'dumb') return { update() {}, end() {} };
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const style = { colour: hasColour(env), blocks: /utf-?8/i.test(locale) };
  let drawnMs = -Infinity;
  let turn = 0;
  let startMs = 0;
  let last: ProgressState | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;

  const draw = (state: ProgressState, nowMs: number) => {
    drawnMs = nowMs;
    const line = progressLine(state, { elapsedMs: nowMs - startMs, turn: turn++, ...style });
    stderr.write(`\r\x1b[2K${cut(line, (stderr.columns || 80) - 1)}`);
  };
  /** Keeps the mark moving if there is no update for a while. */
  const keepMoving = () => {
    const nowMs = performance.now();
    if (last && nowMs - drawnMs >= IDLE_REDRAW_MS) draw(last, nowMs);
  };

  return {
    update(state) {
      const nowMs = performance.now();
      const isNew = state.phase !== last?.phase;
      if (isNew) startMs = nowMs;
      last = state;
      timer ??= setInterval(keepMoving, IDLE_REDRAW_MS).unref();
      const isComplete = state.total !== undefined && state.done === state.total;
      if (isNew || isComplete || nowMs - drawnMs >= REDRAW_MS) draw(state, nowMs);
    },
    end() {
      clearInterval(timer);
      if (last !== undefined) stderr.write('\r\x1b[2K');
      timer = last = undefined;
    },
  };
}

/** Colours, unless the user declined them: https://no-color.org */
export function hasColour(env: Io['env']): boolean {
  return (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

/** The state of the drawing, and the abilities of the terminal. */
type Look = Record<'elapsedMs' | 'turn', number> & Record<'colour' | 'blocks', boolean>;

function progressLine(
  { phase, done, total = 0, unit = 'items' }: ProgressState,
  { elapsedMs, turn, colour, blocks }: Look,
): string {
  const [full, empty] = blocks ? ['█', '░'] : ['#', '-'];
  const paint = (code: number, text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
  const name = paint(1, phase.padEnd(11));
  if (total <= 0) {
    const figure = done > 0 ? `  ${amount(done, unit)}` : '';
    return `${name} ${MOVING[turn % MOVING.length]}${figure}  ${seconds(elapsedMs)}`;
  }
  const part = Math.min(1, Math.max(0, done / total));
  const cells = Math.round(part * BAR_CELLS);
  const bar = paint(36, full!.repeat(cells)) + paint(2, empty!.repeat(BAR_CELLS - cells));
  const figures = `${amount(done, unit, total)} of ${amount(total, unit)}`;
  return `${name} ${bar} ${String(Math.floor(100 * part)).padStart(3)} %  ${figures}`;
}

/** `10.2 MB` or `1722`; without the unit if a total follows. */
function amount(value: number, unit: 'bytes' | 'items', total?: number): string {
  if (unit === 'items') return String(value);
  return total === undefined ? sizeText(value) : sizeText(value, total).replace(/ .*/, '');
}

function seconds(ms: number): string {
  const s = Math.round(ms / 1000);
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
}

/** Cuts a line to this many columns, escapes not counted: a wrapped line cannot be redrawn. */
function cut(text: string, columns: number): string {
  let width = 0;
  let out = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape is what is looked for
  for (const part of text.match(/\x1b\[\d*m|./gu) ?? []) {
    if (part.startsWith('\x1b')) out += part;
    else if (width++ < columns) out += part;
  }
  return out;
}
