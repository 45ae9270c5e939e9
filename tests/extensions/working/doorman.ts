import { defineExtension, refuse, route } from '@recordbus/extensions';

/** Hooks of sign-ins: they refuse some and store the flow of the others. */
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
