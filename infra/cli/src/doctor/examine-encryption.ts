import { createEnvelope, isSealed } from '@recordbus/crypto';
import { isSecretKey } from '@recordbus/settings';
import type pg from 'pg';
import { broken, type Finding, fine, warning } from './finding.ts';

/** Can the key read every secret setting, and is any stored in plain text? */
export async function examineEncryption(client: pg.Client, key: string | undefined): Promise<Finding[]> {
  const { rows } = await client.query<{ key: string; value: string }>(
    'select key, value from system.settings order by key',
  );
  const secrets = rows.filter((row) => isSecretKey(row.key));
  const envelope = createEnvelope(key);
  const unreadable = secrets.filter(({ value }) => envelope.open(value) === undefined).map((row) => row.key);
  const plain = secrets.filter(({ value }) => !isSealed(value)).map((row) => row.key);
  if (unreadable.length > 0)
    return [
      broken(
        'encryption key',
        `${key === undefined ? 'it is not set' : 'it is another one'}, so these settings can't be read: ${unreadable.join(', ')}`,
        'Set SERVICE_ENCRYPTION_KEY to the key that they were stored with.',
      ),
    ];
  if (plain.length > 0)
    return [
      warning(
        'encryption key',
        `stored in plain text: ${plain.join(', ')}`,
        key === undefined
          ? 'recordbus encryption rotate seals them under a key.'
          : 'Set them again, or run recordbus encryption rotate: they were stored before there was a key.',
      ),
    ];
  return [
    fine(
      'encryption key',
      secrets.length === 0
        ? `${key === undefined ? 'not set' : 'set'}; no secret setting is stored`
        : `reads all ${secrets.length} secret settings`,
    ),
  ];
}
