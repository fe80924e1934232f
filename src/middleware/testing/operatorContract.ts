/** What every task store must do for its operator. See `storeContract.ts`. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { isFinal, TASK_STATES } from '../../wire/taskStates.ts';
import type { CompleteStore } from '../stores/port/serviceStore.ts';
import { matches } from './matches.ts';
import { type DeclareTest, HOUR_MS } from './storeWorld.ts';

/** Declares the tests. */
export function operatorContract(test: DeclareTest<Pick<CompleteStore, 'tasks'>>): void {
  test('lists the unfinished tasks of all clients in pages, and those set aside', async (w) => {
    deepStrictEqual(await w.store.unfinished({ limit: 10 }), []);
    const error = { code: 'THREAD_LOST', message: 'm' } as const;
    const aside: number[] = [];
    for (const clientId of [2, 3]) {
      const { id } = await w.addClaimed({ clientId });
      await w.store.setAside(id, 1, error);
      aside.push(id);
    }
    const retried = await w.addClaimed({ clientId: 4 });
    await w.store.fail(retried.id, 1, error, { delayMs: 48 * HOUR_MS });
    const open = [retried.id];
    // What expires takes others along, and what waits would be claimed: first and last.
    const order = TASK_STATES.filter((state) => state !== 'waiting' && state !== 'expired');
    for (const state of ['expired', ...order, 'waiting'] as const) {
      const { id } = await w.addIn(state);
      if (!isFinal(state)) open.push(id);
    }
    const all = [...aside, ...open];
    const ids = async (
      query: Omit<Parameters<typeof w.store.unfinished>[0], 'limit'>,
      limit = 99,
    ) => (await w.other.unfinished({ limit, ...query })).map(({ id }) => id);
    strictEqual(open.length, 6);
    deepStrictEqual(await ids({}), all);
    deepStrictEqual(await ids({ quarantined: true }), aside);
    deepStrictEqual(await ids({ quarantined: false }), all.slice(2));
    deepStrictEqual(await ids({}, 3), all.slice(0, 3));
    deepStrictEqual(await ids({ after: all[2]! }, 3), all.slice(3, 6));
    deepStrictEqual(await ids({ after: aside[0]!, quarantined: true }), [aside[1]]);
    const [first] = await w.other.unfinished({ limit: 1 });
    deepStrictEqual(first, await w.known(aside[0]!));
    matches(first, { quarantined: true, error, clientId: 2 });
    await w.store.putBack(aside[0]!);
    deepStrictEqual(await ids({ quarantined: true }), [aside[1]]);
    deepStrictEqual(await ids({}), all);
  });
}
