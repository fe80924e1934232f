/** What every task store must do for its operator. See `storeContract.ts`. */
import { expect, it } from 'vitest';
import { isFinal, TASK_STATES } from '../../src/wire/taskStates.ts';
import { HOUR_MS, type StoreWorld } from './storeWorld.ts';

/** Declares the tests; `w` is the world of the one that runs. */
export function operatorContract(w: StoreWorld): void {
  it('lists the unfinished tasks of all clients, page by page, and those set aside', async () => {
    expect(await w.store.unfinished({ limit: 10 })).toEqual([]);
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
    expect(open.length).toBe(6);
    expect(await ids({})).toEqual(all);
    expect(await ids({ quarantined: true })).toEqual(aside);
    expect(await ids({ quarantined: false })).toEqual(all.slice(2));
    expect(await ids({}, 3)).toEqual(all.slice(0, 3));
    expect(await ids({ after: all[2]! }, 3)).toEqual(all.slice(3, 6));
    expect(await ids({ after: aside[0]!, quarantined: true })).toEqual([aside[1]]);
    const [first] = await w.other.unfinished({ limit: 1 });
    expect(first).toEqual(await w.known(aside[0]!));
    expect(first).toMatchObject({ quarantined: true, error, clientId: 2 });
    await w.store.putBack(aside[0]!);
    expect(await ids({ quarantined: true })).toEqual([aside[1]]);
    expect(await ids({})).toEqual(all);
  });
}
