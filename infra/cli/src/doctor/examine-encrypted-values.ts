import { createValueCipher, isCiphertext } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { type EncryptableTable, listEncryptableTables, reencryptText } from '@recordbus/encryption';
import { encryptedFieldsOf, loadCollections } from '@recordbus/schema';
import pg from 'pg';
import { broken, type Finding, fine, warning } from './finding.ts';

const subject = 'encrypted values';
const batchSize = 500;
/** SQLSTATE for a statement that exceeded its timeout. */
const queryCanceled = '57014';

/** How many values in a column are encrypted, and how many the key does not decrypt. */
interface Count {
  readonly encrypted: number;
  readonly unreadable: ReadonlyMap<string, number>;
}

/** Examines whether the key decrypts all encrypted values. Settings are left out: `examineEncryption` names them. */
export async function examineEncryptedValues(client: pg.Client, key: string | undefined): Promise<Finding[]> {
  const ours = await encryptedColumns(client);
  const tooLarge: string[] = [];
  const unreadable = new Map<string, number>();
  let encrypted = 0;
  for (const table of await listEncryptableTables(client)) {
    if (table.name === 'system.settings') continue;
    const count = await countIn(client, table, key);
    if (!count) tooLarge.push(table.name);
    encrypted += count?.encrypted ?? 0;
    for (const [place, number] of count?.unreadable ?? []) unreadable.set(place, number);
  }
  const [lost, alike] = [true, false].map((isOurs) => [...unreadable].filter(([place]) => ours(place) === isOurs));
  const findings: Finding[] = [];
  if (lost && lost.length > 0)
    findings.push(
      broken(
        subject,
        `${key === undefined ? 'no key is set' : 'the key does not match'}, so these cannot be read: ${list(lost)}`,
        'Set SERVICE_ENCRYPTION_KEY to the key they were encrypted with.',
      ),
    );
  if (alike && alike.length > 0)
    findings.push(
      warning(
        subject,
        `texts that look encrypted, but not with this key: ${list(alike)}`,
        'If the field used to be encrypted, they need the key from then; otherwise users wrote them.',
      ),
    );
  if (tooLarge.length > 0)
    findings.push(warning(subject, `too large to check: ${tooLarge.join(', ')}`, 'Try again at a quieter hour.'));
  return findings.length > 0
    ? findings
    : [fine(subject, encrypted === 0 ? 'there are none' : `the key decrypts all ${encrypted}`)];
}

const list = (places: readonly (readonly [string, number])[]): string =>
  places.map(([place, number]) => `${place} (${number})`).join(', ');

/** Returns whether the services encrypt a column. In other columns, users wrote texts that look encrypted. */
async function encryptedColumns(client: pg.Client): Promise<(place: string) => boolean> {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  const { collections } = await loadCollections(query);
  const places = new Set(
    collections.flatMap((collection) => {
      const fields = encryptedFieldsOf(collection).map(({ name }) => `records.${collection.name}.${name}`);
      const history = fields.length > 0 ? [`history.${collection.id}.snapshot`] : [];
      return [...fields, ...history, ...(collection.type === 'auth' ? [`records.${collection.name}.totp_secret`] : [])];
    }),
  );
  places.add('system.admins.totp_secret');
  return (place) => places.has(place.replaceAll('"', ''));
}

/** Counts a table's encrypted values; undefined when it takes longer than the statement timeout. */
async function countIn(
  client: pg.Client,
  table: EncryptableTable,
  key: string | undefined,
): Promise<Count | undefined> {
  const keys = { current: createValueCipher(key), former: createValueCipher(undefined) };
  const { name, columns } = table;
  const texts = columns.map((column) => `${column.name}::text`);
  const unreadable = new Map<string, number>();
  let encrypted = 0;
  await client.query('begin');
  try {
    await client.query(
      `declare matching no scroll cursor for select array[${texts.join(', ')}] as values from ${name}
       where ${texts.map((text) => `${text} like '%enc:1:%'`).join(' or ')}`,
    );
    for (;;) {
      const { rows } = await client.query<{ values: (string | null)[] }>(`fetch ${batchSize} from matching`);
      if (rows.length === 0) return { encrypted, unreadable };
      for (const { values } of rows)
        for (const [index, column] of columns.entries()) {
          const value = values[index] ?? '';
          const lost = reencryptText(value, keys).unreadable;
          const place = `${name}.${column.name}`;
          if (lost > 0) unreadable.set(place, (unreadable.get(place) ?? 0) + lost);
          if (isCiphertext(value)) encrypted += 1;
        }
    }
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === queryCanceled) return undefined;
    throw error;
  } finally {
    await client.query('rollback');
  }
}
