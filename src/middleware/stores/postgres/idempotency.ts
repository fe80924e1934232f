/** Who holds an Idempotency-Key, and the task that was made under it; `put` keeps its id there. */
import type { AnswerHold, BeginAnswer, TaskStore } from '../port/taskStore.ts';
import { type Database, named } from './database.ts';

type Answers = Pick<TaskStore, 'beginAnswer' | 'extendAnswer' | 'abandonAnswer'>;

interface AnswerRow {
  readonly fingerprint: string;
  readonly task_id: number | null;
  readonly left_ms: number;
}

/** The row of a key that the caller still holds. */
const HELD = 'client_id = $1 AND key = $2 AND token = $3 AND task_id IS NULL';
const heldValues = ({ clientId, key, token }: AnswerHold) => [clientId, key, token];

/** @param get reads the task under a key that was used before */
export function answers(database: Database, get: TaskStore['get']): Answers {
  const sql = statements(database.schema);

  return {
    async beginAnswer(clientId, key, fingerprint, holdMs): Promise<BeginAnswer> {
      const token = crypto.randomUUID();
      for (;;) {
        const values = [clientId, key, fingerprint, token, holdMs];
        const [taken] = await database.ask(sql.takeAnswer, values);
        if (taken) return { kind: 'held', hold: { clientId, key, token } };
        const [row] = await database.ask<AnswerRow>(sql.lookAtAnswer, [clientId, key]);
        if (row && row.fingerprint !== fingerprint) return { kind: 'mismatch' };
        if (row && row.task_id !== null) {
          return { kind: 'replay', task: await get(row.task_id, clientId) };
        }
        if (row && row.left_ms > 0) return { kind: 'running', retryMs: row.left_ms };
        // It was given back, or has ended, between the two questions.
      }
    },
    async extendAnswer(hold, holdMs) {
      return (await database.ask(sql.extendAnswer, [...heldValues(hold), holdMs])).length > 0;
    },
    async abandonAnswer(hold) {
      await database.ask(sql.abandonAnswer, heldValues(hold));
    },
  };
}

function statements(s: string) {
  return named({
    takeAnswer: `INSERT INTO ${s}.answers AS a
        (client_id, key, fingerprint, token, held_until_ms, created_ms)
      VALUES ($1, $2, $3, $4, ${s}.now_ms() + $5::bigint, ${s}.now_ms())
      ON CONFLICT (client_id, key) DO UPDATE SET token = excluded.token,
        held_until_ms = excluded.held_until_ms, created_ms = excluded.created_ms
      WHERE a.fingerprint = excluded.fingerprint AND a.task_id IS NULL
        AND a.held_until_ms <= ${s}.now_ms()
      RETURNING a.token`,
    lookAtAnswer: `SELECT fingerprint, task_id, held_until_ms - ${s}.now_ms() AS left_ms
      FROM ${s}.answers WHERE client_id = $1 AND key = $2`,
    extendAnswer: `UPDATE ${s}.answers a SET held_until_ms = ${s}.now_ms() + $4::bigint
      WHERE ${HELD} RETURNING a.token`,
    abandonAnswer: `DELETE FROM ${s}.answers WHERE ${HELD}`,
  });
}
