/** What the demo shows: a bar on a terminal, plain lines elsewhere, and a table at the end. */

const BAR_WIDTH = 30;
const { stdout } = process;

/** Progress of one step; `done` prints its last line. */
export interface Progress {
  update(done: number, total: number, note?: string): void;
  done(note: string): void;
}

/** Elsewhere than on a terminal a line is printed at every quarter, and when the note changes. */
export function progress(label: string): Progress {
  const name = label.padEnd(22);
  let shown = '';
  const draw = (line: string) => stdout.write(`\r\x1b[2K${line}`);
  return {
    update(done, total, note = '') {
      const share = total > 0 ? Math.min(1, done / total) : 0;
      if (stdout.isTTY) {
        const filled = Math.round(share * BAR_WIDTH);
        const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
        draw(`  ${name} ${bar} ${String(Math.round(share * 100)).padStart(3)} %  ${note}`);
        return;
      }
      const line = `${note} ${Math.floor(share * 4)}`;
      if (line === shown || done === 0) return;
      shown = line;
      stdout.write(`  ${name} ${done} of ${total}${note && `, ${note}`}\n`);
    },
    done(note) {
      if (stdout.isTTY) stdout.write('\r\x1b[2K');
      stdout.write(`  ${name} ${note}\n`);
    },
  };
}

/** Rows in columns, the first one left, the others right. */
export function table(title: string, rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!),
      )
      .join('  '),
  );
  const rule = '─'.repeat(Math.max(...lines.map((line) => line.length)));
  return [title, rule, ...lines, rule].map((line) => `  ${line}\n`).join('');
}

export const bytes = (count: number) => `${count.toLocaleString('en')} B`;

export function time(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 2 : 0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
