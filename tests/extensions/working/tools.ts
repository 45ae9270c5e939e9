import { defineExtension, route, z } from '@recordbus/extensions';

/** A route for each tool. */
export const extension = defineExtension({
  routes: [
    route({
      method: 'POST',
      path: '/tools/dispatch',
      body: z.object({ event: z.string(), payload: z.unknown(), padding: z.int().optional() }),
      handler: ({ body: { event, payload, padding } }, { webhooks }) =>
        webhooks.dispatch(event, padding === undefined ? payload : 'x'.repeat(padding)),
    }),
    route({
      method: 'POST',
      path: '/tools/fetch',
      body: z.object({ url: z.string(), timeoutMs: z.number().optional(), maxBytes: z.number().optional() }),
      async handler({ body: { url, ...limits } }, { http }) {
        const answer = await http.fetch(url, { method: 'POST', body: '{"from":"an extension"}', ...limits });
        return { status: answer.status, text: answer.text() };
      },
    }),
    route({
      method: 'POST',
      path: '/tools/mail',
      body: z.object({ to: z.string() }),
      handler: ({ body }, { mail }) =>
        mail.send({ to: body.to, subject: 'From an extension', text: 'Hello & welcome' }),
    }),
    route({
      method: 'POST',
      path: '/tools/notify',
      body: z.object({ to: z.array(z.string()), title: z.string() }),
      handler: ({ body }, { notifications }) => notifications.send({ ...body, body: 'from an extension' }),
    }),
    route({
      method: 'GET',
      path: '/tools/settings/:key',
      handler: ({ params }, { settings }) => settings.get(params.key ?? ''),
    }),
    route({
      method: 'GET',
      path: '/tools/env',
      handler: (_request, { env }) => ({ colour: env.EXTENSION_COLOUR, secret: env.SERVICE_JWT_SECRET ?? 'none' }),
    }),
    route({
      method: 'GET',
      path: '/tools/kv',
      async handler(_request, { kv }) {
        await kv.set('a', { deep: [1, 2] });
        await kv.set('b', 'text', { ttlSec: 1000 });
        const first = await kv.setIfAbsent('once', 1);
        const second = await kv.setIfAbsent('once', 2);
        await kv.increment('count', 2);
        const count = await kv.increment('count');
        await kv.delete('b');
        const list = await kv.list();
        for (const { key } of list) await kv.delete(key);
        return {
          a: list.find(({ key }) => key === 'a')?.value,
          first,
          second,
          count,
          b: (await kv.get('b')) ?? null,
          keys: list.map(({ key }) => key),
        };
      },
    }),
    route({
      method: 'POST',
      path: '/tools/kv-race',
      handler: async (_request, { kv }) => kv.setIfAbsent('race', true, { ttlSec: 60 }),
    }),
    route({ method: 'GET', path: '/tools/big', handler: (_request, { kv }) => kv.set('big', 'x'.repeat(70_000)) }),
  ],
});
