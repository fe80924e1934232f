/** What the end of a task queues for webhooks. See `webhookStore.ts`. */
import type { Task } from '../port/task.ts';
import { OPERATOR } from '../port/webhookStore.ts';
import type { Table } from './table.ts';

/** Queues the end of a task for those who are to hear of it. Only inside `write`. */
export function queueDeliveries(table: Table, task: Task, nowMs: number): void {
  const { id: taskId, clientId, state, count, submittedAt, error } = task;
  if (state !== 'completed' && state !== 'failed') return;
  for (const owner of [OPERATOR, clientId]) {
    const webhook = table.webhook(owner);
    if (!webhook || webhook.disabledAt !== null) continue;
    table.putDelivery({
      owner,
      taskId,
      clientId,
      state,
      count,
      submittedAt,
      finishedAt: task.finishedAt!,
      errorCode: error?.code ?? null,
      attempt: 0,
      dueMs: nowMs,
    });
  }
}
