import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPostsCollection, newPost } from '../seed.ts';
import type { Row } from './row.ts';

/** Each request creates a record whose event goes to so many webhooks. The bench itself receives them. */
export const createWithWebhooks = (count: number): Row => {
  const collection = `watched_by_${count}`;
  return {
    name: `create-webhooks-${count}`,
    title: `create with ${count} webhooks`,
    isWrite: true,
    isProductOnly: true,
    connections: 32,
    async prepare({ admin }) {
      await admin.call('PATCH', '/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1/32' });
      await createPostsCollection(admin, collection);
      const receiver = createServer((request, response) => {
        request.resume();
        response.writeHead(204).end();
      });
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      const ids: string[] = [];
      for (let made = 0; made < count; made += 1) {
        const definition = { name: `watcher ${made}`, url, events: [`${collection}.create`] };
        ids.push((await admin.call<{ id: string }>('POST', '/api/v1/admin/webhooks', definition)).id);
      }
      return async () => {
        for (const id of ids) await admin.call('DELETE', `/api/v1/admin/webhooks/${id}`);
        await admin.call('DELETE', `/api/v1/collections/${collection}`);
        receiver.close();
        receiver.closeAllConnections();
      };
    },
    requests: () => ({ method: 'POST', paths: [`/api/v1/records/${collection}`], bodies: [newPost()] }),
  };
};
