/** `falconry top`: a server at work, in the terminal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, ServiceFailure } from './command.ts';
import { defineCommand, FLAG, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { hasColour } from './progress.ts';
import { openScreen, type Screen } from './screen.ts';
import type { ServerStatus } from './serverStatus.ts';
import { printable } from './service.ts';
import { settingLines } from './settings.ts';
import { linesOf, readStatus, type View, viewOf } from './topView.ts';

const SETTINGS = ['metricsUrl', 'interval'] as const;

const help = `Usage: falconry top [options]

Shows a server at work: its queue, tasks by state, rates, latencies and memory, from the metrics
port of falconry serve --metrics-port. Rates and latencies are those between two looks, or since
the start of the server at the first one. Ctrl-C ends it. If standard output is not a terminal,
every look is printed.

Options
      --once            look once, print it, and end
${settingLines(SETTINGS)}
      --json            print each look as one line of JSON
  -q, --quiet           print nothing
  -h, --help            this text

Examples
  falconry top --once
  falconry top --once --json

More
  falconry top
  falconry top --metrics-url http://10.0.0.7:9464 --interval 10s

${exitHelp('usage', 'io', 'service')}`;

/** The `top` command. */
export const command: Command = defineCommand({
  name: 'top',
  summary: 'show a server at work, in the terminal',
  help,
  mostArguments: 0,
  options: { once: FLAG },
  settings: SETTINGS,
  execute,
});

type Call = Invocation<(typeof SETTINGS)[number]>;

/** A server that does not answer at all is given up. */
const PATIENCE_MS = 5000;

async function execute(invocation: Call): Promise<number> {
  const { io, flag, json, report } = invocation;
  const { metricsUrl, interval } = (await invocation.config()).values;
  const colour = io.stdout.isTTY === true && hasColour(io.env);
  const print = (view: View) => {
    const { at, rates, latencies } = view;
    report({ ok: true, ...at, rates, latencies }, `${linesOf(view, colour).join('\n')}\n`);
  };
  // The first look must succeed: the address may be wrong.
  let before = await look(metricsUrl);
  const first = viewOf(before, null);
  if (flag('once')) {
    print(first);
    return EXIT.ok;
  }
  if (json || invocation.quiet || io.stdout.isTTY !== true || io.env.TERM === 'dumb') {
    for (let view = first; ; ) {
      print(view);
      if (!json) report({}, '\n');
      await sleep(interval);
      const now = await look(metricsUrl);
      view = viewOf(now, before);
      before = now;
    }
  }
  const screen = openScreen(io);
  const end = new AbortController();
  const watching = watch(screen, { metricsUrl, interval, colour, before, signal: end.signal });
  try {
    await Promise.race([screen.ended, watching]);
  } finally {
    screen.close();
    end.abort();
    await watching.catch(() => {});
  }
  return EXIT.ok;
}

interface Watching {
  readonly metricsUrl: string;
  readonly interval: number;
  readonly colour: boolean;
  /** The first look. */
  readonly before: ServerStatus;
  readonly signal: AbortSignal;
}

/** Draws look after look until the signal is aborted; a server that is away may come back. */
async function watch(screen: Screen, watching: Watching): Promise<never> {
  const { metricsUrl, interval, colour, signal } = watching;
  let { before } = watching;
  let view = viewOf(before, null);
  let fault = '';
  for (;;) {
    screen.draw([`falconry top  ${metricsUrl}`, '', ...linesOf(view, colour), '', fault]);
    await sleep(interval, undefined, { signal });
    try {
      const now = await look(metricsUrl, signal);
      view = viewOf(now, before);
      before = now;
      fault = '';
    } catch (error) {
      if (!(error instanceof ServiceFailure)) throw error;
      fault = error.message;
    }
  }
}

/** @throws ServiceFailure if there is no such server */
async function look(metricsUrl: string, end?: AbortSignal): Promise<ServerStatus> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const signal = end === undefined ? patience : AbortSignal.any([patience, end]);
  try {
    const response = await fetch(`${metricsUrl}/status`, { signal });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return readStatus(await response.text());
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    const words = `${metricsUrl} has no metrics to show: ${printable(reason)}`;
    throw new ServiceFailure('UNREACHABLE', words, { cause: error });
  }
}
