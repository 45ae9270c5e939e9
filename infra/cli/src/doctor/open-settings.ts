import { createValueCipher } from '@recordbus/crypto';
import { startPart } from '@recordbus/process/lifecycle';
import { createSettings, type Settings } from '@recordbus/settings';
import type pg from 'pg';
import type { CommandParts } from '../run-command.ts';

/** Opens the settings that the services use, over the doctor's own connection and without the bus. */
export const openSettings = (client: pg.Client, { lifecycle, log, key }: CommandParts): Promise<Settings> =>
  startPart(
    lifecycle,
    'settings',
    createSettings({
      database: { read: async ({ text, values }) => (await client.query(text, [...values])).rows },
      bus: { onNotice: () => () => {} },
      log,
      cipher: createValueCipher(key.text),
    }),
  );
