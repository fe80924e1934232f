/**
 * Debian's Firefox, driven over WebDriver BiDi: the handful of commands that opening a page, asking
 * it and pressing its keys takes.
 */
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '../support/startProgram.ts';

const PROGRAM = '/usr/bin/firefox-esr';

/** Where it is; undefined, with a notice, where there is none. */
export function findFirefox(): string | undefined {
  try {
    accessSync(PROGRAM, constants.X_OK);
    return PROGRAM;
  } catch {
    console.log(
      'NOTICE: no Firefox on this machine (Debian: apt-get install firefox-esr); its tests are skipped.',
    );
    return undefined;
  }
}

export interface Firefox {
  readonly version: string;
  /** Opens a page. @returns the report that its script puts into `globalThis.report` */
  report<T>(url: string): Promise<T>;
  /** Opens a page that stays. */
  open(url: string): Promise<FirefoxPage>;
  close(): Promise<void>;
}

/** A page of Firefox, used by its keyboard. */
export interface FirefoxPage {
  /** Opens another address in it. */
  go(url: string): Promise<void>;
  /** @returns what the expression comes to there, a string */
  ask(expression: string): Promise<string>;
  /** Presses and releases keys one after the other; names of `KEYS`, `Shift+Tab`, characters. */
  press(...keys: readonly string[]): Promise<void>;
}

/** The script may come after the page's load event, as where a bundler loads it in parts. */
export const REPORT = `(async () => {
  while (globalThis.report === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  return JSON.stringify(await globalThis.report);
})()`;

/** Keys without a character, as WebDriver has them. */
const KEYS: Readonly<Record<string, string>> = {
  Tab: '\uE004',
  Enter: '\uE006',
  Escape: '\uE00C',
  Shift: '\uE008',
  Control: '\uE009',
  ArrowLeft: '\uE012',
  ArrowRight: '\uE014',
  Space: ' ',
};

interface Answer {
  readonly id?: number;
  readonly type: string;
  readonly message?: string;
  readonly result?: unknown;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The commands of one session, each with its answer. */
class Session {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)) as Answer);
    socket.onclose = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('Firefox closed'));
    };
  }

  static async open(url: string): Promise<Session> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error(`no connection to ${url}`));
    });
    return new Session(socket);
  }

  #receive({ id, type, message, result }: Answer): void {
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return; // an event
    this.#waiting.delete(id);
    if (type === 'success') waiting.resolve(result);
    else waiting.reject(new Error(message));
  }

  send<T>(method: string, params: object = {}): Promise<T> {
    this.#last += 1;
    this.#socket.send(JSON.stringify({ id: this.#last, method, params }));
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(this.#last, { resolve, reject });
    }) as Promise<T>;
  }

  close(): void {
    this.#socket.close();
  }
}

/** Starts it without a window, on a profile of its own. */
export async function openFirefox(program: string): Promise<Firefox> {
  const profile = mkdtempSync(join(tmpdir(), 'falconry-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const { found, end } = await startProgram(program, args, {
    env: { ...process.env, MOZ_CRASHREPORTER_DISABLE: '1' },
    ready: /WebDriver BiDi listening on (ws:\/\/\S+)/,
  });
  const session = await Session.open(`${found[1]}/session`);
  const { capabilities } = await session.send<{ capabilities: { browserVersion: string } }>(
    'session.new',
    { capabilities: {} },
  );
  return {
    version: capabilities.browserVersion,
    async report(url) {
      const context = await openTab(session, url);
      const answer = await askTab(session, context, REPORT);
      await session.send('browsingContext.close', { context });
      return JSON.parse(answer);
    },
    async open(url) {
      const context = await openTab(session, url);
      await session.send('browsingContext.activate', { context });
      return {
        go: (to) => navigate(session, context, to),
        ask: (expression) => askTab(session, context, expression),
        press: (...keys) => pressIn(session, context, keys),
      };
    },
    async close() {
      session.close();
      await end('SIGTERM');
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function openTab(session: Session, url: string): Promise<string> {
  const { context } = await session.send<{ context: string }>('browsingContext.create', {
    type: 'tab',
  });
  await navigate(session, context, url);
  return context;
}

async function navigate(session: Session, context: string, url: string): Promise<void> {
  await session.send('browsingContext.navigate', { context, url, wait: 'complete' });
}

async function askTab(session: Session, context: string, expression: string): Promise<string> {
  const { type, result, exceptionDetails } = await session.send<{
    type: string;
    result?: { value: string };
    exceptionDetails?: { text: string };
  }>('script.evaluate', { expression, target: { context }, awaitPromise: true });
  if (type !== 'success') throw new Error(exceptionDetails?.text ?? type);
  return result!.value;
}

async function pressIn(session: Session, context: string, keys: readonly string[]): Promise<void> {
  const actions = keys.flatMap((key) => {
    const held = key.length > 1 ? key.split('+') : [key];
    const values = held.map((each) => KEYS[each] ?? each);
    return [
      ...values.map((value) => ({ type: 'keyDown', value })),
      ...values.toReversed().map((value) => ({ type: 'keyUp', value })),
    ];
  });
  const source = { type: 'key', id: 'keyboard', actions };
  await session.send('input.performActions', { context, actions: [source] });
}
