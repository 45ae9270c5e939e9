import { createEnvelope, isSealed } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { encryptedFieldsOf, loadCollections } from '@recordbus/schema';
import pg from 'pg';
import { resealText } from '../encryption/reseal-text.ts';
import { listSealableTables, type SealableTable } from '../encryption/sealable-columns.ts';
import { broken, type Finding, fine, warning } from './finding.ts';

const subject = 'sealed values';
const batchSize = 500;
/** PostgreSQL's code for a statement that took longer than it may. */
const tookTooLong = '57014';

/** Values that are sealed, and those of them that the key does not open, by the columns in which they stand. */
interface Count {
  readonly sealed: number;
  readonly unreadable: ReadonlyMap<string, number>;
}

/** Does the key open everything that is sealed in any table but that of the settings, which are named one by one? */
export async function examineSealedValues(client: pg.Client, key: string | undefined): Promise<Finding[]> {
  const ours = await sealingPlaces(client);
  const tooLarge: string[] = [];
  const unreadable = new Map<string, number>();
  let sealed = 0;
  for (const table of await listSealableTables(client)) {
    if (table.name === 'system.settings') continue;
    const count = await countIn(client, table, key);
    if (!count) tooLarge.push(table.name);
    sealed += count?.sealed ?? 0;
    for (const [place, number] of count?.unreadable ?? []) unreadable.set(place, number);
  }
  const [lost, alike] = [true, false].map((isOurs) => [...unreadable].filter(([place]) => ours(place) === isOurs));
  const findings: Finding[] = [];
  if (lost && lost.length > 0)
    findings.push(
      broken(
        subject,
        `${key === undefined ? 'no key is set' : 'the key is another one'}, so these can't be read: ${list(lost)}`,
        'Set SERVICE_ENCRYPTION_KEY to the key that they were stored with.',
      ),
    );
  if (alike && alike.length > 0)
    findings.push(
      warning(
        subject,
        `texts that look sealed and that the key does not open stand in ${list(alike)}`,
        'Of a field that was encrypted before, they want the key of that time; else somebody wrote them so.',
      ),
    );
  if (tooLarge.length > 0)
    findings.push(
      warning(subject, `too large to look through: ${tooLarge.join(', ')}`, 'Try again at a quieter hour.'),
    );
  return findings.length > 0
    ? findings
    : [fine(subject, sealed === 0 ? 'there are none' : `the key opens all ${sealed}`)];
}

const list = (places: readonly (readonly [string, number])[]): string =>
  places.map(([place, number]) => `${place} (${number})`).join(', ');

/** Tells the columns into which the services put sealed values themselves; in others it is users who wrote them. */
async function sealingPlaces(client: pg.Client): Promise<(place: string) => boolean> {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  const { collections } = await loadCollections(query);
  const places = new Set(
    collections.flatMap((collection) => {
      const fields = encryptedFieldsOf(collection).map(({ name }) => `records.${collection.name}.${name}`);
      const history = fields.length > 0 ? [`history.${collection.id}.snapshot`] : [];
      return [...fields, ...history, ...(collection.type === 'auth' ? [`records.${collection.name}.totp_secret`] : [])];
    }),
  );
  return (place) => places.has(place.replaceAll('"', ''));
}

/** Undefined for a table that can't be looked through in the time that a statement may take. */
async function countIn(client: pg.Client, table: SealableTable, key: string | undefined): Promise<Count | undefined> {
  const keys = { current: createEnvelope(key), former: createEnvelope(undefined) };
  const { name, columns } = table;
  const texts = columns.map((column) => `${column.name}::text`);
  const unreadable = new Map<string, number>();
  let sealed = 0;
  await client.query('begin');
  try {
    await client.query(
      `declare sealed no scroll cursor for select array[${texts.join(', ')}] as values from ${name}
       where ${texts.map((text) => `${text} like '%enc:1:%'`).join(' or ')}`,
    );
    for (;;) {
      const { rows } = await client.query<{ values: (string | null)[] }>(`fetch ${batchSize} from sealed`);
      if (rows.length === 0) return { sealed, unreadable };
      for (const { values } of rows)
        for (const [index, column] of columns.entries()) {
          const value = values[index] ?? '';
          const lost = resealText(value, keys).unreadable;
          const place = `${name}.${column.name}`;
          if (lost > 0) unreadable.set(place, (unreadable.get(place) ?? 0) + lost);
          if (isSealed(value)) sealed += 1;
        }
    }
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === tookTooLong) return undefined;
    throw error;
  } finally {
    await client.query('rollback');
  }
}
