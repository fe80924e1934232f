/** Shared by the commands that call a service: their settings, the client, its failures. */
import {
  type Client,
  type ClientError,
  createClient,
  isClientError,
  type TaskRecord,
} from '../../client/index.ts';
import { stateOfText } from '../../wire/taskStates.ts';
import { ServiceFailure, UsageError } from '../lib/command.ts';
import { describeInvalid, type Invocation } from '../lib/define.ts';
import type { ProgressState } from '../lib/progress.ts';
import { printable, proxyAdvice } from '../lib/text.ts';

export const SERVICE_SETTINGS = ['url', 'apiKey', 'serviceName', 'retries'] as const;

export type ServiceCall = Invocation<(typeof SERVICE_SETTINGS)[number]>;

export interface Service {
  readonly client: Client;
  /** Address and service name: equal ids mean the same task only under the same name. */
  readonly name: string;
}

/** @throws UsageError without an API key, or for wrong settings */
async function openService(invocation: ServiceCall): Promise<Service> {
  const { url, apiKey, serviceName, retries } = (await invocation.config()).values;
  if (apiKey === undefined) {
    throw new UsageError('no API key: set FALCONRY_API_KEY, or give --api-key-file');
  }
  try {
    const times = { times: retries };
    const client = createClient({ baseUrl: url, apiKey, serviceName, retries: times });
    return { client, name: `${client.baseUrl} ${serviceName}` };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/**
 * Runs the work. The command ends with code 4 if the service refuses or cannot be reached, and with
 * code 1 if a task failed or a result is wrong.
 *
 * @param advice what to do when the service cannot be reached
 */
export async function withService(
  invocation: ServiceCall,
  work: (service: Service) => Promise<void>,
  advice = '',
): Promise<void> {
  const service = await openService(invocation);
  try {
    await work(service);
  } catch (error) {
    if (!isClientError(error)) throw error;
    const { kind, code, message, record, invalid } = error;
    if (kind !== 'task' && kind !== 'result') {
      throw failure(error, service, [advice, proxyAdvice(invocation.io.env)]);
    }
    const facts = { process_id: record?.process_id, status: record?.status, invalid };
    const shown = invalid.map(({ index, reason }) => ({ index, reason: printable(reason) }));
    invocation.fail(
      { ok: false, code, message, ...facts },
      `${printable(message)}\n${describeInvalid(shown)}`,
    );
  }
}

function failure(
  error: ClientError,
  { client }: Service,
  advice: readonly string[],
): ServiceFailure {
  const { kind, code, message, status, problem, errors } = error;
  if (kind === 'network') {
    const words = [`${client.baseUrl} cannot be reached: ${message}`, ...advice].filter(Boolean);
    return new ServiceFailure('UNREACHABLE', words.join('\n'), { status, problem }, error);
  }
  const lines = errors.map((fault) => printable(`  ${fault.path || '/'} ${fault.message}`));
  return new ServiceFailure(code, [message, ...lines].join('\n'), { status, problem }, error);
}

/** The phases of a task as the progress bar names them. */
const PHASES: Readonly<Record<string, string>> = {
  read: 'reading',
  verify: 'verifying',
  aggregate: 'aggregating',
  store: 'storing',
  parts: 'aggregating parts',
};

export function progressOf({ status, progress }: TaskRecord): ProgressState {
  if (progress) {
    const { phase, done, total } = progress;
    return { phase: PHASES[phase] ?? printable(phase), done, total };
  }
  const phase = status.startsWith('wait') ? 'waiting' : (stateOfText(status) ?? printable(status));
  return { phase, done: 0, total: 0 };
}
