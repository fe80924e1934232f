/**
 * An Express server whose users log in with sessions. Each user belongs to a tenant, and each
 * tenant is a client of the service. There are no API keys.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express from 'express';
import session, { MemoryStore } from 'express-session';
import { falconService, toNodeHandler } from 'falconry/middleware';
import { tenantOf } from './users.ts';

declare module 'express-session' {
  interface SessionData {
    tenant: string;
  }
}

const sessions = new MemoryStore(); // in this process only; yours: a store of express-session
const sessionId = new AsyncLocalStorage<string>();

const tenantOfSession = (id: string) =>
  new Promise<string | undefined>((resolve, reject) => {
    sessions.get(id, (error, data) => (error ? reject(error) : resolve(data?.tenant)));
  });

const service = falconService({
  dataDirectory: '.falconry',
  signing: true, // for testing
  // Looks the session up, so that an event stream ends within a second after a logout.
  async authenticate() {
    const client = await tenantOfSession(sessionId.getStore() ?? '');
    return client === undefined ? null : { client };
  },
});
await service.start();
const falcon = toNodeHandler(service);

const app = express();
app.set('trust proxy', 'loopback'); // a proxy with TLS on this host
app.use(
  session({
    store: sessions,
    secret: process.env.SESSION_SECRET ?? randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    // Strict: other sites must not call the service on behalf of a user.
    cookie: { httpOnly: true, sameSite: 'strict', secure: 'auto', maxAge: 8 * 3_600_000 },
  }),
);
// Before any body parser.
app.use('/falcon', (request, response) => {
  return sessionId.run(request.sessionID, () => falcon(request, response));
});

app.post('/login', express.json(), (request, response, next) => {
  const { name, password } = request.body ?? {};
  const tenant = tenantOf(name, password);
  if (tenant === null) return void response.sendStatus(403);
  // A new id, so that nobody can have chosen it (session fixation).
  request.session.regenerate((error) => {
    if (error) return next(error);
    request.session.tenant = tenant;
    response.json({ tenant });
  });
});
app.post('/logout', (request, response, next) => {
  request.session.destroy((error) => (error ? next(error) : response.sendStatus(204)));
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://localhost:${port}/falcon`);
});
process.once('SIGTERM', async () => {
  await service.stop();
  server.close();
});
