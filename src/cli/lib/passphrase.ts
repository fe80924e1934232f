/**
 * Reads passphrases from a file, the environment, or the terminal without echo. They are never the
 * value of an option, which every process on the machine can read.
 */
import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { CodedError } from '../../shared/errors.ts';
import { type Io, UsageError, valued } from './command.ts';
import { readInput } from './io.ts';

export const PASSPHRASE = valued(
  'passphrase-file',
  'file',
  'the passphrase of an encrypted key, without its last line end; otherwise that of ' +
    '$FALCONRY_PASSPHRASE, or the terminal asks for it',
  { isInput: true },
);

export const NEW_PASSPHRASE = {
  ...PASSPHRASE,
  about:
    'encrypt it under the passphrase in this file, without its last line end; with --encrypt ' +
    'otherwise under $FALCONRY_PASSPHRASE, or the terminal asks for one',
};

/** `first`: the key has no passphrase yet; `new`: it replaces the one that the key may have. */
type Which = 'old' | 'first' | 'new';

/**
 * Returns bytes that the caller clears.
 *
 * @throws CodedError `PASSPHRASE_NEEDED` if there is none; UsageError if it is empty
 */
export async function readPassphrase(
  io: Io,
  file: string | undefined,
  which: Which = 'old',
): Promise<Uint8Array> {
  const passphrase = await find(io, file, which);
  if (passphrase.length === 0) throw new UsageError('the passphrase is empty');
  return passphrase;
}

async function find(io: Io, file: string | undefined, which: Which): Promise<Uint8Array> {
  const isNew = which === 'new';
  const env = isNew ? 'FALCONRY_NEW_PASSPHRASE' : 'FALCONRY_PASSPHRASE';
  if (file !== undefined) return withoutLineEnd(await readInput(file, io));
  const given = io.env[env];
  if (given) return new TextEncoder().encode(given);
  const terminal = io.stderr.isTTY === true ? openTerminal() : undefined;
  if (terminal === undefined) {
    const option = isNew ? '--new-passphrase-file' : '--passphrase-file';
    const message = `a passphrase is needed: use ${option} or ${env}`;
    throw new CodedError('PASSPHRASE_NEEDED', { message });
  }
  try {
    const first = await ask(terminal, io, isNew ? 'New passphrase: ' : 'Passphrase: ');
    if (which === 'old') return first;
    const second = await ask(terminal, io, 'The same again: ');
    const isSame = Buffer.compare(first, second) === 0;
    second.fill(0);
    if (isSame) return first;
    first.fill(0);
    throw new UsageError('the two passphrases differ');
  } finally {
    terminal.destroy();
  }
}

function withoutLineEnd(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  return bytes.subarray(0, end);
}

/** The terminal of the process, also where standard input is a pipe. */
function openTerminal(): ReadStream | undefined {
  try {
    const path = process.platform === 'win32' ? '\\\\.\\CONIN$' : '/dev/tty';
    return new ReadStream(openSync(path, 'r+'));
  } catch {
    return undefined;
  }
}

const KEY = { interrupt: 0x03, end: 0x04, backspace: 0x08, clear: 0x15, delete: 0x7f } as const;

/** Reads a line from the terminal without echo. Ctrl-C still ends the process. */
function ask(terminal: ReadStream, io: Io, question: string): Promise<Uint8Array> {
  // First the mode, then the question: early typing must not be shown either.
  terminal.setRawMode(true);
  io.stderr.write(question);
  const typed: number[] = [];
  return new Promise((resolve) => {
    const finish = () => {
      terminal.off('data', onData);
      terminal.pause();
      terminal.setRawMode(false);
      io.stderr.write('\n');
    };
    const onData = (chunk: Buffer) => {
      for (const byte of chunk) {
        const done = byte === 0x0a || byte === 0x0d || byte === KEY.end;
        if (!done && byte !== KEY.interrupt) {
          edit(typed, byte);
          continue;
        }
        finish();
        chunk.fill(0);
        const bytes = Uint8Array.from(typed);
        typed.fill(0);
        if (done) resolve(bytes);
        else process.kill(process.pid, 'SIGINT');
        return;
      }
      chunk.fill(0);
    };
    terminal.on('data', onData);
    terminal.resume();
  });
}

/** Backspace removes one character of UTF-8, Ctrl-U the line; other control keys do nothing. */
function edit(typed: number[], byte: number): void {
  if (byte === KEY.clear) typed.length = 0;
  else if (byte === KEY.backspace || byte === KEY.delete) {
    while (((typed.pop() ?? 0) & 0xc0) === 0x80);
  } else if (byte >= 0x20) typed.push(byte);
}
