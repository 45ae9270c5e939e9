import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { historyTableOf } from '@recordbus/journal';
import {
  type Collection,
  encryptedFieldsOf,
  loadCollections,
  quoteIdentifier,
  quoteLiteral,
  tableOf,
} from '@recordbus/schema';
import { isSecretKey } from '@recordbus/settings';

/** A column with encrypted values: a table, and the SQL for the value as text. */
interface Place {
  readonly table: string;
  readonly value: string;
}

/** How many of a place's values show whether the key decrypts it. */
const sampleSize = 20;

/**
 * Counts the encrypted values that this key does not decrypt: secret settings, authenticator secrets, and encrypted
 * fields with their history. A place whose first values the key decrypts counts as readable, so a start with the right
 * key reads few rows. `cli doctor` examines every value.
 */
export async function countUnreadable(query: Query, cipher: ValueCipher): Promise<number> {
  const settings = await query<{ key: string; value: string }>({
    text: 'select key, value from system.settings',
    values: [],
  });
  let count = settings.filter(({ key, value }) => isSecretKey(key) && cipher.decrypt(value) === undefined).length;
  const { collections } = await loadCollections(query);
  for (const place of [pocketbaseKeys, ...accountPlaces(collections), ...collections.flatMap(fieldPlaces)]) {
    const sample = await query<{ value: string }>({ text: `${selectSealed(place)} limit ${sampleSize}`, values: [] });
    if (sample.every(({ value }) => cipher.decrypt(value) !== undefined)) continue;
    const [row] = await query<{ count: number }>({
      text: `select count(*)::float8 as count from (${selectSealed(place)}) s`,
      values: [],
    });
    count += row?.count ?? 0;
  }
  return count;
}

/** A json field's value is a JSON string. */
const selectSealed = ({ table, value }: Place): string =>
  `select s.value from (select trim(both '"' from ${value}) as value from ${table} t) s where s.value like 'enc:1:%'`;

const pocketbaseKeys: Place = { table: 'system.pocketbase_keys', value: 't.token_key' };

const accountPlaces = (collections: readonly Collection[]): Place[] =>
  ['system.admins', ...collections.filter(({ type }) => type === 'auth').map(tableOf)].map((table) => ({
    table,
    value: 't.totp_secret',
  }));

function fieldPlaces(collection: Collection): Place[] {
  const history = collection.historyEnabled ? historyTableOf(collection) : undefined;
  return encryptedFieldsOf(collection).flatMap((field) => [
    { table: tableOf(collection), value: `t.${quoteIdentifier(field.name)}::text` },
    ...(history ? [{ table: history, value: `(t.snapshot ->> ${quoteLiteral(field.id)})` }] : []),
  ]);
}
