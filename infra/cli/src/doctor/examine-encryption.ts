import { statSync } from 'node:fs';
import { createValueCipher, type EncryptionKey, isCiphertext } from '@recordbus/crypto';
import { compareKey } from '@recordbus/encryption';
import { isSecretKey } from '@recordbus/settings';
import type pg from 'pg';
import { broken, type Finding, fine, warning } from './finding.ts';

/** Examines where the key is, whether it decrypts every secret setting, and which are stored in plain text. */
export async function examineEncryption(client: pg.Client, key: EncryptionKey, keyFile: string): Promise<Finding[]> {
  return [...(await examineSettings(client, key, keyFile)), ...examineKeyFile(key, keyFile)];
}

async function examineSettings(client: pg.Client, key: EncryptionKey, keyFile: string): Promise<Finding[]> {
  const { rows } = await client.query<{ key: string; value: string }>(
    'select key, value from system.settings order by key',
  );
  const secrets = rows.filter((row) => isSecretKey(row.key));
  const cipher = createValueCipher(key.text);
  const unreadable = secrets.filter(({ value }) => cipher.decrypt(value) === undefined).map((row) => row.key);
  const plain = secrets.filter(({ value }) => !isCiphertext(value)).map((row) => row.key);
  const isOtherKey = (await compareKey(client, key.text)) === 'another';
  if (unreadable.length > 0 || isOtherKey)
    return [
      broken(
        'encryption key',
        `${key.text === undefined ? 'it is not set' : 'it does not match'}, so these settings cannot be read: ${unreadable.join(', ') || 'none is stored'}`,
        `Set SERVICE_ENCRYPTION_KEY to the key they were encrypted with, or put it back into ${keyFile}.`,
      ),
    ];
  if (plain.length > 0)
    return [
      warning(
        'encryption key',
        `stored in plain text: ${plain.join(', ')}`,
        key.text === undefined
          ? 'recordbus encryption rotate encrypts them with a key.'
          : 'recordbus encryption seal encrypts them: they were stored before there was a key.',
      ),
    ];
  return [
    fine(
      'encryption key',
      secrets.length === 0
        ? `${placeOf(key, keyFile)}; no secret setting is stored`
        : `${placeOf(key, keyFile)}; reads all ${secrets.length} secret settings`,
    ),
  ];
}

const placeOf = ({ place }: EncryptionKey, keyFile: string): string =>
  ({ variable: 'from SERVICE_ENCRYPTION_KEY', file: `from ${keyFile}`, none: 'not set' })[place];

/** Examines the key file: it is ignored when the variable is set, and must not be readable by others. */
function examineKeyFile({ place, isFileIgnored }: EncryptionKey, keyFile: string): Finding[] {
  if (isFileIgnored)
    return [
      warning(
        'encryption key',
        `SERVICE_ENCRYPTION_KEY is used, and ${keyFile} holds another key`,
        'Keep the file only if values are still encrypted with its key.',
      ),
    ];
  const mode = place === 'file' ? statSync(keyFile).mode & 0o777 : 0;
  return (mode & 0o077) === 0
    ? []
    : [
        warning(
          'encryption key',
          `${keyFile} has mode ${mode.toString(8)}: others can read it`,
          `chmod 600 ${keyFile}, then recordbus encryption rotate.`,
        ),
      ];
}
