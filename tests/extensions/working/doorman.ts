import { defineExtension, refuse, route } from '@recordbus/extensions';

/** Sign-in hooks: they refuse some and store the others' flow. */
export const extension = defineExtension({
  signIn: {
    door_users: {
      before({ email, flow, userAgent }) {
        if (email?.endsWith('@blocked.example')) throw refuse(403, 'not here', { email: 'is blocked' });
        if (userAgent === 'unwelcome') throw refuse(403, `no ${flow} here`);
      },
      async after({ userId, flow, email, collection }, { kv }) {
        await kv.set(`${userId} ${flow}`, { email: email ?? null, collection });
      },
    },
  },
  routes: [
    route({
      method: 'GET',
      path: '/door/:user',
      access: 'public',
      handler: ({ params }, { kv }) => kv.list(`${params.user} `),
    }),
  ],
});
