import { sizes } from '../seed.ts';
import { signingIn } from './beside.ts';
import { somePaths } from './reads.ts';
import { credentials, registerUser } from './register-user.ts';
import type { Row } from './row.ts';
import { createUserTokens } from './user-tokens.ts';

const users = 'signers';
const body = JSON.stringify(credentials);
const loginPath = `/api/v1/auth/${users}/login`;
const sampleSize = 5000;

/** The user whom `prepare` signs up has these tokens. */
const tokens = createUserTokens();

const prepare: Row['prepare'] = async (ground) => {
  const { token } = await registerUser(ground, users);
  tokens.keep(ground.database, token);
  return async () => {
    await ground.admin.call('DELETE', `/api/v1/collections/${users}`);
  };
};

/**
 * Rows that sign in or send a token. Compared to "get one of 10k", the latter shows what a token costs at the gateway.
 */
export const signIns: readonly Row[] = [
  {
    name: 'signed-in-get',
    title: 'get one of 10k, with a token',
    isWrite: false,
    isProductOnly: true,
    prepare,
    requests: async (database) => ({
      method: 'GET',
      paths: await somePaths(database, sizes['10k'].posts, sampleSize),
      headers: tokens.headersFor(database),
    }),
  },
  {
    name: 'sign-in',
    title: 'sign in with a password',
    isWrite: false,
    isProductOnly: true,
    connections: 10,
    prepare,
    requests: () => ({ method: 'POST', paths: [loginPath], bodies: [body] }),
  },
  {
    name: 'sign-in-beside',
    title: 'get one of 10k, while 250 sign in',
    isWrite: false,
    isProductOnly: true,
    prepare,
    beside: signingIn(loginPath, body, 250),
    requests: async (database) => ({
      method: 'GET',
      paths: await somePaths(database, sizes['10k'].posts, sampleSize),
    }),
  },
];
