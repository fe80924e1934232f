/**
 * The whole terminal for a command that redraws it. However the command ends, and whenever it is
 * put aside (Ctrl-Z), the terminal is as it was before: its text, its cursor.
 */
import type { Io } from './command.ts';
import { cut } from './progress.ts';

// The other screen, no cursor; and back.
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';

export interface Screen {
  /** Shows these lines, as far as there is room; again after a change of the terminal's size. */
  draw(lines: readonly string[]): void;
  /** Resolves at Ctrl-C, or when the terminal is gone, with the signal. */
  readonly ended: Promise<NodeJS.Signals>;
  /** Gives the terminal back; a second call does nothing. */
  close(): void;
}

const ENDS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Takes the terminal. */
export function openScreen({ stdout }: Pick<Io, 'stdout'>): Screen {
  let shown: readonly string[] = [];
  let open = false;
  let end = (_signal: NodeJS.Signals) => {};
  const ended = new Promise<NodeJS.Signals>((resolve) => {
    end = resolve;
  });

  const redraw = () => {
    const width = (stdout.columns || 80) - 1;
    const height = Math.max(1, (stdout.rows || 24) - 1);
    const lines = shown.slice(0, height).map((line) => `${cut(line, width)}\x1b[K`);
    stdout.write(`\x1b[H${lines.join('\r\n')}\x1b[J`);
  };
  const enter = () => {
    open = true;
    stdout.write(ENTER);
    redraw();
  };
  const leave = () => {
    if (open) stdout.write(LEAVE);
    open = false;
  };
  const suspend = () => {
    leave();
    process.kill(process.pid, 'SIGSTOP');
  };

  for (const signal of ENDS) process.on(signal, end);
  process.on('SIGTSTP', suspend);
  process.on('SIGCONT', enter);
  process.on('exit', leave);
  stdout.on?.('resize', redraw);
  enter();
  return {
    ended,
    draw(lines) {
      shown = lines;
      if (open) redraw();
    },
    close() {
      leave();
      for (const signal of ENDS) process.off(signal, end);
      process.off('SIGTSTP', suspend);
      process.off('SIGCONT', enter);
      process.off('exit', leave);
      stdout.off?.('resize', redraw);
    },
  };
}
