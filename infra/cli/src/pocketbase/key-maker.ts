import { changeKey, createKey, deleteKey, listAllKeys, newKey } from '@recordbus/admin';
import { AppError } from '@recordbus/errors';
import { type ApiAddress, callApi } from '@recordbus/stack-calls';
import { cliActor } from '../cli-actor.ts';
import type { Deployment } from '../deployment/open-deployment.ts';

interface KeyValues {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: number;
  readonly rate_limited: boolean;
}

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly expires_at: number | null;
}

/** Makes and ends service keys. */
export interface KeyMaker {
  list(): Promise<readonly ListedKey[]>;
  /** Undefined if the caller's own key is too narrow to make one. */
  create(values: KeyValues): Promise<{ readonly id: string; readonly key: string } | undefined>;
  extend(id: string, endSec: number): Promise<unknown>;
  delete(id: string): Promise<unknown>;
}

/** Makes keys in a deployment's database, even before there is an admin. */
export function keysInDatabase({ database, bus }: Pick<Deployment, 'database' | 'bus'>): KeyMaker {
  const nowSec = () => Math.floor(Date.now() / 1000);
  async function notified<T>(change: Promise<T>): Promise<T> {
    const result = await change;
    bus.notify('accounts');
    return result;
  }
  return {
    list: () => listAllKeys(database.query),
    create: (values) => notified(createKey(database, newKey.parse(values), nowSec(), cliActor)),
    extend: (id, endSec) => notified(changeKey(database, id, { expires_at: endSec }, nowSec(), cliActor)),
    delete: (id) => notified(deleteKey(database, id, cliActor)),
  };
}

const path = '/api/v1/admin/keys';

/** Makes keys by the API, with an admin's token or a key that has the scope `admin`. */
export const keysByApi = (address: ApiAddress): KeyMaker => ({
  list: async () => (await callApi(address, 'GET', `${path}?perPage=1000`)) as ListedKey[],
  async create(values) {
    try {
      return (await callApi(address, 'POST', path, values)) as { id: string; key: string };
    } catch (error) {
      // A key cannot make one with a later end, or for more networks.
      if (error instanceof AppError && error.code === 'scope_exceeded') return undefined;
      throw error;
    }
  },
  extend: (id, endSec) => callApi(address, 'PATCH', `${path}/${id}`, { expires_at: endSec }),
  delete: (id) => callApi(address, 'DELETE', `${path}/${id}`),
});
