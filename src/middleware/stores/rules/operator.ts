/** The verbs of the operator over a table. See `operatorStore.ts`. */
import { isFinal } from '../../../wire/taskStates.ts';
import {
  type CareStore,
  type Disowned,
  ERASE_ROWS,
  type OperatorStore,
} from '../port/operatorStore.ts';
import type { Ledger } from './ledger.ts';
import type { TaskRow } from './table.ts';

export function operator(ledger: Ledger): CareStore & Pick<OperatorStore, 'unfinished'> {
  const { table } = ledger;
  const keysOf = (clientId: number) => table.apiKeys().filter((key) => key.clientId === clientId);
  return {
    unfinished: async (query) => table.unfinished(query).map((row) => ledger.told(row)),
    holdings: async (clientId) => ({
      ...table.holdings(clientId),
      apiKeys: keysOf(clientId).length,
    }),
    disown: (clientId) =>
      ledger.write((): Disowned => {
        const keys = keysOf(clientId);
        for (const { sha256 } of keys) table.deleteApiKey(sha256);
        const rows = table.tasksOf(clientId, 'unfinished', ERASE_ROWS);
        for (const row of rows) ledger.end(row, 'cancelled', { input: row.input });
        const more = rows.length === ERASE_ROWS;
        return { apiKeys: keys.length, cancelled: rows.length, more };
      }),
    ended: async (clientId, limit) =>
      table.tasksOf(clientId, 'final', limit).map((row) => ({ id: row.id, blobs: blobsOf(row) })),
    removeEnded: (clientId, ids) =>
      ledger.write(() => {
        const rows = ids.map((id) => ledger.owned(id, clientId));
        const final = rows.filter((row) => row !== undefined && isFinal(row.state));
        for (const row of final) table.delete(row!.id);
        return final.length;
      }),
    forget: (clientId) =>
      ledger.write(() => {
        const { tasks } = table.holdings(clientId);
        if (tasks > 0 || keysOf(clientId).length > 0) return false;
        table.forgetClient(clientId);
        return true;
      }),
    ageing: async (retentionMs) =>
      table.ageing(ledger.nowMs(), retentionMs === null ? null : ledger.nowMs() - retentionMs),
  };
}

function blobsOf({ input, result }: TaskRow): string[] {
  return [input, result?.blob].flatMap((blob) => (blob ? [blob.key] : []));
}
