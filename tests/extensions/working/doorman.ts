import { defineExtension, refuse, route } from '@recordbus/extensions';

/** Hooks of sign-ins that refuse some, and remember the others by their flow. */
export const extension = defineExtension({
  signIn: {
    door_users: {
      before({ email }) {
        if (email?.endsWith('@blocked.example')) throw refuse(403, 'not here', { email: 'is blocked' });
      },
      async after({ userId, flow }, { kv }) {
        const seen = (await kv.get(userId)) ?? [];
        await kv.set(userId, [...(Array.isArray(seen) ? seen : []), flow]);
      },
    },
  },
  routes: [
    route({
      method: 'GET',
      path: '/door/:user',
      access: 'public',
      handler: ({ params }, { kv }) => kv.get(params.user ?? ''),
    }),
  ],
});
