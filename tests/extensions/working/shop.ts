import { randomUUID } from 'node:crypto';
import { defineEvent, defineExtension, filter, refuse, reply, route, z } from '@recordbus/extensions';

/** Hooks and routes for the scenarios' collections: they change, refuse, read and write records. */
export const extension = defineExtension({
  events: [
    defineEvent({
      name: 'shop.closed',
      description: 'The shop has closed for the day.',
      schema: z.object({ revenue: z.number(), note: z.string().optional() }),
      example: { revenue: 12.5 },
    }),
  ],
  hooks: {
    '*': {
      beforeCreate: ({ collection, values, caller }, { log }) => {
        if (collection === 'shop_orders' && values.note === 'from nobody')
          throw refuse(403, `not for a ${caller.type}`);
        log.debug('seen', { collection });
      },
    },
    shop_orders: {
      beforeValidate: ({ values }) => {
        if (typeof values.code === 'string') values.code = values.code.toUpperCase();
      },
      afterValidate: ({ values, operation }) => {
        if (values.amount === 13) throw refuse(422, 'validation failed', { amount: `is unlucky at ${operation}` });
      },
      async beforeCreate({ values }, { records }) {
        const stock = await records.list('shop_stock', { filter: filter`item = ${String(values.item ?? '')}` });
        const [found] = stock.data;
        if (!found) throw refuse(422, 'validation failed', { item: 'is not sold here' });
        const item = await records.lock('shop_stock', String(found.id));
        await records.update('shop_stock', String(item.id), { left: Number(item.left) - Number(values.amount) });
        values.price = Number(item.price) * Number(values.amount);
        if (values.note === 'fails after the stock') throw refuse(409, 'out of luck');
        if (values.note === 'catches') await records.create('shop_stock', { item: item.item }).catch(() => {});
      },
      beforeUpdate({ values, previous }) {
        if (previous?.code === 'FINAL') throw refuse(409, 'the order is final');
        values.note = `was ${previous?.code}`;
      },
      beforeDelete({ previous, caller }) {
        if (previous?.code === 'KEEP') throw refuse(409, `kept from a ${caller.type}`);
      },
    },
    shop_stock: {
      beforeUpdate({ values }) {
        if (Number(values.left) < 0) throw refuse(422, 'validation failed', { left: 'is not enough' });
      },
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/shop/quotes/:item',
      access: 'public',
      action: 'create',
      summary: 'What an amount of an item costs',
      params: z.object({ item: z.string().min(2) }),
      query: z.object({ currency: z.enum(['EUR', 'USD']).default('EUR') }),
      body: z.object({ amount: z.number().positive() }),
      answer: z.object({ price: z.number(), currency: z.string() }),
      handler: ({ params, query, body }) => ({ price: params.item.length * body.amount, currency: query.currency }),
    }),
    route({
      method: 'POST',
      path: '/shop/cups',
      access: 'public',
      idempotent: true,
      body: z.object({ tea: z.string() }),
      handler: ({ body }) => reply(201, { cup: randomUUID(), tea: body.tea }, { 'X-Pot': 'half empty' }),
    }),
    route({ method: 'GET', path: '/shop/me', access: 'session', handler: ({ caller }) => caller }),
    route({ method: 'GET', path: '/shop/admins', handler: () => 'for admins' }),
    route({
      method: 'GET',
      path: '/shop/ruled',
      access: 'public',
      rule: '@request.auth.type = "user" && @request.query.word = "please"',
      handler: () => 'let through',
    }),
    route({
      method: 'GET',
      path: '/shop/teapot',
      access: 'public',
      handler: ({ header }) =>
        reply(203, header('x-tea'), {
          'X-Pot': 'short and stout',
          Vary: 'X-Tea',
          'X-Frame-Options': 'SAMEORIGIN',
          'Access-Control-Allow-Origin': '*',
          'Content-Length': '3',
        }),
    }),
    route({
      method: 'GET',
      path: '/shop/refuses',
      access: 'public',
      handler: () => Promise.reject(refuse(402, 'pay first')),
    }),
    route({ method: 'GET', path: '/shop/nothing', access: 'public', handler: () => undefined }),
    route({
      method: 'GET',
      path: '/shop/as/:who',
      access: 'public',
      async handler({ params, caller }, { records }) {
        const subject = params.who === 'caller' ? caller : ({ type: 'guest' } as const);
        const seen = await (params.who === 'admin' ? records : records.as(subject)).list('shop_private');
        return seen.totalItems;
      },
    }),
    route({
      method: 'GET',
      path: '/shop/missing',
      access: 'public',
      handler: async (_request, { records }) => [
        (await records.find('shop_stock', '0198a000-0000-7000-8000-000000000000')) ?? 'nothing',
        await records.get('shop_stock', '0198a000-0000-7000-8000-000000000000'),
      ],
    }),
  ],
});
