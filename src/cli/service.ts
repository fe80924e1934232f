/** What the commands that speak to a service share: the client of their settings, and its failures as theirs. */
import { type Client, createClient, isClientError, type TaskRecord } from '../client/index.ts';
import { ServiceFailure, UsageError } from './command.ts';
import { describeInvalid, type Invocation } from './define.ts';
import { EXIT } from './exitCodes.ts';
import type { ProgressState } from './progress.ts';

/** The settings of every command that speaks to a service. */
export const SERVICE_SETTINGS = ['url', 'apiKey', 'serviceName', 'retries'] as const;
/** One of them. */
export type ServiceSetting = (typeof SERVICE_SETTINGS)[number];

/** Those settings in a help text. */
export const SERVICE_HELP = `      --url <url>     (FALCONRY_URL, "url"; http://127.0.0.1:8787) address of the service
      --api-key-file <file>
                      (FALCONRY_API_KEY, FALCONRY_API_KEY_FILE, "apiKeyFile") where the API key is
      --service-name <name>
                      (FALCONRY_SERVICE_NAME, "serviceName"; svc) the service's segment in every path
      --retries <n>   (FALCONRY_RETRIES, "retries"; 5) how often a request is tried again
      --config <file> (FALCONRY_CONFIG; falconry.json, if there is one) configuration file`;

/** A service, and the client that speaks to it. */
export interface Service {
  readonly client: Client;
  /** Address and service name: two tasks with one id are the same only where this is. */
  readonly name: string;
}

/** @throws UsageError without an API key, or for settings that are wrong */
export async function openService(invocation: Invocation<ServiceSetting>): Promise<Service> {
  const { values } = await invocation.config();
  const { url, apiKey, serviceName, retries } = values;
  if (apiKey === undefined) {
    throw new UsageError('no API key: set FALCONRY_API_KEY, or give --api-key-file');
  }
  let client: Client;
  try {
    client = createClient({ baseUrl: url, apiKey, serviceName, retries: { times: retries } });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  return { client, name: `${client.baseUrl} ${serviceName}` };
}

/**
 * Runs what speaks to the service; its refusals and silence end the command with code 4, a task or a result
 * that is not what it should be with code 1.
 *
 * @param hint what to do when the service was out of reach
 */
export async function withService(
  invocation: Invocation<ServiceSetting>,
  work: (service: Service) => Promise<number>,
  hint = '',
): Promise<number> {
  const service = await openService(invocation);
  try {
    return await work(service);
  } catch (error) {
    if (!isClientError(error)) throw error;
    const { kind, code, message, status, problem, record, invalid } = error;
    const shown = invalid.map(({ index, reason }) => ({ index, reason: printable(reason) }));
    if (kind === 'task' || kind === 'result') {
      const { json, io, report } = invocation;
      const process_id = record?.process_id;
      if (json)
        report({ ok: false, code, message, process_id, status: record?.status, invalid }, '');
      else io.stderr.write(`falconry: ${printable(message)}\n${describeInvalid(shown)}`);
      return EXIT.invalid;
    }
    const details = { facts: { status, problem }, cause: error };
    if (kind === 'network') {
      const words = `${service.client.baseUrl} cannot be reached: ${message}`;
      throw new ServiceFailure('UNREACHABLE', hint === '' ? words : `${words}\n${hint}`, details);
    }
    const faults = error.errors.map(
      ({ path, message: fault }) => `\n  ${printable(`${path || '/'} ${fault}`)}`,
    );
    throw new ServiceFailure(code, message + faults.join(''), details);
  }
}

/** Phases of a task, and status texts where no phase is told yet, as the bar names them. */
const PHASES: Readonly<Record<string, string>> = {
  read: 'reading',
  verify: 'verifying',
  'falcon signature verify': 'verifying',
  aggregate: 'aggregating',
  'falcon signature aggregation': 'aggregating',
  store: 'storing',
};

/** Text of a server, for a terminal: one line, and nothing that a terminal obeys. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

/** A record as the progress bar shows it. */
export function progressOf({ status, progress }: TaskRecord): ProgressState {
  const { phase, done, total } = progress ?? { phase: status, done: 0, total: 0 };
  const name = phase.startsWith('wait') ? 'waiting' : (PHASES[phase] ?? printable(phase));
  return { phase: name, done, total };
}
