/** Shared by the commands that call a service: their settings, the client, its failures. */
import { type Client, createClient, isClientError, type TaskRecord } from '../../client/index.ts';
import { stateOfText } from '../../wire/taskStates.ts';
import { EXIT, ServiceFailure, UsageError } from '../lib/command.ts';
import { describeInvalid, type Invocation } from '../lib/define.ts';
import type { ProgressState } from '../lib/progress.ts';
import { printable } from '../lib/text.ts';

/** The settings of every command that calls a service. */
export const SERVICE_SETTINGS = ['url', 'apiKey', 'serviceName', 'retries'] as const;
/** One of them. */
type ServiceSetting = (typeof SERVICE_SETTINGS)[number];

/** A call of such a command. */
export type ServiceCall = Invocation<ServiceSetting>;

/** A service, and the client that calls it. */
export interface Service {
  readonly client: Client;
  /** Address and service name: equal ids mean the same task only under the same name. */
  readonly name: string;
}

/** @throws UsageError without an API key, or for settings that are wrong */
async function openService(invocation: ServiceCall): Promise<Service> {
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
 * Runs the work. The command ends with code 4 if the service refuses or cannot be reached, and with
 * code 1 if a task failed or a result is wrong.
 *
 * @param hint what to do when the service cannot be reached
 */
export async function withService(
  invocation: ServiceCall,
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

/** Names in the progress bar of the phases of a task. */
const PHASES: Readonly<Record<string, string>> = {
  read: 'reading',
  verify: 'verifying',
  aggregate: 'aggregating',
  store: 'storing',
};

/** A record as the progress bar shows it. */
export function progressOf({ status, progress }: TaskRecord): ProgressState {
  if (progress) {
    const { phase, done, total } = progress;
    return { phase: PHASES[phase] ?? printable(phase), done, total };
  }
  const phase = status.startsWith('wait') ? 'waiting' : (stateOfText(status) ?? printable(status));
  return { phase, done: 0, total: 0 };
}
