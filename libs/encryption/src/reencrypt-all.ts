import { recordAudit } from '@recordbus/audit';
import { isCiphertext } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { rewriteStored } from '@recordbus/journal';
import { encryptedFieldsOf, encryptStored, loadCollections } from '@recordbus/schema';
import type pg from 'pg';
import {
  type EncryptableTable,
  listEncryptableTables,
  listSecretColumns,
  type SecretColumn,
} from './encryptable-columns.ts';
import { type Ciphers, reencryptText } from './reencrypt-text.ts';

/** What a key change did. */
export interface Reencrypted {
  /** How many values were encrypted under the new key. */
  readonly encrypted: number;
  /** How many values neither key decrypts. */
  readonly unreadable: number;
  /** How many encrypted values each column has. */
  readonly places: Readonly<Record<string, number>>;
}

interface Row {
  /** The ctid. */
  readonly place: string;
  readonly values: readonly (string | null)[];
}

/** How many values each column has. */
interface Counts {
  readonly encrypted: Map<string, number>;
  readonly unreadable: Map<string, number>;
}

const batchSize = 500;

/** Thrown for values that neither key decrypts; the message says how many there are in which column. */
export class UnreadableValues extends Error {
  override name = 'UnreadableValues';
}

interface ReencryptOptions {
  /** Leaves values that neither key decrypts as they are, instead of changing nothing. */
  readonly leavesUnreadable: boolean;
  /** The audit row's user agent. */
  readonly userAgent: string;
}

/**
 * Re-encrypts everything in one transaction, all or nothing (encryption §5.1). Throws UnreadableValues for values that
 * neither key decrypts, unless `leavesUnreadable` (encryption §5.3).
 */
export async function reencryptAll(
  client: pg.Client,
  ciphers: Ciphers,
  options: ReencryptOptions,
): Promise<Reencrypted> {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  await client.query('begin');
  const counts: Counts = { encrypted: new Map(), unreadable: new Map() };
  for (const column of await listSecretColumns(client))
    add(counts.encrypted, nameOf(column), await encryptPlain(client, ciphers, column));
  for (const [column, count] of await encryptPlainFields(query, ciphers)) add(counts.encrypted, column, count);
  for (const table of await listEncryptableTables(client)) await reencryptTable(client, ciphers, table, counts);
  const { encrypted, unreadable } = counts;
  const result = { encrypted: sum(encrypted), unreadable: sum(unreadable), places: Object.fromEntries(encrypted) };
  if (result.unreadable > 0 && !options.leavesUnreadable) throw new UnreadableValues(describe(unreadable));
  await recordAudit(query, {
    action: 'encryption.rotate',
    context: 'system',
    userAgent: options.userAgent,
    details: { ...result },
  });
  await client.query("update system.versions set version = version + 1 where name = 'settings'");
  await client.query('commit');
  return result;
}

const nameOf = ({ table, column }: SecretColumn): string => `${table}.${column}`;

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((total, count) => total + count, 0);

const add = (counts: Map<string, number>, column: string, count: number): void => {
  if (count > 0) counts.set(column, (counts.get(column) ?? 0) + count);
};

const describe = (unreadable: ReadonlyMap<string, number>): string => {
  const places = [...unreadable].map(([column, count]) => `${count} in ${column}`).join(', ');
  return `SERVICE_ENCRYPTION_KEY does not fit all encrypted values: neither key decrypts ${places}. Nothing was changed. Set the right key, or leave these values as they are with --leave-unreadable.`;
};

/** Encrypts values that were stored before there was a key; returns how many. */
async function encryptPlain(
  client: pg.Client,
  { current }: Ciphers,
  { table, column, where }: SecretColumn,
): Promise<number> {
  const { rows } = await client.query<{ place: string; value: string }>(
    `select ctid::text as place, ${column} as value from ${table} where ${where} for update`,
  );
  const plain = rows.filter(({ value }) => !isCiphertext(value));
  await client.query(
    `update ${table} t set ${column} = v.value from unnest($1::tid[], $2::text[]) as v (place, value) where t.ctid = v.place`,
    [plain.map(({ place }) => place), plain.map(({ value }) => current.encrypt(value))],
  );
  return plain.length;
}

/** Encrypts plain values in encrypted fields, in records and in the history; returns how many in each field. */
async function encryptPlainFields(query: Query, { current }: Ciphers): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const collection of (await loadCollections(query)).collections)
    for (const field of encryptedFieldsOf(collection))
      await rewriteStored(query, collection, field, (stored) => {
        const next = encryptStored(current, field, stored);
        if (next !== stored) add(counts, `records.${collection.name}.${field.name}`, 1);
        return next;
      });
  return counts;
}

/** Re-encrypts a table's rows in batches. The cursor sees the table as it was when the cursor was opened. */
async function reencryptTable(
  client: pg.Client,
  ciphers: Ciphers,
  table: EncryptableTable,
  counts: Counts,
): Promise<void> {
  const texts = table.columns.map((column) => `${column.name}::text`);
  await client.query(
    `declare matching no scroll cursor for select ctid::text as place, array[${texts.join(', ')}] as values from ${table.name}
     where ${texts.map((text) => `${text} like '%enc:1:%'`).join(' or ')}`,
  );
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${batchSize} from matching`);
    if (rows.length === 0) break;
    const changed = rows.flatMap((row) => reencryptRow(row, ciphers, table, counts) ?? []);
    await updateRows(client, table, changed);
  }
  await client.query('close matching');
}

/** Returns the row with its values re-encrypted; undefined when no value changes. */
function reencryptRow({ place, values }: Row, ciphers: Ciphers, table: EncryptableTable, counts: Counts) {
  const results = values.map((value) => (value === null ? undefined : reencryptText(value, ciphers)));
  for (const [index, { name }] of table.columns.entries()) {
    add(counts.encrypted, `${table.name}.${name}`, results[index]?.encrypted ?? 0);
    add(counts.unreadable, `${table.name}.${name}`, results[index]?.unreadable ?? 0);
  }
  if (!results.some((result) => result && result.encrypted > 0)) return undefined;
  return { place, values: results.map((result) => result?.text ?? null) };
}

async function updateRows(client: pg.Client, { name, columns }: EncryptableTable, rows: readonly Row[]): Promise<void> {
  const assignments = columns.map((column, index) => `${column.name} = v.c${index}::${column.type}`).join(', ');
  const parameters = columns.map((_, index) => `$${index + 2}::text[]`).join(', ');
  const names = columns.map((_, index) => `c${index}`).join(', ');
  await client.query(
    `update ${name} t set ${assignments} from unnest($1::tid[], ${parameters}) as v (place, ${names}) where t.ctid = v.place`,
    [rows.map(({ place }) => place), ...columns.map((_, index) => rows.map(({ values }) => values[index]))],
  );
}
