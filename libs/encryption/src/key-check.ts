import { createValueCipher, isCiphertext } from '@recordbus/crypto';
import { isSecretKey } from '@recordbus/settings';
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

/**
 * Whether a key was in use: the database notes one, or holds an encrypted setting or secret of an authenticator app.
 */
export async function hasEncryptedSecrets(client: pg.Client): Promise<boolean> {
  if ((await compareKey(client, undefined)) !== 'none') return true;
  const settings = await client.query<{ key: string; value: string }>('select key, value from system.settings');
  if (settings.rows.some(({ key, value }) => isSecretKey(key) && isCiphertext(value))) return true;
  // As JSON: a database of an earlier version lacks the column.
  const admins = await client.query(
    `select from system.admins a where to_jsonb(a) ->> 'totp_secret' like 'enc:1:%' limit 1`,
  );
  if (admins.rows.length > 0) return true;
  const accounts = await client.query<{ table: string }>(
    `select format('records.%I', name) as table from system.collections where type = 'auth'`,
  );
  for (const { table } of accounts.rows) {
    const { rows } = await client.query(`select from ${table} where totp_secret like 'enc:1:%' limit 1`);
    if (rows.length > 0) return true;
  }
  return false;
}

/** Whether nothing is stored yet: no settings, no collections, no admins. */
export async function isUnused(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_unused: boolean }>(
    `select not exists (select from system.settings) and not exists (select from system.collections)
       and not exists (select from system.admins) as is_unused`,
  );
  return rows[0]?.is_unused === true;
}
