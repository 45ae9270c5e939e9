import { type Row, raw } from './row.ts';
import { connect, idOf, password } from './side.ts';

const signUp = { email: 'carol@example.com', password, passwordConfirm: password };

/** Accounts and signing in. */
export const accountRows: readonly Row[] = [
  { name: 'sign up', run: ({ guest }) => guest.collection('users').create({ ...signUp, name: 'Carol' }) },
  { name: 'sign up with a taken address', run: ({ guest }) => guest.collection('users').create(signUp) },
  {
    name: 'sign up with two passwords',
    run: ({ guest }) => guest.collection('users').create({ ...signUp, passwordConfirm: 'other' }),
  },
  { name: 'sign up with nothing', run: ({ guest }) => guest.collection('users').create({}) },
  {
    name: 'sign up with a wrong address and a short password',
    run: ({ guest }) => guest.collection('users').create({ email: 'nobody', password: '1', passwordConfirm: '1' }),
    differs: "The short password's refusal has `params`; PocketBase leaves them out for passwords.",
  },
  {
    name: 'sign in',
    run: async ({ url }) => {
      const client = connect(url);
      const answer = await client.collection('users').authWithPassword(signUp.email, password);
      return { answer, isValid: client.authStore.isValid, isSuperuser: client.authStore.isSuperuser };
    },
  },
  {
    name: 'sign in with a wrong password',
    run: ({ guest }) => guest.collection('users').authWithPassword(signUp.email, 'wrong'),
  },
  {
    name: 'sign in as nobody',
    run: ({ guest }) => guest.collection('users').authWithPassword('nobody@example.com', password),
  },
  {
    name: 'sign in without a body',
    run: (cast) => raw(cast, 'POST', '/api/collections/users/auth-with-password', { body: {} }),
  },
  {
    name: 'sign in to a collection without accounts',
    run: ({ guest }) => guest.collection('posts').authWithPassword('a', 'b'),
  },
  {
    name: 'the ways to sign in',
    run: (cast) => raw(cast, 'GET', '/api/collections/users/auth-methods?fields=password,mfa,otp.enabled,oauth2'),
  },
  { name: 'the ways to sign in to no accounts', run: ({ guest }) => guest.collection('posts').listAuthMethods() },
  { name: 'refresh', run: ({ alice }) => alice.collection('users').authRefresh() },
  { name: 'refresh as a guest', run: (cast) => raw(cast, 'POST', '/api/collections/users/auth-refresh') },
  {
    name: 'refresh with a forged token',
    run: (cast) => raw(cast, 'POST', '/api/collections/users/auth-refresh', { headers: { authorization: 'forged' } }),
  },
  {
    name: 'a token without Bearer',
    run: (cast) =>
      raw(cast, 'GET', `/api/collections/users/records/${idOf(cast.alice)}?fields=name`, {
        headers: { authorization: cast.alice.authStore.token },
      }),
  },
  {
    name: 'a token with Bearer',
    run: (cast) =>
      raw(cast, 'GET', `/api/collections/users/records/${idOf(cast.alice)}?fields=name`, {
        headers: { authorization: `Bearer ${cast.alice.authStore.token}` },
      }),
  },
  {
    name: 'a forged token is a guest',
    run: (cast) => raw(cast, 'GET', '/api/collections/tags/records', { headers: { authorization: 'forged' } }),
  },
  {
    name: 'a forged token at a closed rule',
    run: (cast) => raw(cast, 'GET', '/api/collections/closed/records', { headers: { authorization: 'forged' } }),
  },
  { name: 'a code while codes are off', run: ({ guest }) => guest.collection('users').requestOTP(signUp.email) },
  {
    name: 'a reset for nobody',
    run: ({ guest }) => guest.collection('users').requestPasswordReset('nobody@example.com'),
  },
  {
    name: 'a reset without an address',
    run: (cast) => raw(cast, 'POST', '/api/collections/users/request-password-reset', { body: {} }),
  },
  {
    name: 'a reset with a wrong token',
    run: ({ guest }) => guest.collection('users').confirmPasswordReset('wrong', password, password),
  },
  {
    name: 'a proof for nobody',
    run: ({ guest }) => guest.collection('users').requestVerification('nobody@example.com'),
  },
  {
    name: 'a proof with a wrong token',
    run: ({ guest }) => guest.collection('users').confirmVerification('wrong'),
  },
  {
    name: 'another address, as a guest',
    run: (cast) =>
      raw(cast, 'POST', '/api/collections/users/request-email-change', { body: { newEmail: 'a@example.com' } }),
  },
  {
    name: 'update the own account',
    run: ({ bob }) =>
      bob.collection('users').update(idOf(bob), { ...bob.authStore.record, name: 'Robert', emailVisibility: true }),
  },
  {
    name: 'a visible address',
    run: ({ admin, bob }) => admin.collection('users').getOne(idOf(bob), { fields: 'email,name' }),
  },
  {
    name: 'set the own address',
    run: ({ bob }) => bob.collection('users').update(idOf(bob), { email: 'x@example.com' }),
  },
  {
    name: 'mark the own address as verified',
    run: ({ bob }) => bob.collection('users').update(idOf(bob), { verified: true }),
  },
  {
    name: 'set a password without the old one',
    run: ({ bob }) =>
      bob.collection('users').update(idOf(bob), { password: 'another pw 1', passwordConfirm: 'another pw 1' }),
  },
  {
    name: 'set a password with a wrong old one',
    run: ({ bob }) =>
      bob
        .collection('users')
        .update(idOf(bob), { oldPassword: 'wrong', password: 'another pw 1', passwordConfirm: 'another pw 1' }),
  },
  {
    name: 'a new password ends the token',
    run: async (cast) => {
      const { bob } = cast;
      const { token } = bob.authStore;
      const id = idOf(bob);
      await bob
        .collection('users')
        .update(id, { oldPassword: password, password: 'another pw 1', passwordConfirm: 'another pw 1' });
      await bob.collection('users').authWithPassword('bob@example.com', 'another pw 1');
      return raw(cast, 'POST', '/api/collections/users/auth-refresh', { headers: { authorization: token } });
    },
  },
  {
    name: 'sign in as an admin',
    run: async ({ admin }) => {
      const { record } = await admin.collection('_superusers').authRefresh();
      return { isSuperuser: admin.authStore.isSuperuser, record: { ...record, email: '', created: '', updated: '' } };
    },
  },
  {
    name: 'sign in as an admin with a wrong password',
    run: ({ guest }) => guest.collection('_superusers').authWithPassword('nobody@example.com', 'wrong'),
  },
  {
    name: 'list admins as a guest',
    run: ({ guest }) => guest.collection('_superusers').getList(),
  },
  {
    name: 'impersonate',
    run: async ({ admin, alice }) => {
      const client = await admin.collection('users').impersonate(idOf(alice), 100);
      return { isValid: client.authStore.isValid, name: client.authStore.record?.name };
    },
  },
  { name: 'impersonate as a user', run: ({ alice, bob }) => alice.collection('users').impersonate(idOf(bob), 100) },
];
