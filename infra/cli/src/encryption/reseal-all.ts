import { recordAudit } from '@recordbus/audit';
import { isSealed } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { rewriteStored } from '@recordbus/journal';
import { encryptedFieldsOf, loadCollections, sealStored } from '@recordbus/schema';
import type pg from 'pg';
import { byCommand } from '../by-command.ts';
import { CommandFailure } from '../failure.ts';
import { type Keys, resealText } from './reseal-text.ts';
import { listPlainPlaces, listSealableTables, type PlainPlace, type SealableTable } from './sealable-columns.ts';

/** What a rotation did. */
export interface Resealed {
  /** Values that were sealed under the new key. */
  readonly encrypted: number;
  /** Values that neither key opens. */
  readonly unreadable: number;
  /** How many were sealed in each column. */
  readonly places: Readonly<Record<string, number>>;
}

interface Row {
  readonly place: string;
  readonly values: readonly (string | null)[];
}

const batchSize = 500;

/**
 * Seals everything anew in one transaction. Throws a sentence that says where values stand that neither key opens, and
 * changes nothing then, unless they are to be left.
 */
export async function resealAll(client: pg.Client, keys: Keys, leavesUnreadable: boolean): Promise<Resealed> {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  await client.query('begin');
  const encrypted = new Map<string, number>();
  const unreadable = new Map<string, number>();
  for (const place of await listPlainPlaces(client))
    add(encrypted, placeName(place), await sealPlain(client, keys, place));
  for (const [place, count] of await sealPlainFields(query, keys)) add(encrypted, place, count);
  for (const table of await listSealableTables(client))
    await resealTable(client, keys, table, { encrypted, unreadable });
  const resealed = { encrypted: sum(encrypted), unreadable: sum(unreadable), places: Object.fromEntries(encrypted) };
  if (resealed.unreadable > 0 && !leavesUnreadable) throw new CommandFailure(describe(unreadable));
  await recordAudit(query, {
    action: 'encryption.rotate',
    ...byCommand,
    details: { ...resealed },
  });
  await client.query("update system.versions set version = version + 1 where name = 'settings'");
  await client.query('commit');
  return resealed;
}

const placeName = ({ table, column }: PlainPlace): string => `${table}.${column}`;

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((total, count) => total + count, 0);

const add = (counts: Map<string, number>, place: string, count: number): void => {
  if (count > 0) counts.set(place, (counts.get(place) ?? 0) + count);
};

const describe = (unreadable: ReadonlyMap<string, number>): string => {
  const places = [...unreadable].map(([place, count]) => `${count} in ${place}`).join(', ');
  return `SERVICE_ENCRYPTION_KEY is not the key of all that is encrypted: neither key opens ${places}. Nothing was changed. Set the right key, or leave these values as they are with --leave-unreadable.`;
};

/** Seals what was stored before there was a key. */
async function sealPlain(client: pg.Client, { current }: Keys, { table, column, where }: PlainPlace): Promise<number> {
  const { rows } = await client.query<{ place: string; value: string }>(
    `select ctid::text as place, ${column} as value from ${table} where ${where} for update`,
  );
  const plain = rows.filter(({ value }) => !isSealed(value));
  await client.query(
    `update ${table} t set ${column} = v.value from unnest($1::tid[], $2::text[]) as v (place, value) where t.ctid = v.place`,
    [plain.map(({ place }) => place), plain.map(({ value }) => current.seal(value))],
  );
  return plain.length;
}

/** Seals what encrypted fields of records, and their history, hold in plain text. */
async function sealPlainFields(query: Query, { current }: Keys): Promise<Map<string, number>> {
  const sealed = new Map<string, number>();
  for (const collection of (await loadCollections(query)).collections)
    for (const field of encryptedFieldsOf(collection))
      await rewriteStored(query, collection, field, (stored) => {
        const next = sealStored(current, field, stored);
        if (next !== stored) add(sealed, `records.${collection.name}.${field.name}`, 1);
        return next;
      });
  return sealed;
}

/** Goes through the rows of a table that may hold a sealed value. The cursor sees the table as it was at its start. */
async function resealTable(
  client: pg.Client,
  keys: Keys,
  { name, columns }: SealableTable,
  counts: { readonly encrypted: Map<string, number>; readonly unreadable: Map<string, number> },
): Promise<void> {
  const texts = columns.map((column) => `${column.name}::text`);
  await client.query(
    `declare sealed no scroll cursor for select ctid::text as place, array[${texts.join(', ')}] as values from ${name}
     where ${texts.map((text) => `${text} like '%enc:1:%'`).join(' or ')}`,
  );
  const assignments = columns.map((column, index) => `${column.name} = v.c${index}::${column.type}`).join(', ');
  const given = columns.map((_, index) => `$${index + 2}::text[]`).join(', ');
  const named = columns.map((_, index) => `c${index}`).join(', ');
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${batchSize} from sealed`);
    if (rows.length === 0) break;
    const changed: { place: string; values: (string | null)[] }[] = [];
    for (const { place, values } of rows) {
      const resealed = values.map((value) => (value === null ? undefined : resealText(value, keys)));
      for (const [index, column] of columns.entries()) {
        const where = `${name}.${column.name}`;
        add(counts.encrypted, where, resealed[index]?.encrypted ?? 0);
        add(counts.unreadable, where, resealed[index]?.unreadable ?? 0);
      }
      if (resealed.some((value) => value && value.encrypted > 0))
        changed.push({ place, values: resealed.map((value) => value?.text ?? null) });
    }
    await client.query(
      `update ${name} t set ${assignments} from unnest($1::tid[], ${given}) as v (place, ${named}) where t.ctid = v.place`,
      [changed.map(({ place }) => place), ...columns.map((_, index) => changed.map(({ values }) => values[index]))],
    );
  }
  await client.query('close sealed');
}
