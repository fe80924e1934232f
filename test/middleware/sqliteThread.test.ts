/** The store on a thread of its own keeps every promise of the port. */
import { openThreads } from './openSqlite.ts';
import { storeContract } from './storeContract.ts';

storeContract('SQLite on a thread', openThreads);
