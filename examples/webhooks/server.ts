/** The service below /falcon, which reports tasks that have ended to a webhook. */
import { serve } from '@hono/node-server';
import { falconService } from 'falconry/middleware';
import { Hono } from 'hono';
import { deliver } from './webhook.ts';

const url = process.env.WEBHOOK_URL ?? '';
const secret = process.env.WEBHOOK_SECRET ?? '';
if (!URL.canParse(url)) throw new Error('WEBHOOK_URL must be the address of the receiver');

const service = falconService({
  dataDirectory: '.falconry',
  onEvent(event) {
    if (event.type !== 'task') return;
    const { taskId, clientId, state } = event;
    if (state !== 'completed' && state !== 'failed') return;
    const message = {
      id: `task-${taskId}-${state}`,
      type: `task.${state}`,
      data: { process_id: taskId, client_id: clientId, status: state },
    };
    void deliver(url, secret, message).then((delivered) => {
      console.log(`${message.id}: ${delivered ? 'delivered' : 'not delivered'}`);
    });
  },
});
await service.start();

const app = new Hono();
app.route('/falcon', service.app);

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`http://localhost:${port}/falcon`);
});
process.once('SIGTERM', async () => {
  await service.stop();
  server.close();
});
