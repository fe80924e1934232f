/** The users and their tenants; yours come from a database. */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

interface User {
  readonly tenant: string;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

const KEY_BYTES = 32;

function newUser(tenant: string, password: string): User {
  const salt = randomBytes(16);
  return { tenant, salt, hash: scryptSync(password, salt, KEY_BYTES) };
}

const users = new Map([
  ['ada', newUser('acme', 'correct horse')],
  ['alan', newUser('acme', 'enigma variations')],
  ['bob', newUser('globex', 'battery staple')],
]);
const nobody = newUser('', randomBytes(16).toString('hex'));

/** Returns the user's tenant, or null for a wrong name or password, in the same time. */
export function tenantOf(name: unknown, password: unknown): string | null {
  const user = users.get(String(name)) ?? nobody;
  const hash = scryptSync(String(password), user.salt, KEY_BYTES);
  return timingSafeEqual(hash, user.hash) && user !== nobody ? user.tenant : null;
}
