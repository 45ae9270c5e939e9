import { createValueCipher } from '@recordbus/crypto';
import type pg from 'pg';

const checkText = 'recordbus';

/**
 * Notes in the database that its secrets are encrypted under this key. If two starts each create a key, the first one
 * is noted. Returns whether the noted key is this one.
 */
export async function rememberKey(client: pg.Client, key: string): Promise<boolean> {
  const cipher = createValueCipher(key);
  await client.query('insert into system.key_check (sealed) values ($1) on conflict do nothing', [
    cipher.encrypt(checkText),
  ]);
  return (await compareKey(client, key)) === 'same';
}

/** Compares a key with the one that the database notes; `none` when it notes none. */
export async function compareKey(client: pg.Client, key: string | undefined): Promise<'none' | 'same' | 'another'> {
  const { rows } = await client.query<{ sealed: string }>('select sealed from system.key_check');
  const [check] = rows;
  if (!check) return 'none';
  return createValueCipher(key).decrypt(check.sealed) === checkText ? 'same' : 'another';
}

/** Forgets the noted key, so that another one may take its place. */
export async function forgetKey(client: pg.Client): Promise<void> {
  await client.query('delete from system.key_check');
}

/** Whether nothing is stored yet: no settings, no collections, no admins. */
export async function isUnused(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_unused: boolean }>(
    `select not exists (select from system.settings) and not exists (select from system.collections)
       and not exists (select from system.admins) as is_unused`,
  );
  return rows[0]?.is_unused === true;
}
